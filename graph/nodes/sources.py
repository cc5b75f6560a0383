"""Passages as numbered sources: merged over queries and rounds, and cut to a share of the prompt."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest

from graph.ports import Passage
from graph.reasoner import Source
from graph.retrieval import Found, nearest
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


def beside(passages: Sequence[Passage], sources: Sequence[Source], known: Sequence[Source], *, after: int) -> list[Source]:
    """Neighbours as sources without a score, those of earlier rounds before new ones; what is a source itself is none."""
    found = {source["passage"]["passage_id"] for source in sources}
    kept = [source for source in known if source["passage"]["passage_id"] not in found]
    found |= {source["passage"]["passage_id"] for source in kept}
    new = [passage for passage in passages if passage["passage_id"] not in found]
    return kept + [
        Source(number=number, passage=passage, score=0.0, coverage=0.0, cosine=0.0)
        for number, passage in enumerate(new, start=after + 1)
    ]


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


def with_around(sources: Sequence[Source], around: Sequence[Source], tokens: int, sizes: Mapping[str, int]) -> list[Source]:
    """As many sources as fit, and in what they leave their neighbours, each in reading order with the source it is beside."""
    passages = [source["passage"] for source in sources]
    places = {source["number"]: nearest(source["passage"], passages) for source in (*sources, *around)}
    wanted = [source for source in around if places[source["number"]] < len(sources)]
    wanted.sort(key=lambda source: places[source["number"]])
    kept = within([*sources, *wanted], tokens, sizes)
    return sorted(kept, key=lambda source: (places[source["number"]], source["passage"]["ordinal"]))
