"""Which version of a document is seen, while another takes its place.

OpenSearch changes passages one by one, so an *edition* (a document in one version) that appears or goes passes through
states in which a part of it is there. Meanwhile it stands on one short list, which is an item of the table and so changes
in one step, and every search leaves out what is on it:

1. hide the new edition; 2. make its passages visible; 3. in one step show it and hide the old one; 4. delete the old
passages; 5. take the old edition off the list.

A search must not straddle a step: it compares the list before and after itself, and searches again if they differ.
Each entry says who hid it, so that of two who publish one document at once only one gets past step 3, and since when it is
to be deleted: what is being deleted at this moment cannot be published.
A writer that dies leaves entries behind, which hide what ought to be hidden until the document is written again.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

from graph.errors import IndexUnavailable
from graph.ports import Absent, Equals, Item, Table

T = TypeVar("T")
_ATTEMPTS = 10
_WAIT_S = 0.02
_DELETES_S = 60.0
"""Within this a writer that lives has deleted what it doomed."""
_KEY = "hidden"


def edition(document_id: str, version: str) -> str:
    """The name of a document in one version."""
    return f"{document_id}/{version}"


@dataclass(frozen=True)
class View:
    """The list at one moment."""

    revision: int
    hidden: Mapping[str, str]
    """Editions, and who hid each."""


_EMPTY = View(0, {})


class Editions:
    """The list of one index."""

    def __init__(self, table: Table, index: str) -> None:
        self._table = table
        self._partition = f"index#{index}"
        self._last = _EMPTY

    async def consistently(self, read: Callable[[frozenset[str]], Awaitable[T]]) -> T:
        """What ``read`` finds without the hidden editions that it is given, in one state of the list."""
        for attempt in range(_ATTEMPTS):
            before = self._last
            found = await read(frozenset(before.hidden))
            if (await self._read()).revision == before.revision:
                break
            if attempt:  # the first list may be old; from then on somebody is writing much
                await _pause()
        return found

    async def is_hidden(self, name: str) -> bool:
        """Whether an edition stands on the list."""
        return name in (await self._read()).hidden

    async def claim(self, new: str, *, by: str) -> None:
        """Hide an edition that is to be published, also from whoever has tried so far.

        Raises:
            IndexUnavailable: it is just being deleted.
        """

        def claimed(hidden: Mapping[str, str]) -> dict[str, str]:
            since = float(hidden.get(new, "").partition("@")[2] or 0)
            if time.time() - since < _DELETES_S:
                raise IndexUnavailable("this version of the document is being removed at this moment. Try again.")
            return {**hidden, new: by}

        await self._change(claimed)

    async def doom(self, editions: Collection[str], *, by: str) -> None:
        """Hide editions that are to be deleted."""
        await self._change(lambda hidden: {**hidden, **_doomed(editions, by)})

    async def replace(self, old: Collection[str], new: str, *, by: str) -> None:
        """Show one edition and hide others, in one step.

        Raises:
            IndexUnavailable: somebody else has hidden the new edition meanwhile, to publish another.
        """

        def replaced(hidden: Mapping[str, str]) -> dict[str, str]:
            if hidden.get(new, by) != by:
                raise IndexUnavailable("another version of the document is being published at this moment. Try again.")
            return {**{name: who for name, who in hidden.items() if name != new}, **_doomed(old, by)}

        await self._change(replaced)

    async def forget(self, editions: Collection[str], *, by: str) -> None:
        """Take editions that are no more off the list."""
        await self._change(
            lambda hidden: {name: who for name, who in hidden.items() if name not in editions or who.partition("@")[0] != by}
        )

    async def _change(self, change: Callable[[Mapping[str, str]], dict[str, str]]) -> None:
        while True:
            before = await self._read()
            hidden = change(before.hidden)
            if hidden == before.hidden:
                return
            value: dict[str, object] = {"revision": before.revision + 1, _KEY: hidden}
            condition = Equals({"revision": before.revision}) if before.revision else Absent()
            if await self._table.put(Item(pk=self._partition, sk=_KEY, value=value), condition=condition):
                self._last = View(before.revision + 1, hidden)
                return
            await _pause()

    async def _read(self) -> View:
        item = await self._table.get(self._partition, _KEY)
        if item is None:
            self._last = _EMPTY
        else:
            self._last = View(cast("int", item.value["revision"]), cast("dict[str, str]", item.value[_KEY]))
        return self._last


def _doomed(editions: Collection[str], by: str) -> dict[str, str]:
    return dict.fromkeys(editions, f"{by}@{int(time.time())}")


async def _pause() -> None:
    await asyncio.sleep(_WAIT_S * random.random())  # noqa: S311  # no secret
