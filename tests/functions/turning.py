"""Turns in this process, over a table of their own, with the scripted agent."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from functions.bodies import AskBody
from functions.identity import LOCAL, Caller
from functions.protocol import Heartbeat, TurnEvent
from functions.turns import Turns
from graph.adapters.sqlite_table import SQLiteTable
from graph.settings import Settings
from tests.scripted import ScriptedAgent

if TYPE_CHECKING:
    from graph.agent import Agent


@asynccontextmanager
async def turning(home: Path, *, holder: str = "server.1", **settings: object) -> AsyncIterator[Turns]:
    """The turns of a process; those that run are stopped at its end."""
    table, agent = SQLiteTable(home / "table.sqlite"), ScriptedAgent()

    async def scripted() -> "Agent":
        return cast("Agent", agent)

    turns = Turns(table, scripted, Settings.read({}, home=home, **settings), holder=holder)
    yield turns
    await turns.drain(0)
    await table.close()


async def begin(turns: Turns, question: str, *, caller: Caller = LOCAL, **body: str) -> str:
    """The id of a turn that has begun."""
    asked = AskBody.model_validate({"question": question, **body})
    return (await turns.ask(caller, asked))["turn_id"]


async def told(
    turns: Turns, turn_id: str, *, caller: Caller = LOCAL, after: int = 0, until: str = ""
) -> list[TurnEvent | Heartbeat]:
    """Events of a turn to the end of its run, or to the first of a type."""
    events: list[TurnEvent | Heartbeat] = []
    async for event in turns.followers.follow(caller, turn_id, after=after):
        events.append(event)
        if event["type"] == until:
            break
    return events
