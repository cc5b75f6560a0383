"""Passages as numbered sources: merged over queries and rounds, and cut to a share of the prompt."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest

from graph.reasoner import Source
from graph.retrieval import Found
from graph.state import State

_MOST_NEW = 12


def numbered(found: Iterable[Found], *, after: int = 0) -> list[Source]:
    """Sources with numbers that go on after ``after``."""
    return [
        Source(number=number, passage=one.passage, score=one.score, coverage=one.coverage, cosine=one.cosine)
        for number, one in enumerate(found, start=after + 1)
    ]


def merged(lists: Sequence[Sequence[Found]], seen: frozenset[str]) -> list[Found]:
    """Passages not seen yet, each once: the best of every query first, so that none of them is crowded out."""
    unseen: dict[str, Found] = {}
    for one in chain.from_iterable(zip_longest(*lists)):
        if one is not None and one.passage["passage_id"] not in seen:
            unseen.setdefault(one.passage["passage_id"], one)
    return list(unseen.values())[:_MOST_NEW]


def rescored(sources: Sequence[Source], lists: Sequence[Sequence[Found]]) -> list[Source]:
    """Known sources with the best scores that any query gave them: other words for a question may hit what it missed."""
    again: dict[str, list[Found]] = {}
    for one in chain.from_iterable(lists):
        again.setdefault(one.passage["passage_id"], []).append(one)
    return [_rescored(source, again.get(source["passage"]["passage_id"], [])) for source in sources]


def _rescored(source: Source, again: Sequence[Found]) -> Source:
    return Source(
        number=source["number"],
        passage=source["passage"],
        score=max([source["score"], *(one.score for one in again)]),
        coverage=max([source["coverage"], *(one.coverage for one in again)]),
        cosine=max([source["cosine"], *(one.cosine for one in again)]),
    )


def useful(state: State) -> list[Source]:
    """Sources that were not judged irrelevant; those judged relevant first."""
    verdicts = state["grade"]["verdicts"]
    kept = [source for source in state["sources"] if verdicts.get(source["passage"]["passage_id"]) != "irrelevant"]
    return sorted(kept, key=lambda source: verdicts.get(source["passage"]["passage_id"]) == "partial")


def within(sources: Sequence[Source], tokens: int, sizes: Mapping[str, int]) -> list[Source]:
    """As many sources, from the first, as fit in ``tokens``; at least one."""
    kept: list[Source] = []
    left = tokens
    for source in sources:
        left -= sizes[source["passage"]["passage_id"]]
        if kept and left < 0:
            break
        kept.append(source)
    return kept
