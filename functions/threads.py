"""The list of a user's conversations, last updated first, and the turns of each."""

import time
from typing import cast

from functions import cursors
from functions.clock import now_iso
from functions.identity import Caller
from functions.shapes import ThreadSummary
from graph.errors import NotFound
from graph.ports import Item, Json, Table

_LONGEST_TITLE = 80
_PAGE = 100


def key(caller: Caller, thread_id: str) -> str:
    """Key of a conversation, the user's namespace included."""
    return f"{caller.key}/{thread_id}"


class Threads:
    """Conversations on the table.

    Only the turn that holds a thread's lease writes here. Beside the thread stands its entry in the user's list, sorted by
    time: an update writes the new entry and then deletes the old one, and an entry that is not the thread's newest is none.
    """

    def __init__(self, table: Table, *, ttl_days: int) -> None:
        self._table = table
        self._ttl_s = ttl_days * 86_400

    def expires_at(self) -> int:
        """When what belongs to a thread goes that is used now, in unix seconds."""
        return int(time.time()) + self._ttl_s

    async def get(self, caller: Caller, thread_id: str) -> ThreadSummary:
        """A conversation.

        Raises:
            NotFound: there is none.
        """
        item = await self._table.get(_thread(caller, thread_id), "thread")
        if item is None:
            raise NotFound(f"there is no thread {thread_id}")
        return cast("ThreadSummary", item.value)

    async def add_turn(self, caller: Caller, thread_id: str, turn_id: str, question: str) -> None:
        """Begin the thread, or go on with it."""
        item = await self._table.get(_thread(caller, thread_id), "thread")
        now = now_iso()
        old = cast("ThreadSummary", item.value) if item else None
        place = f"turn#{now}#{turn_id}"
        value: Json = {"turn_id": turn_id}
        await self._table.put(Item(pk=_thread(caller, thread_id), sk=place, value=value, expires_at=self.expires_at()))
        thread: ThreadSummary = {
            "thread_id": thread_id,
            "title": old["title"] if old else _title(question),
            "turns": (old["turns"] if old else 0) + 1,
            "created_at": old["created_at"] if old else now,
            "updated_at": now,
        }
        await self._store(caller, thread, old)

    async def touch(self, caller: Caller, thread_id: str) -> None:
        """The thread was used just now."""
        item = await self._table.get(_thread(caller, thread_id), "thread")
        if item is not None:
            old = cast("ThreadSummary", item.value)
            await self._store(caller, {**old, "updated_at": now_iso()}, old)

    async def page(self, caller: Caller, *, limit: int, cursor: str | None) -> tuple[list[ThreadSummary], str | None]:
        """A page of the user's conversations, and the cursor of the next page."""
        after = cursors.decode(cursor)
        page: list[ThreadSummary] = []
        while entries := await self._table.query(_list(caller), after=after, limit=limit + 1, descending=True):
            for entry in entries:
                item = await self._table.get(_thread(caller, str(entry.value["thread_id"])), "thread")
                if item is None or _entry(cast("ThreadSummary", item.value)) != entry.sk:
                    continue
                if len(page) == limit:
                    return page, cursors.encode(_entry(page[-1]))
                page.append(cast("ThreadSummary", item.value))
            after = entries[-1].sk
        return page, None

    async def turns(
        self, caller: Caller, thread_id: str, *, limit: int = _PAGE, cursor: str | None = None
    ) -> tuple[list[str], str | None]:
        """Ids of a page of the thread's turns, oldest first, and the cursor of the next page."""
        items = await self._table.query(
            _thread(caller, thread_id), prefix="turn#", after=cursors.decode(cursor), limit=limit + 1
        )
        following = items[limit - 1].sk if len(items) > limit else None
        return [str(item.value["turn_id"]) for item in items[:limit]], cursors.encode(following)

    async def newest_turn(self, caller: Caller, thread_id: str) -> str | None:
        """The id of the last turn."""
        items = await self._table.query(_thread(caller, thread_id), prefix="turn#", limit=1, descending=True)
        return str(items[0].value["turn_id"]) if items else None

    async def delete(self, caller: Caller, thread_id: str) -> None:
        """Take the thread off the list, and forget its turns' places."""
        thread = await self.get(caller, thread_id)
        await self._table.delete(_list(caller), _entry(thread))
        for item in await self._table.query(_thread(caller, thread_id)):
            await self._table.delete(item.pk, item.sk)

    async def _store(self, caller: Caller, thread: ThreadSummary, old: ThreadSummary | None) -> None:
        expires_at = self.expires_at()
        place = Item(pk=_list(caller), sk=_entry(thread), value={"thread_id": thread["thread_id"]}, expires_at=expires_at)
        pk = _thread(caller, thread["thread_id"])
        await self._table.put(place)
        await self._table.put(Item(pk=pk, sk="thread", value=cast("Json", thread), expires_at=expires_at))
        if old is not None and _entry(old) != place.sk:
            await self._table.delete(place.pk, _entry(old))


def _thread(caller: Caller, thread_id: str) -> str:
    return f"thread#{key(caller, thread_id)}"


def _list(caller: Caller) -> str:
    return f"threads#{caller.key}"


def _entry(thread: ThreadSummary) -> str:
    return f"{thread['updated_at']}#{thread['thread_id']}"


def _title(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 1].rstrip() + "…"
