"""Whether every footnote of a turn holds: checked against what ``/documents/{id}/passages`` says, through HTTP alone."""

import re

from tests.e2e.client import Client, Json

_MARKER = re.compile(r"\[(\d+)\]")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_UNSEEN = "\0"  # between passages lies white space that no passage holds


def assert_footnotes_hold(client: Client, turn: Json) -> None:
    """Markers and citations belong together one to one, and every quote stands in the extracted text at its place."""
    _assert_numbering(turn)
    for citation in turn["citations"]:
        _assert_quote(client, citation)


def _assert_numbering(turn: Json) -> None:
    answer, citations = turn["answer"], turn["citations"]
    assert [citation["number"] for citation in citations] == list(range(1, len(citations) + 1)), "numbers have gaps"
    firsts = [citation["at"][0] for citation in citations]
    assert firsts == sorted(firsts), "numbers are not in order of first use"
    said = {at: citation["number"] for citation in citations for at in citation["at"]}
    for at, number in said.items():
        assert answer.startswith(f"[{number}]", at), f"no marker [{number}] at {at} of {answer!r}"
    code = [match.span() for match in _CODE.finditer(answer)]
    for match in _MARKER.finditer(answer):
        literal = any(start <= match.start() < end for start, end in code)
        assert literal or match.start() in said, f"{match[0]} at {match.start()} leads nowhere in {answer!r}"


def _assert_quote(client: Client, citation: Json) -> None:
    passages = client.passages(citation["document_id"])
    text = rebuilt(passages)
    start, end = citation["start"], citation["end"]
    assert start < end, "an empty quote"
    assert citation["quote"] == text[start:end], f"{citation['quote']!r} != {text[start:end]!r}"
    (passage,) = (passage for passage in passages if passage["passage_id"] == citation["passage_id"])
    assert passage["start"] <= start, "the quote begins before its passage"
    assert end <= passage["end"], "the quote ends after its passage"
    document = client.json("GET", f"/documents/{citation['document_id']}")
    for name in ("title", "uri", "version"):
        assert citation[name] == document[name]


def rebuilt(passages: list[Json]) -> str:
    """The extracted text, laid together from passages that overlap; where two hold the same place they must agree."""
    characters = [_UNSEEN] * max((passage["end"] for passage in passages), default=0)
    for passage in passages:
        assert len(passage["text"]) == passage["end"] - passage["start"]
        for at, character in enumerate(passage["text"], passage["start"]):
            assert characters[at] in (_UNSEEN, character), f"passages disagree about character {at}"
            characters[at] = character
    return "".join(characters)
