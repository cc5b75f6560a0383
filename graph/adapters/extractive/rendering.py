"""From picked statements to the text of an answer: in reading order, each with the marker of its source."""

import re
from collections.abc import Sequence

from graph.adapters.extractive.candidates import Candidate
from graph.adapters.extractive.picking import Pick
from graph.blocks import is_wordless
from graph.markers import code, is_inside
from graph.text import CJK

_RELATIVE_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\((?!https?:|mailto:)[^)\s]*(?:\s+\"[^\"]*\")?\)")
_INLINE_TAG = re.compile(
    r"</?(?:abbr|dfn|small|span|kbd|details|summary|table|thead|tbody|tr|th|td|code|strong)\b[^<>]*>", re.IGNORECASE
)
_LOOKS_LIKE_A_MARKER = re.compile(r"(?<!\\)\[(\^?\d{1,3})\](?!\()")
_CJK_END = re.compile(f"[{CJK}。！？；：，、”’」』）]$")
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")


def rendered(picks: Sequence[Pick]) -> list[str]:
    """The paragraphs of the answer, each to be set apart by an empty line; documents in order of their best statement."""
    rank: dict[str, int] = {}
    for pick in picks:
        rank.setdefault(pick.candidate.source["passage"]["document_id"], len(rank))
    ordered = sorted((pick.candidate for pick in picks), key=lambda one: (rank[_document(one)], one.start))
    paragraphs: list[str] = []
    before: Candidate | None = None
    for one in ordered:
        text = _with_marker(one, is_lead_shown=before is None or before.statement.lead != one.statement.lead)
        if before is not None and _document(before) == _document(one) and _flows(before, one):
            paragraphs[-1] = _joined(paragraphs[-1], text, one)
        else:
            paragraphs.append(text)
        before = one
    return paragraphs


def _document(one: Candidate) -> str:
    return one.source["passage"]["document_id"]


def _flows(before: Candidate, one: Candidate) -> bool:
    """Whether one goes on in the paragraph or list of the other."""
    kinds = (before.statement.kind, one.statement.kind)
    same_place = before.statement.heading == one.statement.heading
    return same_place and kinds in (("paragraph", "paragraph"), ("item", "item")) and "\n" not in one.words.strip()


def _joined(paragraph: str, text: str, one: Candidate) -> str:
    if one.statement.kind == "item":
        return f"{paragraph}\n{text}"
    return f"{paragraph}{'' if _CJK_END.search(one.words) else ' '}{text}"


def _with_marker(one: Candidate, *, is_lead_shown: bool) -> str:
    text = one.source["passage"]["text"]
    statement = one.statement
    words = (
        f"{statement.fence}\n{one.words}\n{statement.fence.rstrip(_FENCE_LANGUAGE)}" if statement.fence else _clean(one.words)
    )
    marker = f"[{one.source['number']}]"
    lead = _clean(text[statement.lead.start : statement.lead.end]) if statement.lead and is_lead_shown else ""
    match statement.kind:
        case "code":
            return "\n".join(filter(None, [lead, words, marker]))
        case "row" if words.startswith("|"):
            rule = "|" + "---|" * max(1, words.count("|") - 1)
            row = words.rstrip().removesuffix("|").rstrip()
            return "\n".join(filter(None, [lead, rule if lead else "", f"{row} {marker} |"]))
        case "item" if lead and "\n" not in lead:
            lead = _BULLET.sub("", lead)
            return f"{lead}\n\n- {_BULLET.sub('', words)} {marker}"
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
