"""Tickets on every table."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from functions.errors import Unauthorized
from functions.gate import Gate
from functions.identity import LOCAL, Caller
from functions.tickets import Tickets
from functions.tokens import Tokens
from graph.adapters.sqlite_table import SQLiteTable
from graph.ports import Table

ADA = Caller(tenant="acme", user="ada", groups=frozenset({"hr", "finance"}))


@pytest.fixture
async def sqlite_table(tmp_path: Path) -> AsyncIterator[SQLiteTable]:
    table = SQLiteTable(tmp_path / "table.sqlite")
    yield table
    await table.close()


@pytest.fixture(params=["sqlite_table", "dynamodb_table"])
def table(request: pytest.FixtureRequest) -> Table:
    return cast("Table", request.getfixturevalue(request.param))


async def test_a_ticket_opens_once_whoever_else_tries_at_the_same_time(table: Table) -> None:
    tickets = Tickets(table)
    ticket = await tickets.issue(ADA)

    tried = await asyncio.gather(*(tickets.take(ticket) for _ in range(8)), return_exceptions=True)

    assert [one for one in tried if not isinstance(one, Unauthorized)] == [ADA]
    with pytest.raises(Unauthorized):
        await tickets.take(ticket)


async def test_a_ticket_holds_for_a_minute(table: Table) -> None:
    ticket = await Tickets(table).issue(ADA)
    late = Tickets(table, clock=lambda: time.time() + 61)

    with pytest.raises(Unauthorized, match="expired"):
        await late.take(ticket)


@pytest.mark.parametrize("ticket", ["", "x", "\ud800", "ticket#", "x" * 10_000])
async def test_what_was_never_issued_opens_nothing(table: Table, ticket: str) -> None:
    with pytest.raises(Unauthorized):
        await Tickets(table).take(ticket)


async def test_whoever_reads_the_table_cannot_come_in_by_it(sqlite_table: SQLiteTable, tmp_path: Path) -> None:
    ticket = await Tickets(sqlite_table).issue(ADA)

    assert not any(ticket.encode() in file.read_bytes() for file in list(tmp_path.iterdir()))  # noqa: ASYNC240  # a test


class Known(Tokens):
    """Tokens that are names."""

    def __init__(self) -> None:
        """No settings are needed."""

    async def caller(self, authorization: str) -> Caller:
        return Caller(tenant="acme", user=authorization)


async def test_a_token_counts_before_a_ticket_and_one_of_them_is_needed(sqlite_table: SQLiteTable) -> None:
    gate = Gate(Known(), Tickets(sqlite_table))
    ticket = await gate.tickets.issue(ADA)

    assert (await gate.socket("eve", ticket)).user == "eve"
    assert await gate.socket(None, ticket) == ADA
    assert (await gate.request("eve")).user == "eve"
    for refused in (gate.socket(None, None), gate.socket(None, ticket), gate.request(None)):
        with pytest.raises(Unauthorized):
            await refused


async def test_without_an_issuer_there_is_one_user_but_a_wrong_ticket_opens_nothing(sqlite_table: SQLiteTable) -> None:
    gate = Gate(None, Tickets(sqlite_table))

    assert await gate.request("Bearer anything") == await gate.socket(None, None) == LOCAL
    assert await gate.socket("Bearer anything", await gate.tickets.issue(LOCAL)) == LOCAL
    with pytest.raises(Unauthorized):
        await gate.socket(None, "never issued")
