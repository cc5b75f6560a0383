"""Markdown: its source is the extracted text, so that code, tables and links stay what they are."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from graph.metadata import GROUPS, groups_of, typed
from ingestion.parsed import Block, BlockKind, Parsed, complete, first_heading

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading", "paragraph_open": "paragraph", "fence": "code", "code_block": "code",
    "html_block": "paragraph", "table_open": "table",
}  # fmt: skip
_LONGEST_TITLE = 500
_ANCHOR = re.compile(r"\s*\{[^{}]*#[^{}]*\}\s*$")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_EMPHASIS = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_CODE = re.compile(r"(`+)(.+?)\1")
_MARKDOWN = MarkdownIt("commonmark").enable("table").disable("inline")  # the blocks are all that is wanted


def parse(text: str) -> Parsed:
    """Parse Markdown."""
    front = _FRONT_MATTER.match(text)
    fields = _front_matter(front[1]) if front else {}
    body = text[front.end() :] if front else text
    blocks = complete(body, list(_blocks(body)))
    groups = fields.pop(GROUPS, None)
    meta, _ = typed({name: value for name, value in fields.items() if isinstance(value, str)})
    meta |= {name: value for name, value in fields.items() if isinstance(value, list)}
    return Parsed(
        text=body,
        blocks=blocks,
        title=str(meta.pop("title", "")) or first_heading(blocks),
        meta=meta,
        groups=None if groups is None else groups_of(groups),
    )


def _front_matter(source: str) -> dict[str, str | list[str]]:
    """Its texts and lists of texts; everything deeper is for other programs."""
    try:  # the base loader makes texts only: no dates, no code, no 12:30 that becomes 750
        fields: Any = yaml.load(source, Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        return {}
    if not isinstance(fields, dict):
        return {}
    return {str(name): value for name, value in fields.items() if _is_flat(value)}


def _is_flat(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _blocks(text: str) -> Iterator[Block]:
    starts = _line_starts(text)
    at = 0
    for token in _MARKDOWN.parse(text):
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None:
            continue
        first, last = token.map
        start, end = starts[first], starts[min(last, len(starts) - 1)]
        if start < at or not text[start:end].strip():
            continue  # a paragraph inside of a table's cell, for example
        at = end
        yield _block(token, kind, text, start, end)


def _line_starts(text: str) -> Sequence[int]:
    starts = [0, *(match.end() for match in re.finditer(r"\n", text))]
    return [*starts, len(text)]


def _block(token: Token, kind: BlockKind, text: str, start: int, end: int) -> Block:
    if kind == "heading" and token.level == 0:
        return Block("heading", start, end, level=int(token.tag[1:]), title=_title(text[start:end]))
    if kind in ("heading", "paragraph") and token.level > 0:
        return Block("item", start, end)
    return Block(kind, start, end)


def _title(source: str) -> str:
    """The words of a heading: without marks, anchors (``{ #name }``), emphasis, links and tags."""
    lines = source.strip()[:_LONGEST_TITLE].split("\n")
    if len(lines) > 1 and set(lines[-1].strip()) <= {"=", "-"}:
        lines.pop()
    words = re.sub(r"^#{1,6}(?:\s+|$)|(?:^|\s+)#+\s*$", "", " ".join(line.strip() for line in lines))
    words = _LINK.sub(r"\1", _ANCHOR.sub("", words))
    words = _CODE.sub(r"\2", _EMPHASIS.sub(r"\2", _TAG.sub("", words)))
    return " ".join(words.split())
