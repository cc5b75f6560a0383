"""What parsers make of a file: its text, and where in it the headings, paragraphs, tables and code are."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from graph.ports import MetaValue

BlockKind = Literal["heading", "paragraph", "item", "code", "table"]
_NOT_WHITE = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the text, code points ``start`` to ``end``. In a table every line is a row."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """Of a heading, from 1."""
    title: str = ""
    """Of a heading, without markup."""


@dataclass(frozen=True, kw_only=True)
class Parsed:
    r"""A file's extracted text, newlines as ``\n``. ``blocks`` are in order, do not overlap and hold all that is not white."""

    text: str
    blocks: Sequence[Block]
    title: str = ""
    """As the file gives it; empty where it gives none."""
    meta: dict[str, MetaValue] = field(default_factory=dict)
    groups: list[str] | None = None
    """Who may read, where the file says so itself."""
    warnings: list[str] = field(default_factory=list)


class Builder:
    """Puts a text together block by block."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.blocks: list[Block] = []

    def add(self, kind: BlockKind, text: str, *, level: int = 0) -> None:
        """Add a block; items follow each other line by line, all else is set apart by an empty line."""
        if not text.strip():
            return
        if self.blocks:
            both_items = kind == "item" and self.blocks[-1].kind == "item"
            self._append("\n" if both_items else "\n\n")
        start = self._length
        self._append(text)
        title = text if kind == "heading" else ""
        self.blocks.append(Block(kind, start, self._length, level, title))

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)


def complete(text: str, blocks: Sequence[Block]) -> list[Block]:
    """The blocks, with a paragraph for all between them that is not white."""
    return list(_complete(text, blocks))


def _complete(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    at = 0
    for block in (*blocks, Block("paragraph", len(text), len(text))):
        if _NOT_WHITE.search(text, at, block.start):
            yield Block("paragraph", at, block.start)
        if block.end > block.start:
            yield block
        at = max(at, block.end)


def first_heading(blocks: Sequence[Block]) -> str:
    """The first heading of the highest level, or nothing."""
    headings = [block for block in blocks if block.kind == "heading" and block.title]
    return min(headings, key=lambda block: block.level).title if headings else ""
