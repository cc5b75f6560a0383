"""From picked statements to the text of an answer: in reading order, each with the marker of its source."""

import re
from collections.abc import Sequence

from graph.adapters.extractive.candidates import Candidate
from graph.adapters.extractive.choosing import Pick
from graph.blocks import is_wordless
from graph.markers import code, is_inside
from graph.text import CJK

_RELATIVE_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\((?!https?:|mailto:)[^)\s]*(?:\s+\"[^\"]*\")?\)")
_INLINE_TAG = re.compile(
    r"</?(?:abbr|dfn|small|span|kbd|details|summary|table|thead|tbody|tr|th|td|code|strong)\b[^<>]*>", re.IGNORECASE
)
_LOOKS_LIKE_A_MARKER = re.compile(r"(?<!\\)\[(\^?\d{1,3})\](?!\()")
_CJK_END = re.compile(f"[{CJK}。！？；：，、”’」』）]$")
_LINE_END = re.compile(r"[ \t]*\n[ \t]*")
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")


def rendered(picks: Sequence[Pick]) -> list[str]:
    """The paragraphs of the answer, each to be set apart by an empty line; documents in order of their best statement."""
    rank: dict[str, int] = {}
    for pick in picks:
        rank.setdefault(_document(pick.candidate), len(rank))
    ordered = sorted((pick.candidate for pick in picks), key=lambda one: (rank[_document(one)], one.start))
    paragraphs: list[str] = []
    before: Candidate | None = None
    for one in ordered:
        if before is not None and _flows(before, one):
            paragraphs[-1] += _going_on(before, one)
        else:
            paragraphs.append(_beginning(one))
        before = one
    return paragraphs


def _document(one: Candidate) -> str:
    return one.source["passage"]["document_id"]


def _flows(before: Candidate, one: Candidate) -> bool:
    """Whether one goes on in the paragraph, list or table of the other."""
    if _document(before) != _document(one) or before.statement.kind != one.statement.kind:
        return False
    same_lead = _lead(before) == _lead(one)
    if one.statement.kind == "row":
        return same_lead and bool(_lead(one))
    same_place = before.statement.heading == one.statement.heading
    return same_place and same_lead and one.statement.kind in ("paragraph", "item") and "\n\n" not in one.words


def _going_on(before: Candidate, one: Candidate) -> str:
    if one.statement.kind == "paragraph":
        return f"{'' if _CJK_END.search(before.words) else ' '}{_marked(one)}"
    return f"\n- {_BULLET.sub('', _marked(one))}" if one.statement.kind == "item" and _lead(one) else f"\n{_marked(one)}"


def _beginning(one: Candidate) -> str:
    """A statement with what it needs before it."""
    lead = _lead(one)
    match one.statement.kind:
        case "row" if lead:
            return f"{lead}\n|{'---|' * max(1, lead.count('|') - 1)}\n{_marked(one)}"
        case "item" if lead and "\n" not in lead:
            return f"{_BULLET.sub('', lead)}\n\n- {_BULLET.sub('', _marked(one))}"
        case "code" if lead:
            return f"{lead}\n\n{_marked(one)}"
    return _marked(one)


def _lead(one: Candidate) -> str:
    lead = one.statement.lead
    return _clean(one.source["passage"]["text"][lead.start : lead.end]) if lead else ""


def _marked(one: Candidate) -> str:
    """The words of a statement with the marker of their source."""
    marker, fence = f"[{one.source['number']}]", one.statement.fence
    words = f"{fence}\n{one.words}\n{fence.rstrip(_FENCE_LANGUAGE)}" if fence else _clean(one.words)
    if words.rstrip().endswith(("```", "~~~")):
        return f"{words}\n{marker}"
    if one.statement.kind == "paragraph":
        words = _LINE_END.sub(lambda match: "" if _CJK_END.search(words[: match.start()]) else " ", words)
    if words.startswith("|"):
        return f"{words.rstrip().removesuffix('|').rstrip()} {marker} |"
    return f"{words}{'' if _CJK_END.search(words) else ' '}{marker}"


_FENCE_LANGUAGE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-"


def _clean(words: str) -> str:
    """Without lines that hold no words, links that lead nowhere outside of the document, and brackets taken for markers."""
    lines = words.split("\n")
    indent = len(words) - len(words.lstrip())
    text = "\n".join(line for line in lines if not line.strip() or not is_wordless(line))[indent:]
    text = re.sub(r"\n{3,}", "\n\n", text)
    for pattern, replacement in ((_RELATIVE_LINK, r"\1"), (_INLINE_TAG, ""), (_LOOKS_LIKE_A_MARKER, r"\\[\1\\]")):
        text = _replaced(pattern, replacement, text)
    return text


def _replaced(pattern: re.Pattern[str], replacement: str, text: str) -> str:
    """Replace outside of code."""
    literal = code(text)

    def replace(match: re.Match[str]) -> str:
        return match[0] if is_inside(literal, match.start()) else match.expand(replacement)

    return pattern.sub(replace, text)
