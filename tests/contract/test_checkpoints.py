"""What a conversation needs of its checkpointer in AWS."""

import operator
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Annotated, Any, TypedDict

import pytest
from botocore.exceptions import ClientError
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.graph import StateGraph
from langgraph.types import Command, interrupt

from graph.adapters import boto
from graph.adapters.dynamodb_checkpoints import DynamoDBCheckpoints
from tests.standins.aws import make_table

Make = Callable[..., DynamoDBCheckpoints]
THREAD: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
LARGE = "x" * 500_000


@pytest.fixture
def clients(aws: dict[str, Any]) -> Iterator[dict[str, Any]]:
    made = {service: boto.build(service, **aws) for service in ("dynamodb", "s3")}
    make_table(made["dynamodb"], "checkpoints", keys=("PK", "SK"))
    made["s3"].create_bucket(Bucket="footnote")
    yield made
    for client in made.values():
        client.close()


@pytest.fixture
def make(clients: dict[str, Any]) -> Make:
    def make(**settings: Any) -> DynamoDBCheckpoints:
        return DynamoDBCheckpoints("checkpoints", bucket="footnote", clients=clients.__getitem__, **settings)

    return make


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def conversation(saver: BaseCheckpointSaver[str]) -> Any:
    """A graph that says what it is asked to, 500 KB beside it, and waits for a word in between."""

    async def say(state: State) -> State:  # noqa: ARG001  # a node has one
        return {"said": [LARGE]}

    async def wait(state: State) -> State:  # noqa: ARG001  # a node has one
        return {"said": [interrupt("go on?")]}

    builder = StateGraph(State).add_node(say).add_node(wait).set_entry_point("say").add_edge("say", "wait")
    return builder.compile(checkpointer=saver)


async def test_conforms_to_what_langgraph_expects(make: Make) -> None:
    @checkpointer_test(name="DynamoDBCheckpoints")
    async def registered() -> AsyncGenerator[BaseCheckpointSaver[str], None]:
        yield make(ttl_s=3600)

    report = await validate(registered)

    assert report.passed_all(), {name: result.failures for name, result in report.results.items()}
    assert sum(result.tests_passed for result in report.results.values()) > 40


async def test_a_turn_of_500_kb_waits_and_goes_on_in_another_process(make: Make, clients: dict[str, Any]) -> None:
    paused = await conversation(make()).ainvoke({"said": ["hello"]}, THREAD, durability="exit")
    assert paused["__interrupt__"][0].value == "go on?"

    done = await conversation(make()).ainvoke(Command(resume="yes"), THREAD, durability="exit")

    assert done["said"] == ["hello", LARGE, "yes"]
    assert clients["s3"].list_objects_v2(Bucket="footnote")["KeyCount"] > 0
    assert (await conversation(make()).aget_state(THREAD)).values["said"] == done["said"]


async def test_a_payload_that_cannot_be_stored_leaves_the_thread_as_it_was(make: Make, clients: dict[str, Any]) -> None:
    saver = make()
    graph = conversation(saver)
    await graph.ainvoke({"said": ["first"]}, THREAD, durability="exit")
    before = await saver.aget_tuple(THREAD)
    saver.storage.s3_bucket = "missing"

    with pytest.raises(ClientError):
        await graph.ainvoke({"said": ["second"]}, THREAD, durability="exit")

    heads = clients["dynamodb"].query(
        TableName="checkpoints", KeyConditionExpression="PK = :pk", ExpressionAttributeValues={":pk": {"S": "CHECKPOINT_t"}}
    )
    saver.storage.s3_bucket = "footnote"
    assert await saver.aget_tuple(THREAD) == before
    assert before is not None
    assert max(head["id"]["S"] for head in heads["Items"]) == before.checkpoint["id"]


async def test_writes_come_back_in_their_order(make: Make) -> None:
    saver = make()
    config = await saver.aput(THREAD, empty_checkpoint(), {}, {})
    await saver.aput_writes(config, [(f"channel{n}", n) for n in range(25)], "task")

    found = await saver.aget_tuple(config)

    assert found is not None
    assert [value for _, _, value in found.pending_writes or []] == list(range(25))


async def test_what_has_expired_is_gone_before_dynamodb_deletes_it(make: Make, clients: dict[str, Any]) -> None:
    now = time.time()
    saver = make(ttl_s=3600, clock=lambda: now)
    config = await saver.aput(THREAD, empty_checkpoint(), {}, {})
    await saver.aput_writes(config, [("channel", 1)], "task")
    assert await saver.aget_tuple(THREAD) is not None

    now += 3601

    assert await saver.aget_tuple(THREAD) is None
    assert await saver.aget_tuple(config) is None
    assert [found async for found in saver.alist(THREAD)] == []
    assert clients["dynamodb"].scan(TableName="checkpoints")["Count"] > 0


async def test_every_read_is_consistent(make: Make, clients: dict[str, Any]) -> None:
    asked: list[bool] = []
    for operation in ("GetItem", "Query"):
        clients["dynamodb"].meta.events.register(
            f"provide-client-params.dynamodb.{operation}", lambda params, **_: asked.append(params.get("ConsistentRead", False))
        )
    saver = make()
    config = await saver.aput(THREAD, empty_checkpoint(), {}, {})
    await saver.aget_tuple(config)
    await saver.aget_tuple(THREAD)
    await saver.adelete_thread("t")

    assert len(asked) > 4
    assert all(asked)


async def test_a_deleted_thread_leaves_nothing_behind(make: Make, clients: dict[str, Any]) -> None:
    saver = make()
    await conversation(saver).ainvoke({"said": ["hello"]}, THREAD, durability="exit")

    await saver.adelete_thread("t")

    assert await saver.aget_tuple(THREAD) is None
    assert clients["dynamodb"].scan(TableName="checkpoints")["Count"] == 0
    assert clients["s3"].list_objects_v2(Bucket="footnote")["KeyCount"] == 0
