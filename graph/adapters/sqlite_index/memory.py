"""What searches keep in memory of one generation of the file: vectors, lengths, who may see what."""

import logging
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graph.adapters.sqlite_index import reading
from graph.adapters.sqlite_index.eligibility import Eligible

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
Postings = tuple[NDArray[np.int64], Floats]
"""Slots of the passages that have a term, and how often each has it."""

_log = logging.getLogger(__name__)
_MASKS = 64
_POSTINGS = 4_000_000
_CHANGED_PASSAGES = """
SELECT p.id, p.document, p.terms FROM passages AS p JOIN documents AS d ON d.id = p.document
WHERE d.visible AND (:after = 0 OR d.id IN (SELECT document FROM changes WHERE generation > :after)) ORDER BY p.id
"""
_CHANGED_VECTORS = """
SELECT v.vector FROM vectors AS v JOIN passages AS p ON p.id = v.passage JOIN documents AS d ON d.id = p.document
WHERE d.visible AND (:after = 0 OR d.id IN (SELECT document FROM changes WHERE generation > :after)) ORDER BY p.id
"""


class _Postings(dict[str, Postings]):
    """What was read last of the terms' postings, forgotten all at once when there are too many."""

    _held = 0

    def keep(self, term: str, postings: Postings) -> None:
        """Threads may keep one twice, which only makes the count too high."""
        if self._held > _POSTINGS:
            self.clear()
            self._held = 0
        self._held += len(postings[0])
        self[term] = postings


@dataclass(frozen=True)
class Generation:
    """The visible passages, one slot each, ordered by their rows in the file. Never changed, so threads share it."""

    number: int
    rows: Rows
    documents: Rows
    lengths: Floats
    """Terms of each passage."""
    vectors: Floats | None
    """Shape (slots, dimensions); None when they cannot be read."""
    _masks: dict[Eligible, Mask] = field(default_factory=dict)
    _postings: _Postings = field(default_factory=_Postings)
    _fields: dict[Eligible, set[str]] = field(default_factory=dict)

    def mask(self, connection: sqlite3.Connection, eligible: Eligible) -> Mask:
        """Which slots may be found."""
        if (mask := self._masks.get(eligible)) is None:
            rows = connection.execute(*eligible.select("p.id"))
            mask = np.isin(self.rows, np.fromiter((row for (row,) in rows), np.int64))
            if len(self._masks) >= _MASKS:
                self._masks.clear()
            self._masks[eligible] = mask
        return mask

    def postings(self, connection: sqlite3.Connection, term: str) -> Postings:
        """Where a term occurs among the visible passages."""
        if (postings := self._postings.get(term)) is None:
            counted = connection.execute(
                "SELECT doc, count(*) FROM occurrences WHERE term = ? GROUP BY doc", (term,)
            ).fetchall()
            table = np.array(counted, np.int64).reshape(-1, 2)
            slots, is_visible = self._slots(table[:, 0])
            postings = slots[is_visible], table[is_visible, 1].astype(np.float32)
            self._postings.keep(term, postings)
        return postings

    def fields(self, connection: sqlite3.Connection, eligible: Eligible) -> set[str]:
        """Fields that the passages have."""
        if (fields := self._fields.get(eligible)) is None:
            fields = self._fields[eligible] = reading.known_fields(connection, eligible)
        return set(fields)

    def without(self, connection: sqlite3.Connection, mask: Mask, passage_ids: str) -> Mask:
        """The mask without some passages; ``passage_ids`` is a JSON list."""
        found = connection.execute(
            "SELECT id FROM passages WHERE passage_id IN (SELECT value FROM json_each(?))", (passage_ids,)
        )
        slots, is_visible = self._slots(np.fromiter((row for (row,) in found), np.int64))
        mask = mask.copy()
        mask[slots[is_visible]] = False
        return mask

    def _slots(self, rows: Rows) -> tuple[NDArray[np.int64], Mask]:
        if not len(self.rows):
            return np.zeros(len(rows), np.int64), np.zeros(len(rows), np.bool_)
        slots = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return slots, self.rows[slots] == rows


_NONE = np.zeros(0, np.int64)
EMPTY = Generation(0, _NONE, _NONE, np.zeros(0, np.float32), np.zeros((0, 0), np.float32))


class Memory:
    """The newest generation that anybody here has read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest = EMPTY

    def at(self, connection: sqlite3.Connection) -> Generation | None:
        """The generation that the connection's snapshot shows; None if a newer one is here: take a new snapshot."""
        (number,) = connection.execute("SELECT coalesce(max(generation), 0) FROM changes").fetchone()
        with self._lock:
            if self._newest.number > number:
                return None
            if self._newest.number < number:
                self._newest = _advanced(connection, self._newest, number)
            return self._newest


def _advanced(connection: sqlite3.Connection, old: Generation, number: int) -> Generation:
    """The generation ``number``, reading only what changed since the old one."""
    (oldest,) = connection.execute("SELECT min(generation) FROM changes").fetchone()
    if old.vectors is None or old.number + 1 < oldest:
        old = EMPTY
    changes = connection.execute("SELECT DISTINCT document FROM changes WHERE generation > ?", (old.number,))
    kept = ~np.isin(old.documents, np.fromiter((document for (document,) in changes), np.int64))
    new = _read(connection, old.number, number)
    rows = np.concatenate([old.rows[kept], new.rows])
    order = np.argsort(rows, kind="stable")
    return Generation(
        number,
        rows[order],
        np.concatenate([old.documents[kept], new.documents])[order],
        np.concatenate([old.lengths[kept], new.lengths])[order],
        _joined(old.vectors, kept, new.vectors, order),
    )


def _read(connection: sqlite3.Connection, after: int, number: int) -> Generation:
    """Visible passages of the documents that changed after a generation; of all for 0."""
    table = np.array(connection.execute(_CHANGED_PASSAGES, {"after": after}).fetchall(), np.int64).reshape(-1, 3)
    try:
        blobs = [blob for (blob,) in connection.execute(_CHANGED_VECTORS, {"after": after})]
        vectors = _stacked(blobs, len(table))
    except (sqlite3.Error, ValueError) as error:
        _log.warning("the vectors cannot be read: %s", error)
        vectors = None
    return Generation(number, table[:, 0], table[:, 1], table[:, 2].astype(np.float32), vectors)


def _stacked(blobs: Sequence[bytes], count: int) -> Floats:
    if len(blobs) != count or len({len(blob) for blob in blobs}) > 1:
        raise ValueError(f"{len(blobs)} vectors for {count} passages, or of different dimensions")
    return np.frombuffer(b"".join(blobs), "<f4").reshape(count, -1) if count else np.zeros((0, 0), np.float32)


def _joined(old: Floats | None, kept: Mask, new: Floats | None, order: NDArray[np.int64]) -> Floats | None:
    if old is None or new is None:
        return None
    parts = [part for part in (old[kept], new) if len(part)]
    joined = np.concatenate(parts) if len({part.shape[1] for part in parts}) == 1 else np.zeros((0, 0), np.float32)
    return joined if np.array_equal(order, np.arange(len(order))) else joined[order]
