"""The committed description of the API is the one that the code gives."""

import json
from pathlib import Path

from functions.api.app import create_app
from functions.api.openapi import schema

COMMITTED = Path(__file__).parents[2] / "openapi.json"


def test_openapi_json_is_what_the_code_gives() -> None:
    """After a wanted change: ``python -m functions.api.openapi > openapi.json``, and a line in the changelog."""
    assert json.loads(COMMITTED.read_text()) == json.loads(json.dumps(schema(create_app(None))))


def test_every_route_documents_its_errors() -> None:
    described = json.loads(COMMITTED.read_text())
    assert described["openapi"].startswith("3.1")
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            failures = [status for status in operation["responses"] if status.startswith(("4", "5"))]
            assert failures or path == "/health", f"{method} {path} names no error"
