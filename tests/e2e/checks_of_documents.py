"""Documents: put in, read, replaced, searched, deleted."""

from tests.e2e.client import Client
from tests.e2e.footnotes import assert_footnotes_hold, rebuilt
from tests.e2e.library import Library

_EVERY_DOCUMENT = {
    "document_id", "title", "path", "uri", "status", "version", "bytes", "content_type", "passages", "meta", "warnings",
    "created_at", "updated_at",
}  # fmt: skip


def is_healthy(client: Client, library: Library) -> None:
    assert library.documents
    assert client.json("GET", "/health")["status"] == "ok"
    assert client.json("GET", "/openapi.json")["openapi"].startswith("3.1")


def shows_what_it_read(client: Client, library: Library) -> None:
    for name, document in library.documents.items():
        assert document.keys() >= _EVERY_DOCUMENT
        assert document["status"] == "ready", document
        assert document["path"] == library.path(name)
        assert document["meta"]["acceptance"] == library.folder
        passages = client.passages(document["document_id"])
        assert len(passages) == document["passages"] > 0
        assert library.name in rebuilt(passages)
    listed = {document["document_id"] for document in client.documents()}
    assert listed >= {document["document_id"] for document in library.documents.values()}


def gives_the_file_back(client: Client, library: Library) -> None:
    body = f"# Notes of {library.name}\r\n\r\nThe heron of {library.name} stands on one leg.\r\n"
    document = client.upload(library.path("notes.md"), body)
    response = client.http.get(f"/documents/{document['document_id']}/source", follow_redirects=True)
    assert response.content == body.encode()
    assert response.headers["content-disposition"].startswith("attachment")
    assert "\r" not in rebuilt(client.passages(document["document_id"]))


def searches_with_both_arms(client: Client, library: Library) -> None:
    found = client.json("POST", "/search", json={"query": f"{library.name} ferry weekdays", "size": 3})
    assert 1 <= len(found["passages"]) <= 3
    assert found["passages"][0]["document_id"] == library.documents["ferry.md"]["document_id"]
    assert {"bm25", "knn"} & found["passages"][0]["arms"].keys()
    assert found["degraded"] == []
    nothing = client.json("POST", "/search", json={"query": "ferry", "filters": {"no_such_field": "x"}})
    assert nothing["passages"] == []
    assert any("no_such_field" in warning for warning in nothing["warnings"])


def answers_from_the_new_version_only(client: Client, library: Library) -> None:
    path, question = library.path("tower.md"), f"How high is the {library.name} tower?"
    old = client.upload(path, f"# Tower\n\nThe {library.name} tower is 61 metres high.\n")
    assert "61 metres" in client.ask(question)["answer"]
    new = client.upload(path, f"# Tower\n\nThe {library.name} tower is 74 metres high since the storm.\n")
    assert new["document_id"] == old["document_id"]
    assert new["version"] != old["version"]
    turn = client.ask(question)
    assert "74 metres" in turn["answer"]
    assert "61 metres" not in turn["answer"]
    assert {citation["version"] for citation in turn["citations"]} >= {new["version"]}
    assert_footnotes_hold(client, turn)


def reads_the_same_bytes_as_the_same_version(client: Client, library: Library) -> None:
    path, text = library.path("well.md"), f"# Well\n\nThe {library.name} well is 17 fathoms deep.\n"
    first, again = (client.upload(path, text) for _ in range(2))
    assert again["status"] == "ready"
    assert again["document_id"] == first["document_id"]
    assert "17 fathoms" in client.ask(f"How deep is the {library.name} well?")["answer"]


def answers_nothing_from_a_deleted_document(client: Client, library: Library) -> None:
    text = f"# Orchard\n\nThe {library.name} orchard grows 812 plum trees.\n"
    document = client.upload(library.path("orchard.md"), text)
    question = f"How many plum trees grow in the {library.name} orchard?"
    assert "812" in client.ask(question)["answer"]
    path = f"/documents/{document['document_id']}"
    client.json("DELETE", path, status=204)
    for gone in (path, f"{path}/passages", f"{path}/source"):
        assert client.json("GET", gone, status=404)["code"] == "not_found"
    assert "812" not in client.ask(question)["answer"]
    found = client.json("POST", "/search", json={"query": question, "size": 50})
    assert document["document_id"] not in {passage["document_id"] for passage in found["passages"]}


def says_why_a_file_cannot_be_read(client: Client, library: Library) -> None:
    for name, body, codes in (
        ("film.mp4", b"\0\0\0\x18ftypmp42" + bytes(range(256)) * 8, {"unsupported_format"}),
        ("blank.md", b" \n\n", {"no_text", "empty"}),
        ("nothing.txt", b"", {"empty", "no_text"}),
    ):
        document = client.upload(library.path(name), body)
        assert document["status"] == "failed", document
        assert document["error"]["code"] in codes
        assert document["error"]["message"]
        assert document["error"]["remedy"]


def refuses_names_that_lead_elsewhere(client: Client, library: Library) -> None:
    names = ("../up.md", f"{library.folder}/../../up.md", "/etc/absolute.md", f"{library.folder}/.hidden.md", f"{'x' * 256}.md")
    for name in names:
        refused = client.json("POST", "/documents", status=422, files={"file": (name, b"text")})
        assert refused["code"] == "bad_name", name
    assert not [document for document in client.documents() if document["path"].endswith(("up.md", "absolute.md"))]


CHECKS = (
    is_healthy,
    shows_what_it_read,
    gives_the_file_back,
    searches_with_both_arms,
    answers_from_the_new_version_only,
    reads_the_same_bytes_as_the_same_version,
    answers_nothing_from_a_deleted_document,
    says_why_a_file_cannot_be_read,
    refuses_names_that_lead_elsewhere,
)
