"""`footnote doctor`: what is well, what is not, and what to do."""

import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from functions.local.clocks import compare
from graph.adapters import boto
from graph.adapters.opensearch import Schema, connect, ensure_index
from tests.functions.test_commands import footnote
from tests.server import RunningServer, start_server
from tests.standins.aws import make_table
from tests.standins.groq import StandIn
from tests.standins.issuer import Issuer, issuing, token


def examined(*args: str, **settings: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit code, and for each part its state and what was said."""
    done = footnote("doctor", *args, **settings)
    assert done.stderr == ""
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert all(line[0] in ("ok", "note", "fails") for line in lines), done.stdout
    return done.returncode, {name: (state, said) for state, name, said in lines}


@pytest.fixture
def groq() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


def test_a_laptop_without_anything_is_well(tmp_path: Path) -> None:
    code, parts = examined("--home", str(tmp_path))

    assert code == 0
    assert [parts[name][0] for name in ("settings", "home", "embedder", "table", "bucket", "index")] == ["ok"] * 6
    assert parts["models"][0] == "note"
    assert "GROQ_API_KEY" in parts["models"][1]


def test_a_home_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    code, parts = examined("--home", str(tmp_path / "new"))

    assert (code, parts["home"][0], "table" in parts) == (0, "note", False)
    assert not (tmp_path / "new").exists()


def test_a_wrong_key_is_said(groq: StandIn, tmp_path: Path) -> None:
    groq.fail("401")

    code, parts = examined("--home", str(tmp_path), GROQ_API_KEY="gsk_wrong", GROQ_BASE_URL=groq.url)

    assert (code, parts["models"][0]) == (1, "fails")
    assert re.search(r"refuses the key → .*GROQ_API_KEY", parts["models"][1])
    assert "gsk_wrong" not in str(parts)


def test_a_right_key_and_models_that_are_there(groq: StandIn, tmp_path: Path) -> None:
    code, parts = examined("--home", str(tmp_path), GROQ_API_KEY="gsk_right", GROQ_BASE_URL=groq.url)

    assert (code, parts["models"][0], parts["clock"][0]) == (0, "ok", "ok")
    assert set(groq.keys) == {"gsk_right"}


@pytest.mark.parametrize(("model", "state", "code"), [("openai/gpt-oss-120b", "fails", 1), ("llama-3.1-8b-instant", "note", 0)])
def test_a_model_that_groq_has_not_is_named(groq: StandIn, tmp_path: Path, model: str, state: str, code: int) -> None:
    groq.fail("404", model=model)

    found, parts = examined("--home", str(tmp_path), GROQ_API_KEY="k", GROQ_BASE_URL=groq.url)

    assert (found, parts["models"][0]) == (code, state)
    assert model in parts["models"][1]


def test_an_index_of_another_size_is_named_with_both(opensearch_url: str, tmp_path: Path) -> None:
    name, client = f"footnote-{uuid.uuid4().hex}", connect(opensearch_url)
    ensure_index(client, name, Schema(model="older", dimensions=8))
    settings = {"FOOTNOTE_OPENSEARCH_URL": opensearch_url, "FOOTNOTE_OPENSEARCH_INDEX": name}

    code, parts = examined("--home", str(tmp_path), **settings)

    assert (code, parts["index"][0]) == (1, "fails")
    assert "dimensions 8 there, 384 wanted" in parts["index"][1]
    client.indices.delete(index=f"{name}-v*")
    client.close()


def test_tables_and_buckets_that_are_not_there_are_named(aws: dict[str, Any], tmp_path: Path) -> None:
    cloud = {
        "AWS_ENDPOINT_URL": aws["endpoint_url"],
        "AWS_DEFAULT_REGION": aws["region_name"],
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "FOOTNOTE_TABLE": "turns",
        "FOOTNOTE_BUCKET": "files",
        "FOOTNOTE_CHECKPOINTS_TABLE": "memory",
    }
    code, parts = examined("--home", str(tmp_path), **cloud)
    assert code == 1
    assert all(parts[name][0] == "fails" for name in ("table", "checkpoints"))
    assert "turns" in parts["table"][1]

    dynamodb, s3 = boto.build("dynamodb", **aws), boto.build("s3", **aws)
    make_table(dynamodb, "turns")
    make_table(dynamodb, "memory")
    s3.create_bucket(Bucket="files")
    code, parts = examined("--home", str(tmp_path), **cloud)
    assert (code, parts["table"][0], parts["bucket"][0]) == (1, "ok", "ok")
    assert "has the keys pk, sk, not PK, SK" in parts["checkpoints"][1]
    dynamodb.close()
    s3.close()


def test_a_setting_that_is_wrong_is_named() -> None:
    done = footnote("doctor", FOOTNOTE_TURN_SECOND="1")

    assert done.returncode == 1
    assert "FOOTNOTE_TURN_SECONDS" in done.stderr


def test_all_settings_are_listed_with_type_default_and_meaning() -> None:
    done = footnote("doctor", "--settings")

    assert "FOOTNOTE_RATE_PER_MINUTE (int, 30)\n    Turns that one user may start in a minute." in done.stdout
    assert "GROQ_API_KEY (text)\n" in done.stdout


@pytest.mark.parametrize(("off", "state"), [(0, "ok"), (-3600, "fails"), (3600, "fails")])
def test_a_clock_that_is_wrong_is_said(off: int, state: str) -> None:
    assert compare(format_datetime(datetime.now(UTC) + timedelta(seconds=off))).state == state
    assert compare(None).state == "note"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as running:
        yield running


@pytest.fixture(scope="module")
def guarded(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = start_server(tmp_path_factory.mktemp("doctor"), env=issuer.environment)
    yield running
    assert running.stop() == 0


def test_a_server_is_examined_by_its_address(guarded: RunningServer) -> None:
    code, parts = examined("--url", guarded.url, FOOTNOTE_TOKEN=token())

    assert code == 0, parts
    assert [parts[name][0] for name in ("health", "clock", "identity", "index", "websocket")] == ["ok"] * 5
    assert "there are none" in parts["documents"][1]
    assert "unanswerable" in parts["turn"][1]


def test_a_server_that_does_not_let_us_in_is_told_from_one_that_is_gone(guarded: RunningServer) -> None:
    code, parts = examined("--url", guarded.url)
    assert (code, parts["health"][0], parts["identity"][0]) == (1, "ok", "fails")
    assert "FOOTNOTE_TOKEN" in parts["identity"][1]

    code, parts = examined("--url", "http://127.0.0.1:1")
    assert (code, list(parts)) == (1, ["health"])


def test_a_websocket_is_examined_by_its_own_address(guarded: RunningServer) -> None:
    assert examined("--url", guarded.socket_url, "--token", token()) == (0, {"websocket": ("ok", "answers")})
    assert examined("--url", guarded.socket_url)[0] == 1
