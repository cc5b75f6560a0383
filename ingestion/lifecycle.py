"""The life of a document: whatever happened to an object, registry and index become what the bucket says.

Events tell that something happened, not what is so: they come twice, late and out of order. So the bucket is asked, and every
write to the registry proves that nobody wrote in between. A worker may die anywhere: what it staged is not visible, and the
next one to read the same version stores the same passages under the same ids.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing, suppress

from graph.documents import (
    DocumentError,
    DocumentRecord,
    Documents,
    document_id,
    fresh,
    is_older,
    is_settled,
)
from graph.errors import BadName, FootnoteError, NotFound, Unavailable
from graph.keys import check_path, is_hidden, place_of
from graph.ports import Passage
from graph.tracing import Trace
from graph.wiring import Wiring
from ingestion.claims import Claim, Superseded
from ingestion.embedding import embedded
from ingestion.events import LAST_ATTEMPT, Change
from ingestion.failures import FileFailure
from ingestion.passages import cut, read

_LOG = logging.getLogger(__name__)


class Lifecycle:
    """Applies changes, with the adapters of one wiring."""

    def __init__(self, wiring: Wiring) -> None:
        self._bucket, self._index, self._embedder = wiring.bucket, wiring.index, wiring.embedder
        self._documents = Documents(wiring.table)

    async def settle(self, change: Change, trace: Trace) -> DocumentRecord | None:
        """Make registry and index what the bucket says of a key. Raises what another try may cure.

        Returns:
            The record of a document that was read or given up; None where nothing had to be read.
        """
        place = place_of(change.key)
        if place is None or is_hidden(place[1]):
            return None
        try:
            return await self._settle(*place, change, trace)
        except Exception as error:
            _LOG.exception("document %s, attempt %d", document_id(*place), change.attempt)
            if change.attempt >= LAST_ATTEMPT:
                await self._give_up(*place, error)
            raise

    async def _settle(self, tenant: str, path: str, change: Change, trace: Trace) -> DocumentRecord | None:
        while (claim := await self._claim(tenant, path, change)) is not None:
            body = await self._bucket.get(change.key)
            if body is None or await self._bucket.head(change.key) != claim.info:
                continue  # it changed while it was read
            with suppress(Superseded):
                try:
                    check_path(path)
                    await self._read(claim, body, trace)
                except (FileFailure, BadName) as failure:
                    await self._fail(claim, failure)
                return claim.record
            return None
        return None

    async def _claim(self, tenant: str, path: str, change: Change) -> Claim | None:
        """The right to read what is in the bucket now; None where the document already says the same."""
        while True:
            previous = await self._documents.at_rest(tenant, document_id(tenant, path))
            try:
                info = await self._bucket.head(change.key)
            except BadName:
                return None  # no object of this bucket can have this name
            if info is None:
                name = document_id(tenant, path)
                await self._documents.tombstone(tenant, name, index=self._index, sequencer=change.sequencer)
                return None
            if previous is not None and is_settled(previous, info):
                return None
            record = fresh(tenant, path, info, uri=self._bucket.uri(change.key), previous=previous)
            sequencers = (change.sequencer or info.sequencer, previous["sequencer"] if previous else "")
            record["sequencer"] = sequencers[is_older(sequencers[0], than=sequencers[1])]
            stored = await self._documents.update(
                previous, {**record, "status": "processing", "stage": "parsing", "progress": 0}
            )
            if stored is not None:
                return Claim(self._documents, stored, info)

    async def _read(self, claim: Claim, body: bytes, trace: Trace) -> None:
        """Parse, chunk, embed, and publish the version as a whole."""
        with trace.span("parse"):
            reading = await asyncio.to_thread(read, body, claim.record, claim.info.metadata)
        await claim.advance(stage="chunking", title=reading.title, meta=reading.meta, groups=reading.groups)
        with trace.span("chunk"):
            passages = await asyncio.to_thread(cut, reading, claim.record, self._embedder)
        await claim.advance(stage="embedding", warnings=reading.parsed.warnings)
        with trace.span("embed"):
            await self._stage(claim, passages)
        await claim.advance(stage="indexing", progress=1)
        with trace.span("index"):
            await self._publish(claim)
        await claim.advance(status="ready", passages=len(passages), characters=len(reading.parsed.text))

    async def _stage(self, claim: Claim, passages: Sequence[Passage]) -> None:
        """Embed part by part; what is embedded is stored at once, and not visible yet."""
        done = 0
        async with aclosing(embedded(passages, self._embedder, self._index)) as parts:
            async for part in parts:
                await self._index.stage(
                    claim.document, part.passages, part.vectors, texts_sha256=part.texts_sha256, model=self._embedder.model
                )
                done += len(part.passages)
                await claim.tell(done / len(passages))

    async def _publish(self, claim: Claim) -> None:
        try:
            await self._index.publish(claim.document)
        except NotFound:  # what was staged is gone: by a newer version or a removal, if this worker slept too long
            await claim.advance()
            raise

    async def _fail(self, claim: Claim, failure: FileFailure | BadName) -> None:
        """Nothing answers from a file that cannot be read, not even what was there before it."""
        bad_name: DocumentError = {"code": "bad_name", "message": f"{failure}.", "remedy": "Give the file another name."}
        error = failure.error if isinstance(failure, FileFailure) else bad_name
        await claim.advance(stage="indexing")
        await self._index.remove(claim.record["document_id"])
        await claim.advance(status="failed", error=error, passages=0, characters=0)

    async def _give_up(self, tenant: str, path: str, cause: Exception) -> None:
        """Say so in the registry, as far as that can still be reached."""
        record = await self._documents.find(tenant, document_id(tenant, path))
        if record is None or record.get("deleted"):
            return
        reason = str(cause).rstrip(".") if isinstance(cause, FootnoteError) else type(cause).__name__
        error: DocumentError = {
            "code": "internal",
            "message": f"The file could not be processed in {LAST_ATTEMPT} attempts: {reason}.",
            "remedy": f"Look for {record['document_id']} in the log, mend what it names, then upload the file again.",
        }
        with suppress(Unavailable):  # what answered before is no longer what the bucket holds
            await self._index.remove(record["document_id"])
        failed: DocumentRecord = {**record, "status": "failed", "error": error, "passages": 0, "characters": 0}
        failed.pop("stage", None)
        failed.pop("progress", None)
        await self._documents.update(record, failed)
