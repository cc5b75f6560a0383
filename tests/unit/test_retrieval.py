"""Waves of queries over fakes of the two ports: fusion, near-duplicates, arms that are down, neighbours."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from graph.duplicates import says_nothing_new
from graph.errors import IndexUnavailable, Unavailable
from graph.filters import Condition, parse
from graph.fusion import Found, Fusion, fuse
from graph.ports import Access, ArmHits, Calibration, IndexQuery, Passage, Scored
from graph.retrieval import Retriever, Wave, indexed_text, nearest

ACCESS = Access(tenant="t")
E5 = Calibration(random_mean=0.83, random_std=0.02)
LEAVE = "Leave is granted for 25 days a year, and what is left over at the end of the year can be taken until March."
TEXTS = {
    "leave": LEAVE,
    "trips": "Trips are approved by the head of the department before they are booked, and never afterwards.",
    "museum": "The museum shows tools of the stone age, found while the tunnel below the river was dug.",
    "code": "Error E-4711 says that the drum is locked: open the flap and turn the wheel to the left.",
    "报销": "国内出差的报销期限是三十天，发票必须齐全，逾期不予受理。",
}


def passage(name: str, text: str | None = None, *, ordinal: int = 0, start: int = 0, document: str = "") -> Passage:
    text = TEXTS.get(name, name) if text is None else text
    return Passage(
        passage_id=name, document_id=document or name, version="1", ordinal=ordinal, title="", path=f"{name}.md", uri="",
        start=start, end=start + len(text), text=text, meta={},
    )  # fmt: skip


def arm(**scores: float) -> list[Scored]:
    return [Scored(passage=passage(name), score=score) for name, score in sorted(scores.items(), key=lambda one: -one[1])]


def order(found: Sequence[Found]) -> list[str]:
    return [one.passage["passage_id"] for one in found]


class Embedder:
    """Vectors of no meaning, or none at all."""

    model, dimensions, max_tokens, calibration = "fake", 2, 512, E5

    def __init__(self, *, is_down: bool = False) -> None:
        self.is_down = is_down
        self.calls: list[tuple[Sequence[str], str]] = []

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> NDArray[np.float32]:
        if self.is_down:
            raise Unavailable("down")
        self.calls.append((texts, kind))
        return np.ones((len(texts), 2), np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if self.is_down:
            raise Unavailable("down")
        return [len(text.split()) for text in texts]

    async def warm(self) -> None: ...


class Index:
    """Hits as they were given; what a test does not need is missing."""

    def __init__(self, *hits: ArmHits, document: Sequence[Passage] = ()) -> None:
        self.hits = list(hits)
        self.document = document
        self.searches: list[dict[str, Any]] = []

    async def search(
        self, queries: Sequence[IndexQuery], access: Access, *, filters: Sequence[Condition] = (), size: int = 20
    ) -> list[ArmHits]:
        self.searches.append({"queries": queries, "access": access, "filters": filters, "size": size})
        if not self.hits:
            raise IndexUnavailable("gone")
        return self.hits

    async def known_fields(self, access: Access) -> set[str]:
        assert access == ACCESS
        return {"path", "title", "year"}

    async def neighbours(
        self, passages: Sequence[Passage], access: Access, *, before: int = 1, after: int = 1
    ) -> list[Passage]:
        assert access == ACCESS
        around = {one["ordinal"] + step for one in passages for step in range(-before, after + 1)}
        return [one for one in self.document if one["ordinal"] in around]


async def search(
    index: Index, *queries: str, embedder: Embedder | None = None, fusion: Fusion = "absolute", **rest: Any
) -> Wave:
    retriever = Retriever(embedder=embedder or Embedder(), index=index, fusion=fusion)  # type: ignore[arg-type]  # a part of it
    return await retriever.search(queries or ("question",), ACCESS, **rest)


# --- fusion -----------------------------------------------------------------------------------------------------------


def test_a_passage_is_scored_by_cosine_and_its_share_of_the_ceiling() -> None:
    hits = ArmHits(bm25=arm(leave=5.0, trips=2.0), knn=arm(leave=0.86, trips=0.84), ceiling=10.0)

    leave, trips = fuse(hits, E5, size=20)

    assert (leave.score, leave.coverage, leave.cosine) == pytest.approx((0.86 + 0.15 * 0.5, 0.5, 0.86))
    assert (leave.bm25, leave.knn) == ((1, 5.0), (1, 0.86))
    assert (trips.bm25, trips.knn) == ((2, 2.0), (2, 0.84))


def test_a_passage_that_one_arm_missed_gets_the_last_score_of_that_arm() -> None:
    hits = ArmHits(bm25=arm(leave=5.0, trips=4.0), knn=arm(museum=0.86, code=0.84), ceiling=10.0)

    found = {one.passage["passage_id"]: one for one in fuse(hits, E5, size=2)}

    assert found["leave"].cosine == 0.84
    assert found["museum"].coverage == pytest.approx(0.4)
    assert (found["leave"].knn, found["museum"].bm25) == (None, None)


def test_a_bm25_list_that_is_not_full_has_found_everything_there_is() -> None:
    hits = ArmHits(bm25=arm(leave=5.0, trips=4.0), knn=arm(museum=0.86), ceiling=10.0)

    assert {one.passage["passage_id"]: one.coverage for one in fuse(hits, E5, size=20)}["museum"] == 0


def test_coverage_is_at_most_one_and_needs_a_ceiling() -> None:
    beyond = ArmHits(bm25=arm(leave=12.0), knn=[], ceiling=10.0)
    without = ArmHits(bm25=[], knn=arm(leave=0.9), ceiling=0.0)

    assert [fuse(hits, E5, size=20)[0].coverage for hits in (beyond, without)] == [1.0, 0.0]


def test_where_vectors_tell_nothing_terms_decide() -> None:
    noise = arm(museum=0.834, trips=0.832, leave=0.831, code=0.829)
    hits = ArmHits(bm25=arm(code=9.0, museum=1.0), knn=noise, ceiling=12.0)

    assert order(fuse(hits, E5, size=20))[0] == "code"


def test_where_terms_tell_nothing_vectors_decide() -> None:
    hits = ArmHits(bm25=arm(museum=0.5, trips=0.4), knn=arm(报销=0.87, museum=0.80, trips=0.79), ceiling=20.0)

    assert order(fuse(hits, E5, size=20))[0] == "报销"
    assert order(fuse(hits, E5, size=20, fusion="rrf"))[0] == "museum"


def test_terms_weigh_more_where_the_cosines_of_an_embedder_spread_more() -> None:
    hits = ArmHits(bm25=arm(leave=8.0), knn=arm(trips=0.5, leave=0.3), ceiling=10.0)

    assert order(fuse(hits, Calibration(random_mean=0.1, random_std=0.02), size=20))[0] == "trips"
    assert order(fuse(hits, Calibration(random_mean=0.1, random_std=0.1), size=20))[0] == "leave"


def test_reciprocal_ranks_add_up_over_the_arms() -> None:
    hits = ArmHits(bm25=arm(leave=5.0, trips=4.0), knn=arm(trips=0.9, museum=0.8), ceiling=10.0)

    found = {one.passage["passage_id"]: one.score for one in fuse(hits, E5, size=20, fusion="rrf")}

    assert found == pytest.approx({"leave": 1 / 61, "trips": 1 / 61 + 1 / 62, "museum": 1 / 62})


# --- near-duplicates --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "nothing_new"),
    [
        (LEAVE, True),
        (LEAVE.upper() + " !", True),
        (LEAVE.partition(",")[0] + ".", True),
        (LEAVE.replace("granted", "given"), True),
        (LEAVE.replace("25", "30"), False),
        (LEAVE + " " + TEXTS["trips"], False),
        (TEXTS["trips"], False),
        ("Leave", False),
    ],
)
def test_a_text_that_another_one_contains_says_nothing_new(text: str, nothing_new: bool) -> None:  # noqa: FBT001  # a parameter
    assert says_nothing_new(passage("copy", text), passage("leave")) is nothing_new


def test_another_number_is_news_in_chinese_too() -> None:
    assert not says_nothing_new(passage("copy", TEXTS["报销"].replace("三十", "六十")), passage("报销"))
    assert says_nothing_new(passage("copy", TEXTS["报销"].replace("，", "、")), passage("报销"))


@pytest.mark.parametrize(("start", "nothing_new"), [(0, True), (40, True), (80, False), (500, False)])
def test_spans_of_one_document_may_overlap_by_less_than_half(start: int, nothing_new: bool) -> None:  # noqa: FBT001  # a parameter
    one = passage("one", LEAVE, document="d")
    other = passage("other", LEAVE, document="d", start=start)

    assert says_nothing_new(other, one) is nothing_new


async def test_near_duplicates_make_room_for_what_comes_next() -> None:
    copy = Scored(passage=passage("copy", LEAVE), score=0.88)
    hits = ArmHits(bm25=[], knn=[*arm(leave=0.89), copy, *arm(trips=0.87, museum=0.86)], ceiling=0)

    wave = await search(Index(hits), size=3)

    assert order(wave.passages[0]) == ["leave", "trips", "museum"]


# --- waves ------------------------------------------------------------------------------------------------------------


async def test_a_wave_is_embedded_at_once_and_searched_at_once() -> None:
    embedder, index = Embedder(), Index(*[ArmHits(bm25=[], knn=arm(leave=0.9), ceiling=0)] * 2)

    wave = await search(index, "first", "second", embedder=embedder, document_id="d", exclude=frozenset({"x"}))

    assert embedder.calls == [(("first", "second"), "query")]
    (call,) = index.searches
    assert [(q.text, q.document_id, q.exclude) for q in call["queries"]] == [(text, "d", {"x"}) for text in ("first", "second")]
    assert (call["access"], call["size"]) == (ACCESS, 20)
    assert [order(found) for found in wave.passages] == [["leave"], ["leave"]]
    assert wave.hits == index.hits


async def test_more_passages_than_arms_are_deep_make_them_deeper() -> None:
    index = Index(ArmHits(bm25=[], knn=[], ceiling=0))

    await search(index, size=50)

    assert index.searches[0]["size"] == 50


async def test_no_queries_are_no_search() -> None:
    index = Index()

    wave = await Retriever(embedder=Embedder(), index=index).search([], ACCESS)  # type: ignore[arg-type]  # a part of it

    assert (wave.passages, wave.hits, index.searches) == ([], [], [])


async def test_without_the_embedder_terms_answer_and_it_is_said() -> None:
    index = Index(ArmHits(bm25=arm(leave=5.0, trips=2.0), knn=[], ceiling=10.0))

    wave = await search(index, embedder=Embedder(is_down=True))

    assert [query.vector for query in index.searches[0]["queries"]] == [None]
    assert order(wave.passages[0]) == ["leave", "trips"]
    assert (wave.degraded, wave.passages[0][0].cosine) == (["embedder"], 0)


@pytest.mark.parametrize("down", ["bm25", "knn"])
async def test_without_an_arm_the_other_answers_and_it_is_said(down: Literal["bm25", "knn"]) -> None:
    arms = {"bm25": arm(leave=5.0), "knn": arm(leave=0.9)} | {down: []}
    ceiling = 0.0 if down == "bm25" else 10.0

    wave = await search(Index(ArmHits(bm25=arms["bm25"], knn=arms["knn"], ceiling=ceiling, degraded=[down])))

    assert (order(wave.passages[0]), wave.degraded) == (["leave"], [down])


async def test_an_index_that_is_gone_is_no_empty_result() -> None:
    with pytest.raises(IndexUnavailable):
        await search(Index())


async def test_an_unknown_field_finds_nothing_and_names_the_known_ones() -> None:
    index = Index(ArmHits(bm25=arm(leave=5.0), knn=[], ceiling=10.0))

    wave = await search(index, "a", "b", filters=parse({"yaer": {"exists": False}, "year": 2024}))

    assert (wave.passages, index.searches) == ([[], []], [])
    assert [hits.query for hits in wave.hits] == ["a", "b"]
    (warning,) = wave.warnings
    assert all(name in warning for name in ("yaer", "path", "title", "year"))


async def test_a_known_field_is_passed_on() -> None:
    index = Index(ArmHits(bm25=arm(leave=5.0), knn=[], ceiling=10.0))

    wave = await search(index, filters=parse({"year": 2024}))

    assert (len(wave.passages[0]), wave.warnings) == (1, [])
    assert index.searches[0]["filters"] == parse({"year": 2024})


# --- neighbours -------------------------------------------------------------------------------------------------------

DOCUMENT = [passage(f"p{n}", "one two three four", ordinal=n, document="d") for n in range(10)]


def retriever(embedder: Embedder | None = None) -> Retriever:
    return Retriever(embedder=embedder or Embedder(), index=Index(document=DOCUMENT))  # type: ignore[arg-type]  # a part of it


async def test_what_stands_around_passages_comes_in_their_order() -> None:
    around = await retriever().around([DOCUMENT[7], DOCUMENT[2]], ACCESS)

    assert [one["passage_id"] for one in around] == ["p6", "p8", "p1", "p3"]


async def test_a_passage_between_two_chosen_ones_comes_once_and_those_never() -> None:
    around = await retriever().around([DOCUMENT[4], DOCUMENT[2], DOCUMENT[1]], ACCESS)

    assert [one["passage_id"] for one in around] == ["p3", "p5", "p0"]


def test_beside_is_what_touches_in_one_document() -> None:
    chosen = [DOCUMENT[7], DOCUMENT[2]]
    other = passage("elsewhere", ordinal=7, document="e")

    assert [nearest(one, chosen) for one in (DOCUMENT[8], DOCUMENT[2], DOCUMENT[4], other)] == [0, 1, 2, 2]


async def test_sizes_are_estimated_without_the_embedder() -> None:
    assert await retriever().sizes(DOCUMENT[:2]) == [4, 4]
    assert await retriever(Embedder(is_down=True)).sizes(DOCUMENT[:2]) == [12, 12]


# --- what is indexed --------------------------------------------------------------------------------------------------


def test_a_passage_is_indexed_under_its_title_and_headings() -> None:
    one = passage("one", "text")

    assert indexed_text(one) == "text"
    assert indexed_text({**one, "title": "Title"}) == "Title\ntext"
    assert indexed_text({**one, "title": "Title", "heading": "A > B"}) == "Title\nA > B\ntext"
