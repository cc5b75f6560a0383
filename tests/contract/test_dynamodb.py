"""What DynamoDB adds to the contract of `Table`: its limits, its pages, its late deletes, answers that get lost."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from graph.adapters import boto
from graph.adapters.dynamodb import DynamoDBTable
from graph.errors import InvalidRequest, TooLarge, Unavailable
from graph.ports import Absent, Equals, Item
from tests.standins.aws import make_table


def row(sk: str, **value: object) -> Item:
    return Item(pk="p", sk=sk, value=value)


async def test_numbers_come_back_as_they_were(dynamodb_table: DynamoDBTable) -> None:
    value = {"one": 1, "float": 1.0, "tiny": 5e-324, "huge": 1.7e308, "long": 10**60, "true": True, "": [0.1, -0.0, ""]}
    await dynamodb_table.put(row("s", **value))

    item = await dynamodb_table.get("p", "s")
    assert item is not None
    assert repr(item.value) == repr(value)


async def test_equality_of_nested_values_does_not_depend_on_the_order_of_keys(dynamodb_table: DynamoDBTable) -> None:
    await dynamodb_table.put(row("s", lease={"owner": "a", "token": 3}))

    assert await dynamodb_table.put(row("s", lease=None), condition=Equals({"lease": {"token": 3, "owner": "a"}}))


async def test_a_query_reads_on_past_a_page_of_1_mb(dynamodb_table: DynamoDBTable) -> None:
    for n in range(9):
        await dynamodb_table.put(row(f"{n}", text="x" * 300_000))

    assert [item.sk for item in await dynamodb_table.query("p")] == [f"{n}" for n in range(9)]
    assert [item.sk for item in await dynamodb_table.query("p", limit=5, descending=True)] == ["8", "7", "6", "5", "4"]


async def test_an_item_over_400_kb_is_refused_by_name(dynamodb_table: DynamoDBTable) -> None:
    assert await dynamodb_table.put(row("s", text="x" * 400_000))
    with pytest.raises(TooLarge, match="400 KB"):
        await dynamodb_table.put(row("s", text="x" * 410_000))


async def test_a_key_that_dynamodb_cannot_have_is_refused_and_found_nowhere(dynamodb_table: DynamoDBTable) -> None:
    with pytest.raises(InvalidRequest, match="sk must have 1 to 1024 bytes, not 1025"):
        await dynamodb_table.put(row("中" * 341 + "ab"))
    assert await dynamodb_table.get("p", "") is None
    assert await dynamodb_table.query("") == []


@pytest.mark.parametrize(
    ("after", "descending", "found"),
    [("a", False, ["m#1", "m#2"]), ("z", False, []), ("z", True, ["m#2", "m#1"]), ("a", True, []), ("", True, [])],
)
async def test_a_page_may_start_behind_a_key_outside_of_the_prefix(
    dynamodb_table: DynamoDBTable,
    after: str,
    descending: bool,  # noqa: FBT001  # a parameter of the test
    found: list[str],
) -> None:
    for sk in ("a", "m#1", "m#2", "z"):
        await dynamodb_table.put(row(sk))

    assert [item.sk for item in await dynamodb_table.query("p", prefix="m#", after=after, descending=descending)] == found


async def test_what_expires_does_so_before_dynamodb_deletes_it(aws: dict[str, Any]) -> None:
    client = boto.build("dynamodb", **aws)
    make_table(client, "footnote")
    now = 1000.0
    table = DynamoDBTable("footnote", client=client, clock=lambda: now)
    await table.put(Item(pk="p", sk="s", value={"n": 1}, expires_at=1001))
    assert not await table.put(row("s", n=2), condition=Absent())

    now = 1001.0

    assert client.scan(TableName="footnote")["Count"] == 1
    assert await table.get("p", "s") is None
    assert await table.query("p") == []
    assert await table.delete("p", "s", condition=Equals({"n": 7}))
    client.close()


async def test_a_missing_table_is_named(aws: dict[str, Any]) -> None:
    client = boto.build("dynamodb", **aws)

    with pytest.raises(Unavailable, match="no table elsewhere"):
        await DynamoDBTable("elsewhere", client=client).get("p", "s")
    client.close()


async def test_a_put_whose_answer_got_lost_is_not_taken_for_somebody_elses(aws: dict[str, Any]) -> None:
    with _loses_first_answer(aws["endpoint_url"], "DynamoDB_20120810.PutItem") as (url, lost):
        client = boto.build("dynamodb", **{**aws, "endpoint_url": url})
        make_table(client, "footnote")
        table = DynamoDBTable("footnote", client=client)

        assert await table.put(row("lease", owner="me"), condition=Absent())
        assert lost.is_set()
        assert not await table.put(row("lease", owner="me"), condition=Absent())
        client.close()


@contextmanager
def _loses_first_answer(to: str, target: str) -> Iterator[tuple[str, threading.Event]]:
    """A proxy that carries the first call of this operation out and then hangs up."""
    lost = threading.Event()

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            upstream = http.client.HTTPConnection(urlsplit(to).netloc)
            upstream.request("POST", self.path, body, {**self.headers, "Connection": "close"})
            answer = upstream.getresponse()
            text = answer.read()
            upstream.close()
            if self.headers["X-Amz-Target"] == target and not lost.is_set():
                lost.set()
                self.close_connection = True
                return
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", lost
    server.shutdown()
    thread.join()
    server.server_close()
