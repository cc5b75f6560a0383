"""What every `PassageIndex` does. Another adapter is one more parameter of the fixture."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from graph.adapters.sqlite_index import SQLiteIndex
from graph.errors import InvalidSetting, NotFound
from graph.filters import parse
from graph.ports import Access, ArmHits, IndexQuery, MetaValue, PassageIndex
from tests.contract.passages import ACCESS, DIMENSIONS, MODEL, document, found, passages_of, publish, stage, vector

TEXTS = [
    "Expenses are refunded within 30 days of the trip.",
    "国内出差的报销期限是三十天，发票必须齐全。",
    "Since version 2.10 docs_url=None disables the page of the API.",
    "東京タワーの営業時間は9時からです。",
    "환불은 30일 안에 처리됩니다.",
    "税",
]
STRANGER = Access(tenant="other")


@pytest.fixture
async def sqlite_index(tmp_path: Path) -> AsyncIterator[SQLiteIndex]:
    index = SQLiteIndex(tmp_path / "index.sqlite")
    yield index
    await index.close()


@pytest.fixture(params=["sqlite_index", "opensearch_index"])
def index(request: pytest.FixtureRequest) -> PassageIndex:
    return cast("PassageIndex", request.getfixturevalue(request.param))


def texts(hits: ArmHits) -> tuple[set[str], set[str]]:
    return {hit.passage["text"] for hit in hits.bm25}, {hit.passage["text"] for hit in hits.knn}


# --- what is visible --------------------------------------------------------------------------------------------------


async def test_an_empty_index_finds_nothing(index: PassageIndex) -> None:
    assert await found(index, "expenses") == ([], [])
    assert await index.read("d", ACCESS) == []
    assert await index.get(["d.1.0"], ACCESS) == []
    assert await index.neighbours(passages_of(document(), ["a"]), ACCESS) == []
    assert await index.vectors(["x"], MODEL) == {}
    await index.check(MODEL, DIMENSIONS)


async def test_what_is_staged_is_invisible_until_it_is_published(index: PassageIndex) -> None:
    await publish(index, document("other"), ["a rule"])
    await stage(index, document(), ["a new rule"], {"secret": "x"})

    assert await found(index, "rule") == (["a rule"], ["a rule"])
    assert await index.read("d", ACCESS) == []
    assert await index.get(["d.1.0"], ACCESS) == []
    assert "secret" not in await index.known_fields(ACCESS)

    await index.publish(document())

    assert set((await found(index, "rule"))[0]) == {"a rule", "a new rule"}
    assert "secret" in await index.known_fields(ACCESS)


async def test_passages_come_back_as_they_were_stored(index: PassageIndex) -> None:
    stored = passages_of(document(), TEXTS, {"year": 2024, "tags": ["a", "b"], "draft": False, "share": 0.5, "name": "x"})
    stored[1].pop("heading")
    stored[1].pop("page")
    vectors = np.stack([vector(place) for place in range(len(TEXTS))])
    await index.stage(document(), stored, vectors, texts_sha256=[f"{n}" for n in range(len(TEXTS))], model=MODEL)
    await index.publish(document())

    assert await index.read("d", ACCESS) == stored
    assert await index.get([stored[2]["passage_id"], "missing", stored[0]["passage_id"]], ACCESS) == [stored[2], stored[0]]
    (hits,) = await index.search([IndexQuery(text="", vector=vector(3))], ACCESS, size=1)
    assert [hit.passage for hit in hits.knn] == [stored[3]]


async def test_a_new_version_replaces_the_old_one_whole(index: PassageIndex) -> None:
    await publish(index, document(version="1"), ["old rule one", "old rule two", "old rule three"])
    await stage(index, document(version="2"), ["new rule one"])
    await stage(index, document(version="2"), ["new rule one", "new rule two"])
    assert set((await found(index, "rule"))[0]) == {"old rule one", "old rule two", "old rule three"}

    await index.publish(document(version="2"))

    by_terms, by_vector = await found(index, "rule")
    assert set(by_terms) == set(by_vector) == {"new rule one", "new rule two"}
    assert [passage["text"] for passage in await index.read("d", ACCESS)] == ["new rule one", "new rule two"]


async def test_publishing_twice_changes_nothing(index: PassageIndex) -> None:
    await publish(index, document(), ["a rule"])
    await index.publish(document())

    assert await found(index, "rule") == (["a rule"], ["a rule"])


async def test_a_version_that_was_not_staged_cannot_be_published(index: PassageIndex) -> None:
    await publish(index, document(version="1"), ["a rule"])

    with pytest.raises(NotFound):
        await index.publish(document(version="2"))

    assert await found(index, "rule") == (["a rule"], ["a rule"])


async def test_a_removed_document_is_gone_from_every_answer(index: PassageIndex) -> None:
    await publish(index, document("a"), ["a rule"], {"only_here": "x"})
    await publish(index, document("b"), ["b rule"])
    await stage(index, document("a", version="2"), ["a new rule"])

    await index.remove("a")
    await index.remove("a")

    assert await found(index, "rule") == (["b rule"], ["b rule"])
    assert await index.read("a", ACCESS) == []
    assert await index.get(["a.1.0"], ACCESS) == []
    assert "only_here" not in await index.known_fields(ACCESS)
    with pytest.raises(NotFound):
        await index.publish(document("a", version="2"))


# --- both arms --------------------------------------------------------------------------------------------------------


async def test_each_query_of_a_wave_gets_its_own_hits(index: PassageIndex) -> None:
    await publish(index, document(), TEXTS)
    wave = [IndexQuery(text=TEXTS[0], vector=vector(2)), IndexQuery(text="営業時間", vector=vector(4))]

    first, second = await index.search(wave, ACCESS)

    assert [hits.bm25[0].passage["text"] for hits in (first, second)] == [TEXTS[0], TEXTS[3]]
    assert [hits.knn[0].passage["text"] for hits in (first, second)] == [TEXTS[2], TEXTS[4]]
    assert [hits.query for hits in (first, second)] == [query.text for query in wave]


async def test_hits_are_ordered_by_score_and_limited(index: PassageIndex) -> None:
    await publish(index, document(), [f"rule {'rule ' * n}" + "about something else " * (9 - n) for n in range(9)])

    (hits,) = await index.search([IndexQuery(text="rule", vector=vector(0))], ACCESS, size=4)

    for arm in (hits.bm25, hits.knn):
        scores = [hit.score for hit in arm]
        assert len(scores) == 4
        assert scores == sorted(scores, reverse=True)
    assert hits.bm25[0].passage["ordinal"] == 8


async def test_the_vector_arm_scores_by_cosine(index: PassageIndex) -> None:
    await publish(index, document(), TEXTS)

    (hits,) = await index.search([IndexQuery(text="", vector=vector(2))], ACCESS)

    expected = {place: float(vector(2) @ vector(place)) for place in range(len(TEXTS))}
    assert {hit.passage["ordinal"]: hit.score for hit in hits.knn} == pytest.approx(expected, abs=1e-5)


async def test_no_score_exceeds_the_ceiling_and_unknown_words_raise_it(index: PassageIndex) -> None:
    await publish(index, document(), TEXTS)
    wave = [IndexQuery(text=text, vector=None) for text in (TEXTS[0], f"{TEXTS[0]} zeppelin", "zeppelin", "", "?!")]

    whole, more, unknown, empty, marks = await index.search(wave, ACCESS)

    assert 0.4 * whole.ceiling < whole.bm25[0].score <= whole.ceiling
    assert more.ceiling >= whole.ceiling
    assert (unknown.bm25, unknown.ceiling > 0) == ([], True)
    assert (empty.ceiling, marks.ceiling) == (0, 0)


async def test_without_a_vector_the_other_arm_answers_and_nothing_is_degraded(index: PassageIndex) -> None:
    await publish(index, document(), TEXTS)

    (hits,) = await index.search([IndexQuery(text="expenses", vector=None)], ACCESS)

    assert (texts(hits), hits.degraded) == (({TEXTS[0]}, set()), [])


async def test_a_vector_of_other_dimensions_leaves_the_terms(index: PassageIndex) -> None:
    await publish(index, document(), TEXTS)

    (hits,) = await index.search([IndexQuery(text="expenses", vector=np.ones(DIMENSIONS - 1, np.float32))], ACCESS)

    assert (texts(hits), hits.degraded) == (({TEXTS[0]}, set()), ["knn"])


async def test_terms_are_found_in_every_script_down_to_one_character(index: PassageIndex) -> None:
    await publish(index, document(), TEXTS)
    questions = {
        "refunding an expense": 0, "发票": 1, "報銷 报销？": 1, "齐？": 1, "docs url": 2, "２.10": 2, "タワー": 3, "塔 タ": 3,
        "환불": 4, "税": 5,
    }  # fmt: skip

    first = {question: (await found(index, question))[0][0] for question in questions}

    assert first == {question: TEXTS[place] for question, place in questions.items()}


async def test_title_and_headings_are_searched_with_the_text(index: PassageIndex) -> None:
    await publish(index, document(), ["Something else."])

    for question in ("trips", "guides", "rule"):
        assert (await found(index, question))[0] == ["Something else."]


async def test_a_question_may_be_anything(index: PassageIndex) -> None:
    await publish(index, document(), TEXTS)
    questions = ["", "？！", "\ud800", "\0", "中文" * 4000, "word " * 1600, '" OR NEAR(* ^', "a AND NOT b", "-x:y"]

    for question in questions:
        (hits,) = await index.search([IndexQuery(text=question, vector=vector(0))], ACCESS)
        assert (len(hits.knn), hits.degraded) == (len(TEXTS), []), question


async def test_a_search_can_stay_inside_a_document_and_leave_passages_out(index: PassageIndex) -> None:
    await publish(index, document("a"), ["a rule 0", "a rule 1", "a rule 2"])
    await publish(index, document("b"), ["b rule 0"])
    wave = [
        IndexQuery(text="rule", vector=vector(0), document_id="a"),
        IndexQuery(text="rule", vector=vector(0), exclude=frozenset({"a.1.0", "a.1.2", "unknown"})),
        IndexQuery(text="rule", vector=vector(0), document_id="unknown"),
    ]

    inside, without, nowhere = [texts(hits) for hits in await index.search(wave, ACCESS)]

    assert inside == ({"a rule 0", "a rule 1", "a rule 2"},) * 2
    assert without == ({"a rule 1", "b rule 0"},) * 2
    assert nowhere == (set(), set())


# --- who may see what -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("access", "seen"),
    [
        (ACCESS, {"open rule"}),
        (Access(tenant="acme", groups=frozenset({"hr"})), {"open rule", "hr rule"}),
        (Access(tenant="acme", groups=frozenset({"board", "x"})), {"open rule", "hr rule"}),
        (Access(tenant="acme", groups=frozenset({"h", "x"})), {"open rule"}),
        (STRANGER, {"other rule"}),
        (Access(tenant="nobody"), set()),
    ],
)
async def test_tenant_and_groups_hold_in_every_answer(index: PassageIndex, access: Access, seen: set[str]) -> None:
    await publish(index, document("open"), ["open rule"], {"open": "x"})
    await publish(index, document("hr", groups=["hr", "board"]), ["hr rule"], {"hr": "x"})
    await publish(index, document("other", tenant="other"), ["other rule"], {"other": "x"})
    ids = ["open.1.0", "hr.1.0", "other.1.0"]
    everything = [passages_of(document(name), [f"{name} rule"])[0] for name in ("open", "hr", "other")]

    assert tuple(map(set, await found(index, "rule", access))) == (seen, seen)
    assert {passage["text"] for passage in await index.get(ids, access)} == seen
    assert {passage["text"] for passage in await index.neighbours(everything, access)} == seen
    assert {p["text"] for name in ("open", "hr", "other") for p in await index.read(name, access)} == seen
    assert await index.known_fields(access) == {"path", "title"} | {text.split()[0] for text in seen}


async def test_new_groups_hold_from_the_publish_on(index: PassageIndex) -> None:
    await publish(index, document(version="1"), ["a rule"])
    await publish(index, document(version="2", groups=["hr"]), ["a rule"])

    assert await found(index, "rule") == ([], [])


METAS: dict[str, dict[str, MetaValue]] = {
    "a": {"year": 2024, "department": "finance", "tags": ["x", "y"], "draft": True, "odd.name $'\"": "1"},
    "b": {"year": "2023", "department": "hr", "date": "2024-05-01"},
    "c": {"year": 2022.5, "department": "legal", "date": "2023-12-31", "draft": False, "version": "2.10"},
    "en/d": {"year": -3, "tags": ["y"], "部门": "财务", "code": "007"},
}


FILTERS: list[tuple[dict[str, object], str]] = [
    ({"department": "finance"}, "a"),
    ({"department": ["hr", "legal"]}, "bc"),
    ({"department": "Finance"}, ""),
    ({"year": 2024}, "a"),
    ({"year": 2024.0}, "a"),
    ({"year": "2024"}, "a"),
    ({"year": {"gte": 2022}}, "ac"),
    ({"year": {"gt": 2022.5, "lte": 2024}}, "a"),
    ({"year": {"lt": 0}}, "d"),
    ({"date": {"gte": "2024-01-01"}}, "b"),
    ({"date": {"gte": "2023-01-01", "lt": "2024-05-01"}}, "c"),
    ({"draft": True}, "a"),
    ({"draft": False}, "c"),
    ({"tags": "y"}, "ad"),
    ({"tags": ["x", "z"]}, "a"),
    ({"tags": {"exists": True}}, "ad"),
    ({"tags": {"exists": False}}, "bc"),
    ({"version": "2.10"}, "c"),
    ({"version": "2.1"}, ""),
    ({"code": "007"}, "d"),
    ({"department": {"prefix": "f"}}, "a"),
    ({"department": {"prefix": "%"}}, ""),
    ({"path": {"prefix": "en/"}}, "d"),
    ({"path": "a.md"}, "a"),
    ({"title": "Guide"}, "abcd"),
    ({"部门": "财务"}, "d"),
    ({"odd.name $'\"": "1"}, "a"),
    ({"unknown": "x"}, ""),
    ({"department": "finance", "year": {"gte": 2025}}, ""),
    ({"department": "\ud800"}, ""),
    ({"year": 10**30}, ""),
]


async def test_filters_hold_in_both_arms(index: PassageIndex) -> None:
    await asyncio.gather(*(publish(index, document(name), [f"rule of {name}"], meta) for name, meta in METAS.items()))

    for filters, seen in FILTERS:
        (hits,) = await index.search([IndexQuery(text="rule", vector=vector(0))], ACCESS, filters=parse(filters))
        assert texts(hits) == ({f"rule of {name}" for name in METAS if name[-1] in seen},) * 2, filters


# --- reads ------------------------------------------------------------------------------------------------------------


async def test_a_document_is_read_in_order_and_in_pages(index: PassageIndex) -> None:
    await publish(index, document(), [f"part {n}" for n in range(12)])

    first = await index.read("d", ACCESS, limit=5)
    second = await index.read("d", ACCESS, after=first[-1]["ordinal"], limit=5)

    assert [passage["ordinal"] for passage in (*first, *second)] == list(range(10))


async def test_neighbours_come_in_reading_order_each_once(index: PassageIndex) -> None:
    for name in ("a", "b"):
        await publish(index, document(name), [f"{name}{n}" for n in range(9)])
    a, b = await index.read("a", ACCESS), await index.read("b", ACCESS)

    around = await index.neighbours([b[0], a[5], a[4]], ACCESS)
    wide = await index.neighbours([a[4]], ACCESS, before=2, after=0)

    assert [passage["text"] for passage in around] == ["b0", "b1", "a3", "a4", "a5", "a6"]
    assert [passage["text"] for passage in wide] == ["a2", "a3", "a4"]


async def test_neighbours_never_come_from_another_version(index: PassageIndex) -> None:
    await publish(index, document(version="1"), ["old 0", "old 1"])
    (old, _) = await index.read("d", ACCESS)
    await publish(index, document(version="2"), ["new 0", "new 1"])

    assert await index.neighbours([old], ACCESS) == []


async def test_vectors_are_found_by_the_text_that_was_embedded(index: PassageIndex) -> None:
    await publish(index, document(), ["zero", "one"])

    known = await index.vectors(["d:one", "d:unknown"], MODEL)

    assert set(known) == {"d:one"}
    np.testing.assert_allclose(known["d:one"], vector(1), rtol=1e-6)
    assert await index.vectors(["d:one"], "another model") == {}


async def test_an_index_of_another_model_is_refused_with_both_named(index: PassageIndex) -> None:
    await publish(index, document(), ["a rule"])

    await index.check(MODEL, DIMENSIONS)
    with pytest.raises(InvalidSetting, match=rf"(?s)(?=.*{MODEL})(?=.*other-model)"):
        await index.check("other-model", DIMENSIONS)
    with pytest.raises(InvalidSetting, match=r"(?s)(?=.*\b8\b)(?=.*\b16\b)"):
        await index.check(MODEL, 16)


# --- side by side -----------------------------------------------------------------------------------------------------


async def test_searches_during_a_switch_of_versions_see_exactly_one(index: PassageIndex) -> None:
    await publish(index, document(version="0"), ["rule of version 0"] * 12)
    searches: asyncio.Queue[None] = asyncio.Queue()
    done = asyncio.Event()

    async def search() -> set[str]:
        versions: set[str] = set()
        while not done.is_set():
            (hits,) = await index.search([IndexQuery(text="rule", vector=vector(0))], ACCESS, size=50)
            seen = [{hit.passage["version"] for hit in arm} for arm in (hits.bm25, hits.knn)]
            assert (len(seen[0]), len(hits.bm25), len(hits.knn)) == (1, 12, 12)
            assert seen[0] == seen[1]
            versions |= seen[0]
            searches.put_nowait(None)
        return versions

    async def write() -> None:
        for n in range(1, 5):
            await publish(index, document(version=f"{n}"), [f"rule of version {n}"] * 12)
            for _ in range(3):
                await searches.get()
        done.set()

    *versions, _ = await asyncio.gather(*(search() for _ in range(3)), write())
    assert len(set().union(*[one for one in versions if one])) > 2


async def test_many_documents_are_written_and_read_at_once(index: PassageIndex) -> None:
    async def write(name: str) -> None:
        await publish(index, document(name), [f"rule of {name}"] * 3)
        await publish(index, document(name, version="2"), [f"new rule of {name}"] * 3)

    async def read() -> None:
        for _ in range(5):
            await found(index, "rule")
            await index.known_fields(ACCESS)

    await asyncio.gather(*(write(f"d{n}") for n in range(6)), *(read() for _ in range(3)))

    by_terms, by_vector = await found(index, "rule", size=100)
    assert sorted(by_terms) == sorted(by_vector) == sorted(f"new rule of d{n}" for n in range(6) for _ in range(3))
