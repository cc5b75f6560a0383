"""The blocks of a passage: paragraphs, list items, table rows and code, each under its heading.

Passages are Markdown or plain text, and may begin in the middle of either. All offsets count code points of the passage.
"""

import re
import string
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Kind = Literal["paragraph", "item", "row", "code"]

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)")
_LANGUAGE = f"{string.ascii_letters}{string.digits}_+-"
_BLANK = re.compile(r"[ \t]*$")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]*\{[^{}]*\})?[ \t#]*$")
_WORDLESS = re.compile(
    r"""[ \t]*(?:
        \{[*!%].*[*!%]\}                                      # an include
      | /{3,}.*                                               # the fence of an admonition
      | (?:</?[\w-]+[^<>]*>[ \t]*)+                           # tags alone
      | (?:\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?[ \t]*)+    # images alone
      | [-*_=|:][-*_=|: \t]*                                  # a rule, also that of a table
    )$""",
    re.VERBOSE,
)
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_NAMED_ROW = re.compile(r"[^:;\n]{1,60}: [^;\n]*(?:; [^:;\n]{1,60}: [^;\n]*)+$")
_ITEM = re.compile(r"([ \t]*)(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+|[(（]?[一二三四五六七八九十]+[)）、][ \t]*)(?=\S)")


_LONGEST_TITLE = 80


class Line(NamedTuple):
    """A line, code points ``start`` to ``end``, without its newline."""

    start: int
    end: int
    text: str


class Heading(NamedTuple):
    """A Markdown heading that begins at code point ``start``."""

    start: int
    level: int
    """From 1."""
    title: str


@dataclass(slots=True)
class Block:
    """Lines that belong together."""

    kind: Kind
    heading: str
    """The nearest heading above it inside of the passage."""
    lines: list[Line] = field(default_factory=list)
    """Of fenced code: the fences too, where the passage has them."""
    indent: int = 0
    content: int = 0
    """Of an item: characters of its first line that precede its words."""
    fence: str = ""
    """Of code: what it is fenced with, such as three backticks and a language."""
    is_whole: bool = True
    """Of code: whether both fences are there."""
    header: Line | None = None
    """Of a row of a Markdown table: the table's first row."""
    is_cut_off: bool = False
    """Whether what follows it is not text (an include, an image)."""

    @property
    def start(self) -> int:
        """Where its first line starts, after indentation."""
        first = self.lines[0]
        return first.start + len(first.text) - len(first.text.lstrip())

    @property
    def end(self) -> int:
        """Where its last line ends."""
        return self.lines[-1].start + len(self.lines[-1].text.rstrip())


def blocks(text: str, *, is_cut: bool = True) -> list[Block]:
    """The blocks in reading order. Headings, includes, tags, rules and images are none.

    ``is_cut`` says that the text is a part of a longer one, and so may begin inside of code.
    """
    found = _read(text, is_cut=is_cut).blocks
    return [block for block in found if any(line.text.strip() for line in block.lines)]


def headings(text: str) -> list[Heading]:
    """The Markdown headings of a passage, those inside of code left out."""
    return _read(text, is_cut=True).headings


def _read(text: str, *, is_cut: bool) -> "_Reader":
    reader = _Reader(begins_in_code=is_cut and _begins_in_code(text))
    start = 0
    for line in text.split("\n"):
        reader.read(Line(start, start + len(line), line))
        start += len(line) + 1
    return reader


def is_wordless(line: str) -> bool:
    """Whether a line holds markup and no words."""
    return bool(_WORDLESS.match(line))


def _begins_in_code(text: str) -> bool:
    """Whether a passage was cut inside of code: the first fence has no language, and only so the others match."""
    fences = [match[2] for line in text.split("\n") if (match := _FENCE.match(line))]
    if not fences or fences[0]:
        return False
    return len(fences) % 2 == 1 or bool(fences[1])


def _is_title(line: str) -> bool:
    """Whether a line of plain text is a heading: all in capitals."""
    words = line.strip()
    return words.isupper() and words.isascii() and " " in words and len(words) <= _LONGEST_TITLE and words[-1] not in ".:;|"


class _Reader:
    """Reads line by line. A block stays open until a line ends it."""

    def __init__(self, *, begins_in_code: bool) -> None:
        self._heading = ""
        self._code = Block("code", "", fence="```", is_whole=False) if begins_in_code else None
        self._open = self._code
        self.blocks: list[Block] = [self._code] if self._code else []
        self.headings: list[Heading] = []
        self._header: Line | None = None

    def read(self, line: Line) -> None:
        if self._code is not None:
            self._read_code(self._code, line)
        elif match := _FENCE.match(line.text):
            self._code = Block("code", self._heading, [line], fence=match[1] + match[2], is_whole=False)
            self._start(self._code)
        elif _BLANK.match(line.text):
            self._open = self._header = None
        elif match := _HEADING.match(line.text):
            self._heading, self._open = match[2].strip(), None
            self.headings.append(Heading(line.start, len(match[1]), self._heading))
        elif self._open is None and _is_title(line.text):
            self._heading = line.text.strip()
        elif _WORDLESS.match(line.text):
            self._skip(line)
        else:
            self._read_words(line)

    def _read_code(self, code: Block, line: Line) -> None:
        code.lines.append(line)
        words = line.text.strip()
        if not words.strip("`~") and words.startswith(code.fence.rstrip(_LANGUAGE)):
            code.is_whole = len(code.lines) > 1 and bool(_FENCE.match(code.lines[0].text))
            self._code = self._open = None

    def _skip(self, line: Line) -> None:
        self._open = None
        if self.blocks and line.text.lstrip().startswith(("{", "!", "[", "<img")):
            self.blocks[-1].is_cut_off = True

    def _read_words(self, line: Line) -> None:
        indent = len(line.text) - len(line.text.lstrip())
        if _ROW.match(line.text):
            if self._header is None:
                self._header = line
                self._open = None
            else:
                self._start(Block("row", self._heading, [line], header=self._header))
        elif _NAMED_ROW.match(line.text):
            self._start(Block("row", self._heading, [line]))
        elif match := _ITEM.match(line.text):
            self._start(Block("item", self._heading, [line], indent=indent, content=match.end()))
        elif self._open is not None and self._open.kind in ("paragraph", "item"):
            self._open.lines.append(line)
        else:
            self._start(Block("paragraph", self._heading, [line], indent=indent))

    def _start(self, block: Block) -> None:
        self.blocks.append(block)
        self._open = block
