"""Footnotes of an answer: numbered, written, with what each quotes."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.headings import heading_at
from graph.markers import Anchor, write
from graph.reasoner import Source
from graph.text import Span
from graph.turn import Citation


@dataclass(frozen=True)
class Footnote:
    """Words of a source at a place of the answer."""

    at: int
    """Place in the answer without markers."""
    source: int
    span: Span


def numbered(
    text: str, footnotes: Sequence[Footnote], anchors: Sequence[Anchor], sources: Sequence[Source]
) -> tuple[str, list[Citation]]:
    """The answer with markers that count up in order of first use; the same words keep their number."""
    by_number = {source["number"]: source for source in sources}
    given: dict[tuple[str, str, int, int], int] = {}
    citations: list[Citation] = []
    markers: dict[int, list[int]] = {}
    for footnote in sorted(footnotes, key=lambda one: one.at):
        citation = _citation(by_number[footnote.source], footnote.span)
        key = (citation["document_id"], citation["version"], citation["start"], citation["end"])
        if key not in given:
            given[key] = citation["number"] = len(given) + 1
            citations.append(citation)
        here = markers.setdefault(footnote.at, [])
        if given[key] not in here:
            here.append(given[key])
    answer, places = write(text, markers, {anchor.at: anchor for anchor in anchors})
    for citation in citations:
        citation["at"] = places[citation["number"]]
    return answer, citations


def _citation(source: Source, span: Span) -> Citation:
    passage = source["passage"]
    citation = Citation(
        number=0,
        document_id=passage["document_id"],
        passage_id=passage["passage_id"],
        title=passage["title"],
        uri=passage["uri"],
        version=passage["version"],
        start=passage["start"] + span.start,
        end=passage["start"] + span.end,
        quote=passage["text"][span.start : span.end],
        at=[],
    )
    if "page" in passage:
        citation["page"] = passage["page"]
    if heading := heading_at(passage, span.start):
        citation["heading"] = heading
    return citation
