"""A real OpenSearch on a free port of loopback, one for all processes of a test run.

Each process that uses the server holds a shared lock; a keeper, started by the first, ends it when the last is gone,
however that one ended.
"""

import fcntl
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.standins.aws import free_port
from tests.standins.opensearch_program import Java, Missing, Version, find_java, program

Alive = Callable[[], bool]

_READY_S = 180.0
_STOP_S = 30.0


@contextmanager
def server(folder: Path, version: Version) -> Iterator[str]:
    """The URL of the server of all who name this folder; it runs at least as long as the context.

    Raises:
        Missing: this machine can run none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    keeper: subprocess.Popen[bytes] | None = None
    with (folder / "users").open("w") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        with (folder / "starting").open("w") as starting:
            fcntl.flock(starting, fcntl.LOCK_EX)
            if not (folder / "url").exists():
                keeper = _start_keeper(folder, version)
        yield (folder / "url").read_text()
    if keeper is not None:
        keeper.wait()


def keep(folder: Path, version: Version) -> None:
    """Run the server until nobody uses it."""
    log = folder / "opensearch.log"
    with _container(version) if _docker("info") else _process(log, version) as (url, alive):
        _wait(url, alive, log)
        _publish(folder / "url", url)
        with (folder / "users").open("w") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            (folder / "url").unlink()


def _start_keeper(folder: Path, version: Version) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", __name__, str(folder), version]
    with (folder / "keeper.log").open("wb") as out:
        keeper = subprocess.Popen(  # noqa: S603  # this module
            command, cwd=Path(__file__).parents[2], stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
    while not (folder / "url").exists():
        if keeper.poll() is not None:
            raise Missing((folder / "keeper.log").read_text(errors="replace").strip()[-3000:])
        time.sleep(0.05)
    return keeper


def _docker(*arguments: str) -> str | None:
    """What docker answers; None where there is none, or no daemon."""
    program = shutil.which("docker")
    if program is None:
        return None
    ended = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)  # noqa: S603  # ours
    return ended.stdout.strip() if ended.returncode == 0 else None


@contextmanager
def _container(version: Version) -> Iterator[tuple[str, Alive]]:
    run = ["run", "--rm", "--detach", "--publish", "127.0.0.1::9200"]
    for setting in ("discovery.type=single-node", "DISABLE_SECURITY_PLUGIN=true", "OPENSEARCH_JAVA_OPTS=-Xms1g -Xmx1g"):
        run += ["--env", setting]
    container = _docker(*run, f"opensearchproject/opensearch:{version}")
    if container is None:
        raise Missing(f"docker cannot run OpenSearch {version}")
    try:
        address = _docker("port", container, "9200/tcp") or ""
        yield f"http://{address.partition(chr(10))[0]}", lambda: _docker("top", container) is not None
    finally:
        _docker("stop", container)


@contextmanager
def _process(log: Path, version: Version) -> Iterator[tuple[str, Alive]]:
    state, port = Path(tempfile.mkdtemp(prefix="footnote-opensearch-")), free_port()
    command = _command(program(version), find_java(version), state)
    _configure(state, port)
    owner = _unprivileged(state)
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": str(state)}
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603  # a JDK that was found
            command, cwd=state, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, user=owner, group=owner
        )
    try:
        yield f"http://127.0.0.1:{port}", lambda: process.poll() is None
    finally:
        _stop(process)
        shutil.rmtree(state)


def _configure(state: Path, port: int) -> None:
    for name in ("config", "data", "logs", "tmp"):
        (state / name).mkdir()
    settings = {
        "path.data": state / "data",
        "path.logs": state / "logs",
        "network.host": "127.0.0.1",
        "http.port": port,
        "discovery.type": "single-node",
        "bootstrap.system_call_filter": "false",
        "cluster.routing.allocation.disk.threshold_enabled": "false",
    }
    lines = [f"{name}: {json.dumps(str(value))}\n" for name, value in settings.items()]
    (state / "config" / "opensearch.yml").write_text("".join(lines))
    (state / "config" / "log4j2.properties").write_text(
        "status = error\nappender.out.type = Console\nappender.out.name = out\n"
        "appender.out.layout.type = PatternLayout\nappender.out.layout.pattern = [%d{ISO8601}][%p][%c{1.}]%marker %m%n\n"
        "rootLogger.level = info\nrootLogger.appenderRef.out.ref = out\n"
        "logger.deprecation.name = org.opensearch.deprecation\nlogger.deprecation.level = error\n"
    )


def _command(home: Path, java: Java, state: Path) -> list[str]:
    options = [
        "-Xms1g", "-Xmx1g", "-XX:MaxDirectMemorySize=512m", "-XX:+UseG1GC", "-Xss1m", "-XX:+ExitOnOutOfMemoryError",
        "-XX:TieredStopAtLevel=1",  # half the processor time of a start
        "-Dfile.encoding=UTF-8", "-Djava.awt.headless=true", "-Djna.nosys=true", "-Dio.netty.noUnsafe=true",
        "-Dio.netty.noKeySetOptimization=true", "-Dio.netty.recycler.maxCapacityPerThread=0",
        "-Dlog4j.shutdownHookEnabled=false", "-Dlog4j2.disable.jmx=true",
        f"-Djava.io.tmpdir={state / 'tmp'}", f"-Djna.tmpdir={state / 'tmp'}", f"-XX:ErrorFile={state}/logs/hs_err_%p.log",
        f"-Dopensearch.path.home={home}", f"-Dopensearch.path.conf={state}/config",
        "-Dopensearch.distribution.type=tar", "-Dopensearch.bundled_jdk=false",
    ]  # fmt: skip
    if 18 <= java.major < 24:
        options.append("-Djava.security.manager=allow")
    if java.major >= 20:
        options.append("--add-modules=jdk.incubator.vector")
    if java.major >= 24:
        options += ["--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"]
    return [str(java.home / "bin" / "java"), *options, "-cp", f"{home}/lib/*", "org.opensearch.bootstrap.OpenSearch"]


def _unprivileged(state: Path) -> int | None:
    """OpenSearch refuses to run as root: hand its folders to nobody, and run as that."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody").pw_uid
    for path in [state, *state.rglob("*")]:
        os.chown(path, nobody, nobody)
    return nobody


def _wait(url: str, alive: Alive, log: Path) -> None:
    open_url = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
    deadline = time.monotonic() + _READY_S
    while True:
        try:
            with open_url(f"{url}/_cluster/health?wait_for_status=yellow&timeout=2s", timeout=5):
                return
        except OSError as error:
            if not alive() or time.monotonic() > deadline:
                said = log.read_text(errors="replace")[-3000:] if log.exists() else ""
                raise Missing(f"OpenSearch does not answer ({error})\n{said}") from None
            time.sleep(0.2)


def _publish(path: Path, text: str) -> None:
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text)
    unfinished.rename(path)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever interrupts the tests has its processes let go of the lock
    try:
        keep(Path(sys.argv[1]), sys.argv[2])  # type: ignore[arg-type]  # a version
    except Missing as missing:
        sys.exit(str(missing))
