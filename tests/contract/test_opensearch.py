"""What OpenSearch adds to the contract of `PassageIndex`: its mapping, its refreshes, its load."""

import asyncio
import json
import threading
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from opensearchpy import OpenSearch

from graph.adapters.opensearch import OpenSearchIndex, Schema, connect, ensure_index
from graph.adapters.opensearch.ceiling import FACTOR_BEFORE_3
from graph.adapters.opensearch.client import bulk
from graph.adapters.opensearch.schema import normalised
from graph.adapters.sqlite_index import SQLiteIndex
from graph.adapters.sqlite_table import SQLiteTable
from graph.errors import IndexUnavailable, InvalidSetting, NotFound
from graph.filters import parse
from graph.ports import Access, Document, IndexQuery, MetaValue, Passage, PassageIndex
from graph.text import terms
from tests.standins.aws import free_port
from tests.standins.serverless import collection

ACCESS = Access(tenant="acme")
TEXTS = (
    "Expenses are refunded within 30 days of the trip.",
    "国内出差的报销期限是三十天，发票必须齐全。",
    "The API of version 2.10 sets docs_url=None to disable the page.",
    "東京タワーの営業時間は9時からです。",
    "税",
)


def vector(seed: int) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).normal(size=8).astype(np.float32)
    return made / np.linalg.norm(made)


def passages(document: Document, texts: Sequence[str], meta: dict[str, MetaValue] | None = None) -> list[Passage]:
    return [
        Passage(
            passage_id=f"{document.document_id}.{document.version}.{n}", document_id=document.document_id,
            version=document.version, ordinal=n, title="Guide", path=f"{document.document_id}.md", uri="file:///x",
            start=0, end=len(text), text=text, heading="A > B", page=1, meta=meta or {},
        )
        for n, text in enumerate(texts)
    ]  # fmt: skip


async def stage(
    index: PassageIndex, document: Document, texts: Sequence[str] = TEXTS, meta: dict[str, MetaValue] | None = None
) -> None:
    vectors = np.stack([vector(n) for n in range(len(texts))])
    hashes = [f"{document.document_id}{n}" for n in range(len(texts))]
    await index.stage(document, passages(document, texts, meta), vectors, texts_sha256=hashes, model="test")


async def publish(
    index: PassageIndex, document: Document, texts: Sequence[str] = TEXTS, meta: dict[str, MetaValue] | None = None
) -> None:
    await stage(index, document, texts, meta)
    await index.publish(document)


def doc(document_id: str = "d", version: str = "1", **rest: Any) -> Document:
    return Document(document_id=document_id, version=version, tenant="acme", **rest)


async def ask(index: PassageIndex, question: str, like: int = 0, **search: Any) -> tuple[list[str], list[str]]:
    (hits,) = await index.search([IndexQuery(text=question, vector=vector(like))], ACCESS, **search)
    return [hit.passage["text"] for hit in hits.bm25], [hit.passage["text"] for hit in hits.knn]


# --- one state of each document, always -------------------------------------------------------------------------------


async def test_every_search_sees_exactly_one_version(opensearch_index: OpenSearchIndex) -> None:
    writer = opensearch_index
    await publish(writer, doc(version="0"), ["version 0 of the rule"] * 40)
    done = asyncio.Event()

    async def search(pause_s: float) -> set[str]:
        reader = OpenSearchIndex(writer._client, writer._name, table=writer._editions._table)  # as another process has it
        seen = set()
        while not done.is_set():
            await asyncio.sleep(pause_s)
            query = IndexQuery(text="rule", vector=vector(0))
            (hits,) = await reader.search([query], ACCESS, size=100)
            for arm in (hits.bm25, hits.knn):
                versions = {hit.passage["version"] for hit in arm}
                assert (len(versions), len(arm)) == (1, 40)
                seen |= versions
            assert len({passage["version"] for passage in await reader.read("d", ACCESS, limit=100)}) == 1
        return seen

    searches = [asyncio.create_task(search(pause_s)) for pause_s in (0, 0.03, 0.1)]
    for n in range(1, 8):
        await publish(writer, doc(version=f"{n}"), [f"version {n} of the rule"] * 40)
    done.set()
    assert len(set().union(*await asyncio.gather(*searches))) > 2


async def test_a_publish_that_died_half_way_is_invisible_and_can_be_done_again(
    opensearch_index: OpenSearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    await publish(opensearch_index, doc(version="1"), ["the old rule"] * 3)
    await stage(opensearch_index, doc(version="2"), ["the new rule"] * 3)
    with monkeypatch.context() as dying:
        dying.setattr(opensearch_index._editions, "replace", _die)
        with pytest.raises(InterruptedError):
            await opensearch_index.publish(doc(version="2"))
    assert (await ask(opensearch_index, "rule"))[0] == ["the old rule"] * 3

    await opensearch_index.publish(doc(version="2"))

    assert (await ask(opensearch_index, "rule"))[0] == ["the new rule"] * 3


async def test_of_two_versions_published_at_once_one_is_left_whole(opensearch_index: OpenSearchIndex) -> None:
    await publish(opensearch_index, doc(version="0"), ["rule 0"] * 3)
    versions = [doc(version=f"{n}") for n in range(1, 4)]
    for version in versions:
        await stage(opensearch_index, version, [f"rule {version.version}"] * 3)

    results = await asyncio.gather(*map(opensearch_index.publish, versions), return_exceptions=True)

    assert all(result is None or isinstance(result, IndexUnavailable | NotFound) for result in results)
    left = (await ask(opensearch_index, "rule"))[0]
    assert left
    assert len(set(left)) == 1
    assert len(left) == 3


async def test_a_version_staged_again_stays_visible(opensearch_index: OpenSearchIndex) -> None:
    await publish(opensearch_index, doc())
    await stage(opensearch_index, doc())
    opensearch_index._client.indices.refresh(index=opensearch_index._name)

    assert len(await opensearch_index.read("d", ACCESS)) == len(TEXTS)


async def test_a_version_that_is_being_removed_is_not_published_meanwhile(
    opensearch_index: OpenSearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    await publish(opensearch_index, doc(version="1"), ["the rule"] * 3)
    with monkeypatch.context() as dying:
        dying.setattr(opensearch_index, "_drop", _die)
        with pytest.raises(InterruptedError):
            await opensearch_index.remove("d")
    await stage(opensearch_index, doc(version="1"), ["the rule"] * 3)
    with pytest.raises(IndexUnavailable, match="being removed"):
        await opensearch_index.publish(doc(version="1"))
    monkeypatch.setattr("graph.adapters.opensearch.editions._DELETES_S", 0)

    await opensearch_index.publish(doc(version="1"))

    assert (await ask(opensearch_index, "rule"))[0] == ["the rule"] * 3


async def _die(*_: object, **__: object) -> None:
    raise InterruptedError


# --- the index as it is made ------------------------------------------------------------------------------------------


@pytest.fixture
def client(opensearch_url: str) -> Iterator[OpenSearch]:
    made = connect(opensearch_url)
    yield made
    made.close()


@pytest.fixture
def name(client: OpenSearch) -> Iterator[str]:
    unique = f"footnote-{uuid.uuid4().hex}"
    yield unique
    client.indices.delete(index=f"{unique}-v*")


async def test_an_index_is_made_once(client: OpenSearch, name: str) -> None:
    assert ensure_index(client, name, Schema(model="test", dimensions=8))
    assert not ensure_index(client, name, Schema(model="test", dimensions=8, ef_construction=512))


async def test_an_index_for_another_embedder_is_refused_with_both_named(client: OpenSearch, name: str, tmp_path: Path) -> None:
    ensure_index(client, name, Schema(model="test", dimensions=8))

    with pytest.raises(InvalidSetting, match=r"model test there, other wanted; dimensions 8 there, 16 wanted"):
        ensure_index(client, name, Schema(model="other", dimensions=16))
    table = SQLiteTable(tmp_path / "table.sqlite")
    with pytest.raises(InvalidSetting, match=r"dimensions 8 there, 16 wanted"):
        await OpenSearchIndex(client, name, table=table).check("test", 16)
    await table.close()


def test_the_engine_is_a_setting() -> None:
    method: Any = Schema(model="m", dimensions=8, engine="faiss", space="innerproduct", ef_construction=64).body()
    assert method["mappings"]["properties"]["vector"]["method"] == {
        "name": "hnsw",
        "engine": "faiss",
        "space_type": "innerproduct",
        "parameters": {"m": 16, "ef_construction": 64},
    }


@pytest.mark.parametrize(
    "text",
    [*TEXTS, "ＦＵＬＬ width ﬁne Straße İ ½", "a-b_c don't e.g. fastapi.com 3.14", "中a文 x中 한국어 문서", "👩‍💻 \ud800", ""],
)
async def test_the_analyzer_makes_the_terms_that_the_other_index_has(opensearch_index: OpenSearchIndex, text: str) -> None:
    body = {"analyzer": "passage", "text": normalised(text)}
    found = opensearch_index._client.indices.analyze(body=body, index=opensearch_index._name)

    assert [token["token"] for token in found["tokens"]] == terms(text)


# --- searches ---------------------------------------------------------------------------------------------------------


async def test_scores_are_cosines_and_shares_of_the_ceiling(opensearch_index: OpenSearchIndex) -> None:
    await publish(opensearch_index, doc())

    (hits,) = await opensearch_index.search([IndexQuery(text=TEXTS[0], vector=vector(2))], ACCESS)

    assert hits.knn[0].score == pytest.approx(1, abs=1e-5)
    assert {hit.passage["ordinal"]: hit.score for hit in hits.knn} == pytest.approx(
        {n: float(vector(2) @ vector(n)) for n in range(len(TEXTS))}, abs=1e-5
    )
    assert hits.bm25[0].passage["text"] == TEXTS[0]
    assert hits.bm25[0].score / hits.ceiling > 0.5
    assert hits.degraded == []


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("refunding an expense", 0),
        ("发票", 1),
        ("發票？ 报销", 1),
        ("docs url", 2),
        ("タワー", 3),
        ("税", 4),
        ("齐？", 1),
        ("２.10", 2),
    ],
)
async def test_bm25_finds_words_of_each_script(opensearch_index: OpenSearchIndex, question: str, found: int) -> None:
    await publish(opensearch_index, doc())

    assert (await ask(opensearch_index, question))[0][0] == TEXTS[found]


@pytest.mark.parametrize("question", ["", "？！", "\ud800", "中文" * 4000, "word " * 1600, " ".join(map(str, range(2000)))])
async def test_a_question_may_be_anything(opensearch_index: OpenSearchIndex, question: str) -> None:
    await publish(opensearch_index, doc())

    (hits,) = await opensearch_index.search([IndexQuery(text=question, vector=vector(0))], ACCESS)

    assert hits.degraded == []
    assert len(hits.knn) == len(TEXTS)


async def test_an_arm_that_fails_leaves_the_other(opensearch_index: OpenSearchIndex) -> None:
    await publish(opensearch_index, doc())

    wrong = IndexQuery(text="expenses", vector=np.ones(7, np.float32))
    without = IndexQuery(text="expenses", vector=None)
    first, second = await opensearch_index.search([wrong, without], ACCESS)

    assert (first.degraded, second.degraded) == (["knn"], [])
    assert first.bm25[0].passage["text"] == second.bm25[0].passage["text"] == TEXTS[0]


async def test_a_server_that_is_gone_is_named(tmp_path: Path) -> None:
    table = SQLiteTable(tmp_path / "table.sqlite")
    index = OpenSearchIndex(connect(f"http://127.0.0.1:{free_port()}"), "gone", table=table)

    with pytest.raises(IndexUnavailable, match="OpenSearch"):
        await index.search([IndexQuery(text="x", vector=None)], ACCESS)
    await index.close()
    await table.close()


async def test_an_index_that_was_never_made_is_named_and_not_made_by_a_write(opensearch_url: str, tmp_path: Path) -> None:
    table = SQLiteTable(tmp_path / "table.sqlite")
    index = OpenSearchIndex(connect(opensearch_url), "never-made", table=table)

    with pytest.raises(IndexUnavailable, match="Deploy"):
        await stage(index, doc())
    assert not index._client.indices.exists(index="never-made")
    await index.close()
    await table.close()


# --- Serverless -------------------------------------------------------------------------------------------------------


@pytest.fixture
async def serverless_index(opensearch_url: str, name: str, tmp_path: Path) -> AsyncIterator[OpenSearchIndex]:
    """An index in a collection that refuses what Serverless refuses; nothing may have been refused."""
    table = SQLiteTable(tmp_path / "table.sqlite")
    with collection(opensearch_url) as (url, refused):
        client = connect(url)
        ensure_index(client, name, Schema(model="test", dimensions=8, shards=None))
        yield OpenSearchIndex(client, name, table=table, profile="serverless")
        client.close()
    await table.close()
    assert refused == []


async def test_serverless_replaces_and_removes_without_ids_updates_or_refreshes(serverless_index: OpenSearchIndex) -> None:
    await publish(serverless_index, doc(version="1"))
    await stage(serverless_index, doc(version="2"), ["the new rule"] * 3)
    assert (await ask(serverless_index, "rule expenses"))[0] == [TEXTS[0]]
    await stage(serverless_index, doc(version="2"), ["the new rule", "the newer rule", "the new rule"])

    await serverless_index.publish(doc(version="2"))
    assert sorted((await ask(serverless_index, "rule expenses"))[0]) == ["the new rule", "the new rule", "the newer rule"]
    assert [passage["text"] for passage in await serverless_index.read("d", ACCESS)][1] == "the newer rule"

    await serverless_index.remove("d")
    assert await serverless_index.read("d", ACCESS) == []


async def test_serverless_finishes_what_a_publish_left_half_done(
    serverless_index: OpenSearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage(serverless_index, doc())
    with monkeypatch.context() as dying:
        dying.setattr("graph.adapters.opensearch.writing.Writer._delete", lambda *_: _interrupt())
        with pytest.raises(InterruptedError):
            await serverless_index.publish(doc())
    assert await serverless_index.read("d", ACCESS) == []

    await serverless_index.publish(doc())

    assert [passage["text"] for passage in await serverless_index.read("d", ACCESS)] == list(TEXTS)


async def test_serverless_counts_the_ceiling_that_a_domain_tells(
    serverless_index: OpenSearchIndex, opensearch_index: OpenSearchIndex
) -> None:
    questions = ["refunding expenses of an unknown trip", "发票的期限？", "", "docs_url=None page 30 days trip within tower"]
    found = []
    for index in (serverless_index, opensearch_index):
        await stage(index, doc())  # and no more: a domain also counts what was replaced, until it is merged away
        opensearch_index._client.indices.refresh(index=opensearch_index._name)
        hits = await index.search([IndexQuery(text=question, vector=None) for question in questions], ACCESS)
        found.append([one.ceiling for one in hits])
    assert found[0][2] == 0
    number = opensearch_index._client.info()["version"]["number"]
    factor = 1 if number.startswith("2.") else FACTOR_BEFORE_3  # Serverless is a 2
    assert found[0] == pytest.approx([one * factor for one in found[1]])


def _interrupt() -> None:
    raise InterruptedError


# --- beside the other index -------------------------------------------------------------------------------------------


@pytest.fixture
async def both(opensearch_index: OpenSearchIndex, tmp_path: Path) -> AsyncIterator[tuple[PassageIndex, PassageIndex]]:
    sqlite = SQLiteIndex(tmp_path / "index.sqlite")
    yield opensearch_index, sqlite
    await sqlite.close()


METAS: list[dict[str, MetaValue]] = [
    {"year": 2024, "department": "finance", "tags": ["a", "b"], "draft": True},
    {"year": "2023", "department": "hr", "date": "2024-05-01"},
    {"year": 2022.5, "department": "legal", "date": "2023-12-31", "draft": "false"},
    {"year": -3, "tags": ["b"], "部门": "财务"},
    {},
]


FILTERS: list[dict[str, object]] = [
    {"department": "finance"},
    {"department": ["hr", "legal"]},
    {"year": 2024},
    {"year": "2024"},
    {"year": {"gte": 2022}},
    {"year": {"gt": 2024}},
    {"year": {"lt": 0}},
    {"year": {"lte": "2023"}},
    {"year": {"gte": "2022", "lt": "2024"}},
    {"date": {"gte": "2024-01-01"}},
    {"date": {"lt": "2024-01-01"}},
    {"draft": True},
    {"draft": "true"},
    {"draft": False},
    {"tags": "b"},
    {"tags": {"exists": True}},
    {"tags": {"exists": False}},
    {"department": {"prefix": "f"}},
    {"path": {"prefix": "m1"}},
    {"title": "Guide"},
    {"部门": "财务"},
    {"nothing": "x"},
    {"department": "finance", "year": {"gte": 2024}},
]


async def test_a_filter_lets_the_same_passages_through_in_both(both: tuple[PassageIndex, PassageIndex]) -> None:
    for index in both:
        for n, meta in enumerate(METAS):
            await publish(index, doc(f"m{n}"), [f"rule {n}"], meta)
    for filters in FILTERS:
        (bm25, knn), (sqlite, _) = [await ask(index, "rule", filters=parse(filters), size=20) for index in both]
        assert sorted(bm25) == sorted(knn) == sorted(sqlite), filters


async def test_both_know_the_same_fields(both: tuple[PassageIndex, PassageIndex]) -> None:
    for index in both:
        for n, meta in enumerate(METAS):
            await publish(index, doc(f"m{n}", groups=frozenset({"hr"} if n == 3 else ())), ["rule"], meta)

    fields = [await index.known_fields(ACCESS) for index in both]

    assert fields[0] == fields[1] == {"path", "title", "year", "department", "tags", "draft", "date"}


async def test_groups_and_tenants_see_the_same_in_both(both: tuple[PassageIndex, PassageIndex]) -> None:
    for index in both:
        await publish(index, doc("open"), ["rule open"])
        await publish(index, doc("hr", groups=frozenset({"hr", "board"})), ["rule hr"])
        await publish(index, Document(document_id="other", version="1", tenant="other"), ["rule other"])
        for groups, expected in (((), {"rule open"}), (("hr",), {"rule open", "rule hr"}), (("x",), {"rule open"})):
            access = Access(tenant="acme", groups=frozenset(groups))
            (hits,) = await index.search([IndexQuery(text="rule", vector=vector(0))], access)
            assert {hit.passage["text"] for hit in hits.bm25} == {hit.passage["text"] for hit in hits.knn} == expected


async def test_reads_are_the_same_in_both(both: tuple[PassageIndex, PassageIndex]) -> None:
    for index in both:
        for name in ("a", "b"):
            await publish(index, doc(name), [f"{name}{n}" for n in range(9)])
        all_a, all_b = await index.read("a", ACCESS), await index.read("b", ACCESS)
        assert [passage["text"] for passage in all_a] == [f"a{n}" for n in range(9)]
        assert all_a == passages(doc("a"), [f"a{n}" for n in range(9)])
        assert await index.read("a", ACCESS, after=3, limit=2) == all_a[4:6]
        assert await index.read("a", Access(tenant="other")) == []
        around = await index.neighbours([all_b[0], all_a[5], all_a[4]], ACCESS)
        assert [passage["text"] for passage in around] == ["b0", "b1", "a3", "a4", "a5", "a6"]
        assert await index.get(["b.1.2", "none", "a.1.0"], ACCESS) == [all_b[2], all_a[0]]
        stored = await index.vectors(["a3", "nothing"], "test")
        assert list(stored) == ["a3"]
        np.testing.assert_allclose(stored["a3"], vector(3), rtol=1e-6)
        assert await index.vectors(["a3"], "other") == {}
        await index.remove("a")
        assert await index.read("a", ACCESS) == []
        assert len(await index.read("b", ACCESS)) == 9


# --- load -------------------------------------------------------------------------------------------------------------


def test_what_is_refused_for_overload_is_sent_again_and_nothing_else() -> None:
    with _overloaded() as (url, stored):
        client = connect(url)
        bulk(client, "any", [({"index": {"_id": f"{n}"}}, {"n": n}) for n in range(1200)])
        client.close()
    assert sorted(stored) == sorted(f"{n}" for n in range(1200))


@contextmanager
def _overloaded() -> Iterator[tuple[str, list[str]]]:
    """An OpenSearch that refuses a whole request, then two thirds of each, then takes everything; and what it took."""
    stored: list[str] = []
    requests = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            nonlocal requests
            requests += 1
            lines = self.rfile.read(int(self.headers["Content-Length"])).decode().splitlines()
            ids = [json.loads(line)["index"]["_id"] for line in lines[::2]]
            if requests == 1:
                self._answer(429, {"error": {"type": "circuit_breaking_exception"}})
                return
            items = []
            for place, one in enumerate(ids):
                refused = requests < 6 and place % 3
                items.append({"index": {"_id": one, "status": 429 if refused else 201}})
                if not refused:
                    stored.append(one)
            self._answer(200, {"errors": True, "items": items})

        def _answer(self, status: int, body: object) -> None:
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", stored
    server.shutdown()
    thread.join()
    server.server_close()
