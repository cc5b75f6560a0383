"""Text to units: what a passage holds whole if it can, and how well the text may be cut before each."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from graph.text import sentences
from ingestion.parsed import Block, BlockKind, Parsed

CountTokens = Callable[[Sequence[str]], list[int]]
_LONGEST_TITLE, _LONGEST_HEADING = 150, 200
_SEPARATOR = " > "
_JOINT = re.compile(r"[\s,;:.|、，；：。)\]}>](?=[^\s])")
_ENDS_SENTENCE = tuple("。！？.!?…”\"'）)】")
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_JOINERS = "\u200d\ufe0e\ufe0f"


class Cut(IntEnum):
    """How well the text may be cut before a unit."""

    NEVER = 0
    """After a heading, or after the line that announces what follows."""
    LINE = 1
    SENTENCE = 2
    BLOCK = 3
    HEADING = 4


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a row, or the whole of some code, a table or a heading: code points ``start`` to ``end``."""

    kind: BlockKind
    start: int
    end: int
    cut: Cut
    heading: str
    """The headings above it, outermost first."""
    tokens: int = 0


def clip(title: str) -> str:
    """A title as passages carry it."""
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1] + "…"


def measured(parsed: Parsed, title: str, count: CountTokens, budget: Callable[[str], int]) -> list[Unit]:
    """The units of a text in order, with their tokens; none has more than the budget under its heading."""
    small, units = [], list(_units(parsed, title))
    while units:
        tokens = count([parsed.text[unit.start : unit.end] for unit in units])
        units = [replace(unit, tokens=found) for unit, found in zip(units, tokens, strict=True)]
        small += [unit for unit in units if unit.tokens <= budget(unit.heading)]
        large = [unit for unit in units if unit.tokens > budget(unit.heading)]
        units = [piece for unit in large for piece in _split(parsed.text, unit, budget(unit.heading))]
    return sorted(small, key=lambda unit: unit.start)


def _units(parsed: Parsed, title: str) -> Iterator[Unit]:
    path: list[tuple[int, str]] = []
    heading, glued, last = "", False, ""
    for block in parsed.blocks:
        if block.kind == "heading":
            path = [*((level, name) for level, name in path if level < block.level), (block.level, block.title)]
            heading = _joined([name for _, name in path], title)
        first = Cut.NEVER if glued and block.kind != "heading" else _before(block, last)
        for start, end, cut in _pieces(parsed.text, block):
            yield Unit(block.kind, start, end, first if cut is None else cut, heading)
        announces = parsed.text[block.start : block.end].rstrip().endswith((":", "："))
        glued, last = block.kind == "heading" or (announces and block.kind == "paragraph"), block.kind


def _joined(names: list[str], title: str) -> str:
    """The path, without a first heading that only says the title again; where it is too long the inner ones stay."""
    names = [name for name in (names[1:] if names[0] == title else names) if name]
    while len(_SEPARATOR.join(names)) > _LONGEST_HEADING and len(names) > 1:
        names = names[1:]
    return _SEPARATOR.join(names)[:_LONGEST_HEADING].rstrip()


def _before(block: Block, last: str) -> Cut:
    if block.kind == "heading":
        return Cut.HEADING
    return Cut.SENTENCE if block.kind == last == "item" else Cut.BLOCK


def _pieces(text: str, block: Block) -> Iterator[tuple[int, int, Cut | None]]:
    """Spans of a block's units, and how well it may be cut before them (None: as before the block)."""
    source = text[block.start : block.end]
    if block.kind in ("heading", "code", "table"):
        start = block.start + len(source) - len(source.lstrip())
        yield start, block.start + len(source.rstrip()), None
        return
    cut = None
    for start, end in sentences(source):
        yield block.start + start, block.start + end, cut
        cut = Cut.SENTENCE if source[end - 1].endswith(_ENDS_SENTENCE) else Cut.LINE


def _split(text: str, unit: Unit, budget: int) -> Iterator[Unit]:
    """Smaller units in place of one: lines where it has some, else pieces cut between words, else anywhere."""
    lines = [(match.start(), match.end()) for match in _LINE.finditer(text, unit.start, unit.end)]
    between = Cut.SENTENCE if unit.kind == "table" else Cut.LINE
    if len(lines) == 1:
        lines = list(_cut(text, unit.start, unit.end, math.ceil(unit.tokens / budget * 1.2)))
        between = Cut.LINE
    cut = unit.cut
    for start, end in lines:
        yield replace(unit, start=start, end=end, cut=cut)
        apart = text[end : end + 2] == "\n\n"
        cut = Cut.SENTENCE if apart else between


def _cut(text: str, start: int, end: int, parts: int) -> Iterator[tuple[int, int]]:
    step = max(1, (end - start) // parts)
    while start < end:
        to = min(end, start + step)
        if to < end:
            joints = [match.end() for match in _JOINT.finditer(text, start + step // 2, to)]
            to = joints[-1] if joints else _whole_character(text, start, to)
        piece = text[start:to]
        if piece.strip():
            yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
        start = to


def _whole_character(text: str, start: int, at: int) -> int:
    """A place to cut at or before ``at`` that does not part an accent or a joined emoji from its letter."""
    for place in range(at, max(start, at - 16), -1):
        if not unicodedata.combining(text[place]) and text[place] not in _JOINERS and text[place - 1] != "\u200d":
            return place
    return at
