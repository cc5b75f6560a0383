"""What goes up to Lambda: small, the same each time, and nothing that a function does not need."""

import zipfile
from pathlib import Path

import pytest

pytest.importorskip("aws_cdk", reason="the CDK is not installed: make cdk brings it")

from infra.bundling import API, AUTHORIZER, BUNDLES, INGESTION, WEBSOCKET, WORKER, Bundle

MB = 1024 * 1024
LAMBDA_MB = 250
"""What Lambda unpacks at most."""
BYTECODE = 1.15
"""By how much bytecode would make a bundle larger, where there is a Python of Lambda's version to make it."""
SMALL_MB = 15

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[Bundle, Path]:
    cache = tmp_path_factory.mktemp("bundles")
    return {bundle: bundle.archive("lambda", cache=cache) for bundle in BUNDLES}


def _unpacked_mb(archive: Path) -> float:
    with zipfile.ZipFile(archive) as packed:
        return sum(entry.file_size for entry in packed.infolist()) / MB


def _packages(archive: Path) -> set[str]:
    with zipfile.ZipFile(archive) as packed:
        return {name.partition("/")[0] for name in packed.namelist()}


def test_every_bundle_fits_into_lambda_with_bytecode(archives: dict[Bundle, Path]) -> None:
    sizes = {bundle.group: round(_unpacked_mb(archive) * BYTECODE) for bundle, archive in archives.items()}
    assert max(sizes.values()) < LAMBDA_MB - 5, sizes


@pytest.mark.parametrize("bundle", [WEBSOCKET, AUTHORIZER], ids=lambda bundle: bundle.group)
def test_what_answers_at_the_door_is_small(bundle: Bundle, archives: dict[Bundle, Path]) -> None:
    assert archives[bundle].stat().st_size < SMALL_MB * MB
    assert not {"langgraph", "numpy", "onnxruntime", "groq", "opensearchpy"} & _packages(archives[bundle])


def test_only_the_worker_has_the_graphs_library_and_the_models(archives: dict[Bundle, Path]) -> None:
    for bundle in (API, INGESTION):
        assert not {"langgraph", "langchain_core", "groq"} & _packages(archives[bundle])
    assert {"langgraph", "groq"} <= _packages(archives[WORKER])


def test_nothing_of_a_laptop_goes_up(archives: dict[Bundle, Path]) -> None:
    for archive in archives.values():
        with zipfile.ZipFile(archive) as packed:
            assert not [name for name in packed.namelist() if name.startswith(("functions/local", "tests/", "infra/"))]


def test_the_same_sources_make_the_same_bytes(archives: dict[Bundle, Path], tmp_path: Path) -> None:
    again = AUTHORIZER.archive("lambda", cache=tmp_path)
    assert again.name == archives[AUTHORIZER].name
    assert again.read_bytes() == archives[AUTHORIZER].read_bytes()
