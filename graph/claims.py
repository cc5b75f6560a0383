"""The sentences of an answer that claim something."""

import re
from collections.abc import Sequence

from graph.text import Span, sentences, terms

_CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_MARKERS = re.compile(r"(?:\s*\[\d+\])+\s*")
_BULLET = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?")
_FEWEST_TERMS = 3


def claims_of(answer: str) -> list[str]:
    """Sentences exactly as they stand in the answer, with the markers that follow them; blocks of code are left out."""
    prose = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), answer)
    spans: list[Span] = []
    for start, end in sentences(prose):
        markers = _MARKERS.match(prose, start, end)
        if markers and spans:
            spans[-1] = Span(spans[-1].start, start + len(markers[0].rstrip()))
        bullet = _BULLET.match(prose, start, end)
        spans.append(Span(markers.end() if markers else bullet.end() if bullet else start, end))
    found = (answer[start:end] for start, end in spans)
    return [sentence for sentence in found if len(terms(sentence)) >= _FEWEST_TERMS]


def without(answer: str, refuted: Sequence[str]) -> str:
    """The answer without these sentences, nor the bullets that only they stood at."""
    for sentence in refuted:
        at = answer.find(sentence)
        if at < 0:
            continue
        before, after = answer[:at], answer[at + len(sentence) :]
        line_before, line_after = before.rpartition("\n")[2], after.partition("\n")[0]
        if _BULLET.fullmatch(line_before) and not line_after.strip():
            before, after = before[: len(before) - len(line_before)], after[len(line_after) :].removeprefix("\n")
        answer = before + (after.lstrip(" ") if not before or before[-1].isspace() else after)
    return answer.strip() if refuted else answer
