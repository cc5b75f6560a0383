"""What a passage says, piece by piece: sentences, list items, table rows, code. Answers quote them, footnotes show them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from graph.blocks import Block, blocks
from graph.blocks import Kind as BlockKind
from graph.text import Span, sentences

Kind = Literal["paragraph", "item", "row", "code", "lines"]
_WORD = re.compile(r"\w")
_LEADS_ON = re.compile(r"[:：][*_`\s]*$")
_ENDS = re.compile(r"[.!?。！？:：;；][*_`)\]\"'”’」』）\s]*$")
_CJK_TAIL = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af，、]\s*$")
_NO_PLACE_TO_END = re.compile(r"`[^`\n]+`|\]\([^)\s]*\)|https?://[^\s)\]>]*[^\s)\]>.,;:!?]|<[A-Za-z/][^<>\n]*>")
_WRAPPED_FROM, _WRAPPED_FROM_CJK = 50, 25  # an editor wraps no line that is shorter
_LONGEST_GROUP = 600  # a list or code that is one statement together with the sentence that leads up to it
_LONGEST_ITEM = 300
_LONGEST_CODE = 800


@dataclass(frozen=True, slots=True)
class Statement:
    """Code points ``start`` to ``end`` of a passage that can stand in an answer."""

    start: int
    end: int
    kind: Kind
    heading: str = ""
    """The nearest heading above it inside of the passage."""
    lead: Span | None = None
    """What it needs before it to make sense: the sentence before its list, the item above, the header of its table."""
    fence: str = ""
    """Of a part of a code block: the fence that an answer puts around it."""


def statements(text: str) -> list[Statement]:
    """The statements of a passage in reading order; they may overlap where a list counts whole and by item."""
    return [one for one in _statements(text, blocks(text)) if _WORD.search(text, one.start, one.end)]


def pieces(text: str, *, is_cut: bool = True) -> list[Span]:
    """The finest parts of a text that can be quoted, in order and apart: sentences, rows, blocks of code."""
    found: list[Span] = []
    for block in blocks(text, is_cut=is_cut):
        if block.kind in ("paragraph", "item"):
            found += _sentences(text, block)
        else:
            found.append(Span(block.start, block.end))
    return [span for span in found if _WORD.search(text, span.start, span.end)]


def _statements(text: str, all_blocks: Sequence[Block]) -> Iterator[Statement]:
    at = 0
    while at < len(all_blocks):
        block = all_blocks[at]
        end = at + 1
        if block.kind == "paragraph":
            if _is_made_of_lines(block):
                yield Statement(block.start, block.end, "lines", block.heading)
                at = end
                continue
            spans = _sentences(text, block)
            leads = bool(_LEADS_ON.search(text, spans[-1].start, spans[-1].end))
            for span in spans[:-1] if leads else spans:
                yield Statement(*span, "paragraph", block.heading)
            if leads:
                end = _group_end(all_blocks, at)
                yield from _led(text, spans[-1], block, all_blocks[at + 1 : end])
        elif block.kind == "item":
            end = _run_end(all_blocks, at, "item")
            if _are_steps(all_blocks[at:end]):
                yield Statement(block.start, all_blocks[end - 1].end, "item", block.heading)
            else:
                yield from _items(text, all_blocks[at:end], None)
        else:
            yield from _single(text, block)
        at = end


def _is_made_of_lines(block: Block) -> bool:
    """Whether it is no prose but short lines, such as an address or a list without marks."""
    lines = [line.text.strip() for line in block.lines]
    few = block.end - block.start <= _LONGEST_ITEM
    return len(lines) > 1 and few and all(len(line) < _WRAPPED_FROM and not _ENDS.search(line) for line in lines)


def _are_steps(items: Sequence[Block]) -> bool:
    """Whether it is a short procedure, of which one step alone says little."""
    short = items[-1].end - items[0].start <= _LONGEST_GROUP
    return len(items) > 1 and short and items[0].lines[0].text.lstrip()[0].isdigit()


def _group_end(all_blocks: Sequence[Block], at: int) -> int:
    """The end of what a sentence that ends in a colon leads up to."""
    after = all_blocks[at + 1] if at + 1 < len(all_blocks) and not all_blocks[at].is_cut_off else None
    if after is None or after.heading != all_blocks[at].heading or after.kind == "paragraph":
        return at + 1
    return at + 2 if after.kind == "code" else _run_end(all_blocks, at + 1, after.kind)


def _run_end(all_blocks: Sequence[Block], at: int, kind: BlockKind) -> int:
    end = at
    while end < len(all_blocks) and all_blocks[end].kind == kind and all_blocks[end].heading == all_blocks[at].heading:
        end += 1
    return end


def _led(text: str, lead: Span, block: Block, followers: Sequence[Block]) -> Iterator[Statement]:
    """A sentence that ends in a colon, with what follows it: as one statement where that is short."""
    if not followers:
        if not block.is_cut_off:  # what it announces is missing
            yield Statement(*lead, "paragraph", block.heading)
    elif followers[-1].end - lead.start <= _LONGEST_GROUP and followers[-1].is_whole:
        yield Statement(lead.start, followers[-1].end, followers[0].kind, block.heading)
    elif followers[0].kind == "item":
        yield from _items(text, followers, lead)
    else:
        for follower in followers:
            yield from _single(text, follower, lead)


def _items(text: str, items: Sequence[Block], lead: Span | None) -> Iterator[Statement]:
    """List items; one with the items below it as one statement where that is short."""
    above: list[Block] = []
    at = 0
    while at < len(items):
        item = items[at]
        while above and above[-1].indent >= item.indent:
            above.pop()
        end = at + 1
        while end < len(items) and items[end].indent > item.indent:
            end += 1
        parent = Span(above[-1].start, above[-1].end) if above else lead
        if items[end - 1].end - item.start <= _LONGEST_ITEM:
            yield Statement(item.start, items[end - 1].end, "item", item.heading, parent)
            at = end
        else:
            yield from _long_item(text, item, parent)
            above.append(item)
            at += 1


def _long_item(text: str, item: Block, lead: Span | None) -> Iterator[Statement]:
    if item.end - item.start <= _LONGEST_ITEM:
        yield Statement(item.start, item.end, "item", item.heading, lead)
    else:
        for span in _sentences(text, item):
            yield Statement(*span, "paragraph", item.heading)


def _single(text: str, block: Block, lead: Span | None = None) -> Iterator[Statement]:
    if block.kind == "row":
        header = block.header
        yield Statement(block.start, block.end, "row", block.heading, Span(header.start, header.end) if header else lead)
    elif block.is_whole and block.end - block.start <= _LONGEST_CODE:
        yield Statement(block.start, block.end, "code", block.heading, lead)
    else:
        yield from (Statement(*span, "code", block.heading, lead, block.fence) for span in _code_parts(text, block))


def _code_parts(text: str, block: Block) -> Iterator[Span]:
    """The inside of code that is long or cut off, cut at empty lines."""
    inner = [line for line in block.lines if not line.text.lstrip().startswith(("```", "~~~"))]
    run: list[int] = []
    for line in inner:
        run += [line.start, line.end]
        if line.end - run[0] > _LONGEST_GROUP or not line.text.strip():
            if text[run[0] : line.end].strip():
                yield Span(run[0], line.end)
            run = []
    if run and text[run[0] : run[-1]].strip():
        yield Span(run[0], run[-1])


def _sentences(text: str, block: Block) -> list[Span]:
    """Sentences of a block of words. Lines that an editor wrapped are read on; other line ends end a sentence."""
    start = block.start if block.kind == "paragraph" else block.lines[0].start + block.content
    joined = text[start : block.end]
    for line in block.lines[:-1]:
        wrapped_from = _WRAPPED_FROM_CJK if _CJK_TAIL.search(line.text) else _WRAPPED_FROM
        if len(line.text) >= wrapped_from and not _ENDS.search(line.text):
            joined = f"{joined[: line.end - start]} {joined[line.end - start + 1 :]}"
    masked = _NO_PLACE_TO_END.sub(lambda match: "x" * len(match[0]), joined)
    return [Span(start + span.start, start + span.end) for span in sentences(masked)]
