"""OpenSearch's server put together from its Maven artifacts: there is no other way to it without Docker.

The k-NN plugin comes without native libraries then: an index must say ``"engine": "lucene"``, ``faiss`` ends the node.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast
from xml.sax.saxutils import escape

Version = Literal["3.6.0", "2.19.6"]

_LAYOUT = "1"
"""Goes up when what is put together here changes."""
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_CORE, _PLUGIN = "org.opensearch", "org.opensearch.plugin"
_MODULES = {  # artifact: its name among the modules, which other plugins refer to
    "analysis-common": "analysis-common",
    "ingest-common": "ingest-common",
    "lang-mustache-client": "lang-mustache",
    "lang-painless": "lang-painless",
    "mapper-extras-client": "mapper-extras",
    "reindex-client": "reindex",
    "search-pipeline-common": "search-pipeline-common",
    "transport-netty4-client": "transport-netty4",
}
_KNN = "opensearch-knn"
_PAINLESS_EXTENSION = "META-INF/services/org.opensearch.painless.spi.PainlessExtension"


class Missing(Exception):
    """This machine lacks what it takes; the message says what."""


@dataclass(frozen=True, kw_only=True)
class _Release:
    oldest_java: int
    newest_java: int | None
    log4j: str
    more_libraries: tuple[str, ...]
    more_modules: Mapping[str, str]


_RELEASES: dict[Version, _Release] = {
    "3.6.0": _Release(
        oldest_java=21,
        newest_java=None,
        log4j="2.25.3",
        more_libraries=("opensearch-agent-bootstrap",),
        more_modules={"transport-grpc": "transport-grpc"},
    ),
    "2.19.6": _Release(oldest_java=11, newest_java=23, log4j="2.25.4", more_libraries=(), more_modules={}),
}


@dataclass(frozen=True, kw_only=True)
class Java:
    """A JDK."""

    home: Path
    major: int


def find_java(version: Version) -> Java:
    """A JDK that runs this version.

    Raises:
        Missing: there is none.
    """
    release = _RELEASES[version]
    for java in _javas():
        if release.oldest_java <= java.major <= (release.newest_java or java.major):
            return java
    newest = f" to {release.newest_java}" if release.newest_java else " or newer"
    raise Missing(f"OpenSearch {version} needs a JDK {release.oldest_java}{newest}, and none is here")


def program(version: Version) -> Path:
    """The folder of the server's program, put together at the first call (half a minute, 93 MB) and kept.

    Raises:
        Missing: Maven is not here, or cannot fetch the artifacts.
    """
    cache = _cache()
    home = cache / f"opensearch-{version}-{_LAYOUT}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"opensearch-{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                unfinished = Path(scratch) / "program"
                _assemble(Path(scratch), unfinished, version)
                unfinished.rename(home)
    return home


def _cache() -> Path:
    """Root's home is closed to the user that the server runs as."""
    return Path("/var/cache/footnote") if os.geteuid() == 0 else Path("~/.cache/footnote").expanduser()


def _javas() -> Iterator[Java]:
    found = shutil.which("java")
    named = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    on_path = [Path(found).resolve().parents[1]] if found else []
    for home in [*named, *on_path, *sorted(Path("/usr/lib/jvm").glob("*")), *sorted(Path("/opt").glob("*"))]:
        release = home / "release"
        if release.is_file() and (home / "bin" / "java").exists():
            major = re.search(r'JAVA_VERSION="(\d+)', release.read_text())
            if major:
                yield Java(home=home.resolve(), major=int(major[1]))


def _assemble(scratch: Path, home: Path, version: Version) -> None:
    parts = _parts(version)
    _fetch(scratch, parts, find_java(version))
    jars = {part: sorted((scratch / part / "target" / "dependency").iterdir()) for part in parts}
    _copy(jars["lib"], home / "lib")
    in_lib = {jar.name for jar in jars["lib"]}
    for artifact, name in {**_MODULES, **_RELEASES[version].more_modules}.items():
        folder = home / "modules" / name
        _copy([jar for jar in jars[artifact] if jar.name not in in_lib], folder)  # a class in both is refused as "jar hell"
        _describe(folder, name, folder / f"{artifact}-{version}.jar", version)
    (archive,) = [path for path in jars[_KNN] if path.suffix == ".zip"]
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(home / "plugins" / _KNN)
    for insisted_on in ("bin", "extensions"):
        (home / insisted_on).mkdir()


def _parts(version: Version) -> dict[str, list[str]]:
    """What to fetch, as Maven coordinates: the server's own libraries, and each module and plugin with what it needs."""
    release = _RELEASES[version]
    core = ("opensearch", "opensearch-plugin-classloader", *release.more_libraries)
    libraries = [f"{_CORE}:{name}:{version}:jar" for name in core]
    libraries += [
        f"org.apache.logging.log4j:log4j-core:{release.log4j}:jar",
        "org.locationtech.spatial4j:spatial4j:0.7:jar",
        "org.locationtech.jts:jts-core:1.15.0:jar",
    ]
    modules = {name: [f"{_PLUGIN}:{name}:{version}:jar"] for name in [*_MODULES, *release.more_modules]}
    return {"lib": libraries, **modules, _KNN: [f"{_PLUGIN}:{_KNN}:{version}.0:zip"]}


def _fetch(scratch: Path, parts: Mapping[str, list[str]], java: Java) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise Missing("Maven (mvn) is not here")
    for part, artifacts in parts.items():
        (scratch / part).mkdir()
        (scratch / part / "pom.xml").write_text(_pom(part, artifacts=artifacts))
    (scratch / "pom.xml").write_text(_pom("all", modules=list(parts)))
    command = [maven, "-B", "-q", "-f", str(scratch / "pom.xml"), _COPY, "-DincludeScope=runtime"]
    for attempt in (1, 2, 3):
        again = ["-U"] if attempt > 1 else []  # do not believe a remembered failure
        ended = subprocess.run(  # noqa: S603  # mvn, over files of ours
            command + again, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            env={"JAVA_HOME": str(java.home), **os.environ},
        )  # fmt: skip
        if ended.returncode == 0:
            return
    raise Missing(f"Maven cannot fetch OpenSearch:\n{ended.stdout[-2000:]}")


def _pom(name: str, *, artifacts: list[str] | None = None, modules: list[str] | None = None) -> str:
    ids = "<groupId>footnote.tests</groupId><artifactId>{}</artifactId><version>1</version>"
    quic = "<exclusion><groupId>io.netty</groupId><artifactId>netty-codec-native-quic</artifactId></exclusion>"  # HTTP/3, 18 MB
    dependencies = ""
    for artifact in artifacts or []:
        fields = zip(("groupId", "artifactId", "version", "type"), artifact.split(":"), strict=True)
        dependencies += "<dependency>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in fields)
        dependencies += f"<exclusions>{quic}</exclusions></dependency>"
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        + (f"<parent>{ids.format('all')}</parent>" if artifacts else "")
        + f"{ids.format(name)}<packaging>pom</packaging><dependencies>{dependencies}</dependencies><modules>"
        + "".join(f"<module>{module}</module>" for module in modules or [])
        + "</modules></project>"
    )


def _copy(jars: list[Path], folder: Path) -> None:
    folder.mkdir(parents=True)
    for jar in jars:
        shutil.move(jar, folder / jar.name)


def _describe(folder: Path, name: str, jar: Path, version: Version) -> None:
    """The descriptor that the official build writes, read off the module's jar."""
    with zipfile.ZipFile(jar) as packed:
        names = packed.namelist()
    (plugin,) = [entry for entry in names if entry.endswith("Plugin.class") and "$" not in entry]
    fields = {
        "name": name,
        "description": name,
        "version": version,
        "opensearch.version": version,
        "java.version": str(_RELEASES[version].oldest_java),
        "classname": plugin.removesuffix(".class").replace("/", "."),
        "custom.foldername": "",
        "extended.plugins": "lang-painless" if _PAINLESS_EXTENSION in names else "",
        "has.native.controller": "false",
    }
    (folder / "plugin-descriptor.properties").write_text("".join(f"{key}={value}\n" for key, value in fields.items()))
    if version.startswith("2."):  # under Java's security manager
        (folder / "plugin-security.policy").write_text("grant { permission java.security.AllPermission; };\n")


if __name__ == "__main__":  # so that no test has to wait for it
    for wanted in sys.argv[1:] or _RELEASES:
        program(cast("Version", wanted))
