"""Markers in an answer: ``[1]``, ``[1, 2]``, ``[1-3]``, ``【1】`` outside of code. Inside of code they are literals."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph.text import Span

_DIGITS = r"[0-9０-９]{1,3}"
_RANGE = rf"{_DIGITS}(?:\s*[-–—~～]\s*{_DIGITS})?"
_NAME = r"(?:(?:sources?|refs?|来源|资料|文献|出处|\^)\s*[:：#]?\s*)?"
_TAIL = r"(?:†[^\]】］\n]{0,80})?"  # gpt-oss ends its own so: 【1†L3-L5】
_MARKER = re.compile(
    rf"""
    (?<!\\)[\[【［]{{1,2}}\s*
    {_NAME}(?P<numbers>{_RANGE}(?:\s*[,，、;；]\s*{_NAME}{_RANGE})*)\s*
    {_TAIL}[\]】］]{{1,2}}
    (?!\((?:https?:|mailto:|[/\#.])|:\s)   # a link, or the definition of one
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ONE_RANGE = re.compile(_RANGE)
_NUMBER = re.compile(_DIGITS)
_LONGEST_RANGE = 20
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*(?:\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(`+)(?!`)(?:[^\n]|\n(?!\s*\n))+?(?<!`)\1(?!`)")
_FENCE_MARK = re.compile(r"[ \t]*(?:```|~~~)")
_LINE_BEGINS = re.compile(r"(?:^|\n)[ \t]*(?:[>#]+[ \t]*)*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?$")


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where markers stood in an answer."""

    at: int
    """Place in the text without markers."""
    before: str
    """White space between the words before and the markers."""
    after: str
    """White space between the markers and the words after them, where they begin a line."""
    numbers: tuple[int, ...]


def strip(answer: str) -> tuple[str, list[Anchor]]:
    """The answer without its markers, and where they were."""
    text, at = "", 0
    anchors: list[Anchor] = []
    for match in _found(answer):
        text, anchor, at = _cut(text + answer[at : match.start()], answer, match)
        if anchors and anchors[-1].at == anchor.at:
            earlier = anchors.pop()
            anchor = Anchor(anchor.at, earlier.before, earlier.after + anchor.after, earlier.numbers + anchor.numbers)
        anchors.append(anchor)
    return text + answer[at:], anchors


def _found(answer: str) -> Iterator[re.Match[str]]:
    """The markers outside of code, but for those whose going would turn other text into code."""
    literal = code(answer)
    runs: list[list[re.Match[str]]] = []
    for match in _MARKER.finditer(answer):
        if is_inside(literal, match.start()):
            continue
        if runs and not answer[runs[-1][-1].end() : match.start()].strip(" \t"):
            runs[-1].append(match)
        else:
            runs.append([match])
    for run in runs:
        before, after = answer[: run[0].start()], answer[run[-1].end() :]
        opens = _LINE_BEGINS.search(before) and _FENCE_MARK.match(after)
        joins = before.rstrip(" \t").endswith(("`", "~")) and after.startswith(("`", "~"))
        if not opens and not joins:
            yield from run


def _cut(before: str, answer: str, match: re.Match[str]) -> tuple[str, Anchor, int]:
    """The text up to a marker, the anchor in its place, and where the answer goes on."""
    numbers = tuple(_numbers(match["numbers"]))
    if _LINE_BEGINS.search(before):
        end = match.end() + len(answer[match.end() :]) - len(answer[match.end() :].lstrip(" \t"))
        return before, Anchor(len(before), "", answer[match.end() : end], numbers), end
    words = before.rstrip(" \t")
    return words, Anchor(len(words), before[len(words) :], "", numbers), match.end()


def _numbers(text: str) -> Iterator[int]:
    for match in _ONE_RANGE.finditer(text):
        ends = [int(number) for number in _NUMBER.findall(match[0])]
        yield from range(ends[0], min(ends[-1], ends[0] + _LONGEST_RANGE) + 1)


def write(text: str, markers: Mapping[int, Sequence[int]], anchors: Mapping[int, Anchor]) -> tuple[str, dict[int, list[int]]]:
    """The text with markers at these places, and where each number's markers start.

    ``markers`` are numbers by place; ``anchors`` give the white space that was around markers there.
    """
    written, at = "", 0
    places: dict[int, list[int]] = {}
    for place in sorted(markers):
        anchor = anchors.get(place)
        written += text[at:place] + (anchor.before if anchor else _space_after(text[:place]))
        for number in markers[place]:
            places.setdefault(number, []).append(len(written))
            written += f"[{number}]"
        written += anchor.after if anchor else ""
        at = place
    return written + text[at:], places


def _space_after(text: str) -> str:
    """What stands before a marker that nobody wrote: a space where words have spaces."""
    return " " if text[-1:].isascii() and text[-1:].strip() else ""


def code(text: str) -> list[Span]:
    """Blocks of code and code within lines, in order."""
    fenced = [Span(*match.span()) for match in _FENCED.finditer(text)]
    prose = _FENCED.sub(lambda match: "\n" * len(match[0]), text)  # no code within lines reaches over an empty one
    return sorted([*fenced, *(Span(*match.span()) for match in _INLINE.finditer(prose))])


def is_inside(spans: Sequence[Span], place: int) -> bool:
    """Whether a place lies in one of the spans, which are in order and apart."""
    index = bisect_right(spans, place, key=lambda span: span.start) - 1
    return index >= 0 and place < spans[index].end
