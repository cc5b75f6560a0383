"""The command `footnote ingest`."""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

from functions.local.files import outcomes, put_files
from functions.local.lock import HomeTaken, held
from functions.local.terminal import plain
from functions.local.watcher import Watcher
from graph.documents import DocumentRecord, public
from graph.wiring import Wiring


class Progress(Protocol):
    """Shows how far it is."""

    def begin(self, files: int) -> None: ...

    def show(self, record: DocumentRecord) -> None: ...

    def end(self) -> None: ...


async def ingest(wiring: Wiring, paths: Sequence[Path], *, tenant: str, metadata: Mapping[str, str], as_json: bool) -> int:
    """Put files and wait until each is ``ready`` or ``failed``; a server that has the home does the work."""
    progress = _progress(is_quiet=as_json)
    newest: dict[str, DocumentRecord] = {}
    async with AsyncExitStack() as stack:
        stack.push_async_callback(wiring.close)
        try:
            stack.enter_context(held(wiring.settings.home, "ingest"))
        except HomeTaken as taken:
            if taken.holder is None or taken.holder["kind"] != "serve":
                raise
        else:
            await stack.enter_async_context(Watcher(wiring))
        ids = await put_files(paths, wiring, tenant=tenant, metadata=metadata)
        progress.begin(len(ids))
        async for record in outcomes(wiring, ids, tenant=tenant):
            newest[record["document_id"]] = record
            progress.show(record)
        progress.end()
    if as_json:
        shown = {"documents": [public(newest[one]) for one in ids if one in newest]}
        print(json.dumps(shown, ensure_ascii=False).encode("utf-8", "backslashreplace").decode())
    return 1 if any(record["status"] == "failed" for record in newest.values()) else 0


def _progress(*, is_quiet: bool) -> Progress:
    if is_quiet:
        return _Silence()
    return _Bar() if sys.stdout.isatty() else _Lines()


def _line(record: DocumentRecord) -> str | None:
    """What to say of a document that is done."""
    path = plain(record["path"])
    if record["status"] == "failed":
        error = record["error"]
        return f"failed {path}: {plain(error['message'])} {plain(error['remedy'])}"
    return f"ready  {path} ({record['passages']} passages)" if record["status"] == "ready" else None


class _Silence:
    def begin(self, files: int) -> None: ...

    def show(self, record: DocumentRecord) -> None: ...

    def end(self) -> None: ...


class _Lines(_Silence):
    """A line for each document, once it is done."""

    def show(self, record: DocumentRecord) -> None:
        line = _line(record)
        if line is not None:
            print(line, flush=True)


class _Bar:
    """A bar for all of them, and a line for each that failed."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("Ingesting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}")
        )
        self._shares: dict[str, float] = {}

    def begin(self, files: int) -> None:
        self._task = self._bar.add_task("", total=files)
        self._bar.start()

    def show(self, record: DocumentRecord) -> None:
        is_over = record["status"] in ("ready", "failed")
        self._shares[record["document_id"]] = 1.0 if is_over else record.get("progress", 0.0)
        self._bar.update(self._task, completed=sum(self._shares.values()), description=plain(record["path"]))
        if record["status"] == "failed":
            self._bar.console.print(_line(record), markup=False, highlight=False, soft_wrap=True)

    def end(self) -> None:
        self._bar.stop()
