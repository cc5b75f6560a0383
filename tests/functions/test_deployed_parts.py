"""The parts that the settings of AWS name: the stores, the secret, and the handlers over them."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.local.invoke import Context
from functions.websocket import handler as websocket
from functions.worker import handler as worker
from graph.adapters import boto
from graph.adapters.dynamodb import DynamoDBTable
from graph.adapters.groq import GroqReasoner
from graph.adapters.opensearch import OpenSearchIndex
from graph.adapters.s3 import S3Bucket
from graph.adapters.secret import Secret
from graph.errors import InvalidSetting
from graph.event_loop import run
from graph.reasoner import Budget, PlanTask
from graph.settings import Settings
from graph.tools import SPECS
from graph.tracing import Trace
from graph.wiring import Wiring
from ingestion.handler import consume
from tests.functions.cloud import Cloud, Json, cloud, stored
from tests.standins import aws as aws_standin
from tests.standins.groq import StandIn
from tests.standins.reasoner import ScriptedReasoner

TEXT = b"# Refunds\n\nRefunds abroad take fourteen days. They need the original receipt.\n"
FUNCTIONS = ("api", "authorizer", "websocket", "worker")


@pytest.fixture
def deployed(aws: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cloud]:
    with cloud(aws, monkeypatch, tmp_path) as running:
        yield running


def test_settings_name_the_stores_of_aws(tmp_path: Path) -> None:
    settings = Settings.read({}, home=tmp_path, table="t", bucket="b", opensearch_url="https://localhost:9200")
    wiring = Wiring(settings)
    assert isinstance(wiring.table, DynamoDBTable)
    assert isinstance(wiring.bucket, S3Bucket)
    assert isinstance(wiring.index, OpenSearchIndex)
    assert list(tmp_path.iterdir()) == []


def test_checkpoints_in_a_table_need_a_bucket_for_the_large_ones() -> None:
    with pytest.raises(InvalidSetting, match=r"FOOTNOTE_CHECKPOINTS_TABLE.*FOOTNOTE_BUCKET"):
        Settings.read({}, checkpoints_table="checkpoints")


def test_a_door_without_a_worker_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "wiring", lambda: Wiring(Settings.read({}, home=tmp_path)))
    websocket._door.cache_clear()
    with pytest.raises(InvalidSetting, match="FOOTNOTE_WORKER"):
        websocket.handler(stored("websocket_ask"), None)


def test_importing_the_functions_reads_no_settings_and_loads_nothing_heavy() -> None:
    program = (
        "import sys, json\n"
        f"for name in {FUNCTIONS}: __import__(f'functions.{{name}}.handler')\n"
        "import graph.wiring\n"
        "heavy = {'langgraph', 'onnxruntime', 'opensearchpy', 'boto3', 'groq', 'opentelemetry.sdk'} & set(sys.modules)\n"
        "print(json.dumps([sorted(heavy), graph.wiring.wiring.cache_info().currsize]))\n"
    )
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", program], env={"FOOTNOTE_NO": "such setting"}, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [[], 0]


def test_connecting_and_going_need_no_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "wiring", None)
    for name in ("websocket_connect", "websocket_disconnect"):
        assert websocket.handler(stored(name), None) == {"statusCode": 200}


# --- The handlers, over and over ----------------------------------------------------------------------------------------


@pytest.fixture
def wirings(deployed: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Which of the handlers have asked for their parts."""
    asked: list[str] = []

    def wiring_of(name: str) -> Wiring:
        asked.append(name)
        return deployed.wiring

    for module, cached in ((websocket, websocket._door), (worker, worker._worker)):
        monkeypatch.setattr(module, "wiring", lambda name=module.__name__: wiring_of(name))
        cached.cache_clear()
    yield asked
    websocket._door.cache_clear()
    worker._worker.cache_clear()


def test_warm_invocations_use_the_same_parts(deployed: Cloud, wirings: list[str]) -> None:
    connection = stored("websocket_ask")["requestContext"]["connectionId"]
    for count in (1, 2):
        event = stored("websocket_ask")
        event["body"] = json.dumps(json.loads(event["body"]) | {"message_id": f"m-{count}"})
        assert websocket.handler(event, None) == {"statusCode": 200}
        worker.handler(deployed.gateway.tasks.pop(), Context(function_name="worker"))
        clients = boto._client.cache_info()
        assert deployed.gateway.types(connection).count("done") == count
    assert sorted(wirings) == [websocket.__name__, worker.__name__]
    assert clients.currsize == clients.misses == 2, "one of DynamoDB, one of Lambda"


def test_a_frame_that_is_none_is_answered_by_an_error(deployed: Cloud, wirings: list[str]) -> None:
    event = stored("websocket_default")
    assert websocket.handler(event, None) == {"statusCode": 200}
    (error,) = deployed.gateway.posted[event["requestContext"]["connectionId"]]
    assert (error["type"], error["code"], wirings) == ("error", "malformed_json", [websocket.__name__])


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"action": "dance"}, "unknown_action"),
        ({"action": "ask", "question": "?", "message_id": "m"}, "invalid_request"),
        ({"action": "cancel", "turn_id": "t_none"}, "not_found"),
        ({"action": "replay", "turn_id": "t_none"}, "not_found"),
    ],
)
def test_what_cannot_be_done_is_said(deployed: Cloud, wirings: list[str], frame: Json, code: str) -> None:
    event = stored("websocket_default", body=json.dumps(frame))
    websocket.handler(event, None)
    (error,) = deployed.gateway.posted[event["requestContext"]["connectionId"]]
    assert (error["type"], error["code"], len(wirings)) == ("error", code, 1)


def test_a_ping_is_answered(deployed: Cloud, wirings: list[str]) -> None:
    websocket.handler(stored("websocket_default", body='{"action": "ping"}'), None)
    assert list(deployed.gateway.posted.values()) == [[{"v": 1, "type": "pong"}]]
    assert wirings


def test_a_turn_of_somebody_else_is_not_there(deployed: Cloud, wirings: list[str]) -> None:
    websocket.handler(stored("websocket_ask"), None)
    (turn_id,) = (task["turn_id"] for task in deployed.gateway.tasks)
    event = stored("websocket_default", body=json.dumps({"action": "replay", "turn_id": turn_id}))
    event["requestContext"] |= {"connectionId": "other", "authorizer": {"tenant": "other", "user": "u-1", "groups": "[]"}}
    websocket.handler(event, None)
    assert [one["code"] for one in deployed.gateway.posted["other"]] == ["not_found"]
    assert wirings


def test_a_connection_that_nobody_authorized_gets_nothing(deployed: Cloud, wirings: list[str]) -> None:
    event = stored("websocket_ask")
    del event["requestContext"]["authorizer"]
    websocket.handler(event, None)
    (error,) = deployed.gateway.posted[event["requestContext"]["connectionId"]]
    assert (error["code"], deployed.gateway.tasks, len(wirings)) == ("unauthorized", [], 1)


def test_the_schedule_s_and_lambda_s_own_events_are_taken(deployed: Cloud, wirings: list[str]) -> None:
    for name in ("scheduled", "worker_failed", "worker_run"):
        worker.handler(stored(name), Context(function_name="worker"))
    assert (dict(deployed.gateway.posted), wirings) == ({}, [worker.__name__])


# --- A conversation, and a key ------------------------------------------------------------------------------------------


def test_a_conversation_is_remembered_between_workers(
    deployed: Cloud, aws: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    aws_standin.make_table(boto.client("dynamodb"), "checkpoints", keys=("PK", "SK"))
    boto.client("s3").create_bucket(Bucket="files")
    settings = Settings.read(
        {},
        home=tmp_path / "home",
        table="footnote",
        bucket="files",
        checkpoints_table="checkpoints",
        callback_url=deployed.gateway.url,
    )
    connection, asked = "Kd7AZeHGIAMCJVA=", ("How long do refunds abroad take?", "And what do they need?")
    for count, question in enumerate(asked, start=1):
        one = Wiring(settings)
        if count == 1:
            run(_upload(one))
        monkeypatch.setattr(worker, "wiring", lambda one=one: one)
        worker._worker.cache_clear()
        frame = {"action": "ask", "question": question, "message_id": f"m-{count}", "thread_id": "th"}
        run(deployed.door.take(stored("websocket_ask", body=json.dumps(frame)), Trace()))
        worker.handler(deployed.gateway.tasks.pop(), Context(function_name="worker"))
        run(one.close())
        turn = deployed.gateway.wait(connection, "done", count=count)["turn"]
        assert turn["outcome"] in {"answered", "partial"}, aws
    assert turn["standalone_question"] != asked[1]
    assert "receipt" in turn["answer"]
    worker._worker.cache_clear()


async def _upload(wiring: Wiring) -> None:
    put = await wiring.bucket.put("uploads/acme/refunds.md", TEXT)
    item = {"key": put.key, "size": put.bytes, "sequencer": "01", "versionId": put.version}
    record = {"eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "s3": {"object": item}}
    await consume({"Records": [record]}, wiring)


async def test_a_rotated_key_is_used_without_a_new_start(deployed: Cloud, tmp_path: Path) -> None:
    manager = boto.client("secretsmanager")
    manager.create_secret(Name="groq")
    with StandIn() as groq:
        settings = Settings.read({}, home=tmp_path, groq_secret="groq", groq_base_url=groq.url)
        reasoner = GroqReasoner(settings, ScriptedReasoner(extractive=True), key=Secret("groq", max_age_s=0))
        for key in ("first", "second"):
            manager.put_secret_value(SecretId="groq", SecretString=f"{key}\n")
            await reasoner.plan(PlanTask(question="Why?", tools=SPECS), _budget())
        assert groq.keys == ["first", "second"]
        await reasoner.close()
    assert settings.has_model
    assert deployed.gateway.tasks == []


async def test_without_a_value_in_the_secret_rules_answer_until_there_is_one(deployed: Cloud, tmp_path: Path) -> None:
    manager = boto.client("secretsmanager")
    manager.create_secret(Name="empty")
    with StandIn() as groq:
        settings = Settings.read({}, home=tmp_path, groq_secret="empty", groq_base_url=groq.url)
        reasoner, spent = GroqReasoner(settings, ScriptedReasoner(extractive=True), key=Secret("empty")), _budget()
        await reasoner.plan(PlanTask(question="Why?", tools=SPECS), spent)
        assert (groq.keys, spent.made, spent.fallbacks) == ([], [], ["rule:plan:no_key"])
        manager.put_secret_value(SecretId="empty", SecretString="first")
        await reasoner.plan(PlanTask(question="Why?", tools=SPECS), spent)
        assert groq.keys == ["first"]
        await reasoner.close()
    assert deployed.gateway.tasks == []


def _budget() -> Budget:
    return Budget(deadline=time.monotonic() + 20, calls=5, tokens=50_000)
