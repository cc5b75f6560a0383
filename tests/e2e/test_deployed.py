"""What ``cdk deploy`` makes, deployed to a local AWS and used through its public doors.

The tests follow each other as the life of an environment does: without a key, then with one, then with what goes wrong.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as open_socket

from tests.e2e.acceptance import CHECKS
from tests.e2e.client import Client, Json
from tests.e2e.footnotes import assert_footnotes_hold
from tests.e2e.library import Library, borrowed
from tests.server import FOOTNOTE, environment
from tests.standins.deployment import Deployment, deployed
from tests.standins.opensearch_program import Missing

pytestmark = pytest.mark.timeout(900)

KEY = "gsk-stand-in-0123456789"
FILES = {
    "quay/tides.md": "# Tides\n\nHigh water at Brellin quay comes at 04:17, and low water at 10:32.",
    "quay/cranes.txt": "The Brellin crane lifts 38 tonnes and rests on Sundays.",
    "quay/price list.csv": "berth,crowns a night\nA1,46\nB7,52\n",
    "quay/harbour+master.html": "<h1>Harbour master</h1><p>The Brellin harbour master is Odo Varn.</p>",
    "quay/码头.md": "# 布雷林码头\n\n布雷林码头每晚 11 点 20 分关闭大门。",
    "quay/empty.md": "",
}


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory, opensearch_url: str) -> Iterator[Deployment]:
    try:
        with deployed(tmp_path_factory.mktemp("deployed"), opensearch_url) as deployment:
            yield deployment
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def client(deployment: Deployment) -> Iterator[Client]:
    with deployment.client() as client:
        yield client


@pytest.fixture(scope="module")
def library(client: Client) -> Iterator[Library]:
    with borrowed(client) as library:
        yield library


def connect(address: str, headers: dict[str, str] | None = None) -> ClientConnection:
    """An open WebSocket; the function that lets it in may have to start first."""
    return open_socket(address, additional_headers=headers, proxy=None, open_timeout=90)


def until(holds: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until something holds."""
    over = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < over
        time.sleep(0.5)


def put(client: Client, path: str, body: bytes) -> str:
    """Upload to where the bucket says, as a browser does; the document's id."""
    signed = client.json("POST", "/documents/uploads", status=201, json={"filename": path, "size": len(body)})
    answer = httpx.post(signed["url"], data=signed["fields"], files={"file": body}, trust_env=False, timeout=60)
    assert answer.status_code == 201, answer.text
    name: str = signed["document_id"]
    return name


def read_through(client: Client, name: str) -> Json:
    """A document, once S3 has told of it and it is ``ready`` or ``failed``."""
    until(lambda: client.request("GET", f"/documents/{name}").status_code != 404)
    return client.read_through(name)


def first_token(socket: ClientConnection, question: str, **body: str) -> Json:
    """Ask, and wait for the first token."""
    socket.send(json.dumps({"action": "ask", "message_id": uuid4().hex, "question": question, **body}))
    while (event := json.loads(socket.recv(timeout=60)))["type"] != "token":
        assert event["type"] not in ("done", "error"), event
    token: Json = event
    return token


def footnote(deployment: Deployment, *arguments: str) -> str:
    """What a command prints that must succeed."""
    command = [sys.executable, *FOOTNOTE, *arguments]
    env = environment({"FOOTNOTE_TOKEN": deployment.token("ada", "acme")})
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603  # ours
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def outcome(events: list[Json]) -> tuple[str, str]:
    """How a turn ended, and its error."""
    turn = events[-1]["turn"]
    return turn["outcome"], (turn.get("error") or {}).get("code", "")


def test_a_second_deploy_changes_nothing(deployment: Deployment) -> None:
    assert "(no changes)" in deployment.deploy()


def test_nobody_gets_in_without_a_token_or_a_ticket(deployment: Deployment, client: Client) -> None:
    for headers in ({}, {"Authorization": "Bearer x.y.z"}):
        assert httpx.get(f"{client.http.base_url}/threads", headers=headers, trust_env=False).status_code in (401, 403)
        with pytest.raises(InvalidStatus), connect(deployment.outputs["SocketUrl"], headers):
            pass  # the emulator answers 500 where API Gateway says 401


def test_a_ticket_opens_one_socket(deployment: Deployment, client: Client) -> None:
    ticket = client.json("POST", "/tickets", status=201)["ticket"]
    address = f"{deployment.outputs['SocketUrl']}?ticket={ticket}"
    with connect(address) as socket:
        socket.send(json.dumps({"action": "ping"}))
        assert json.loads(socket.recv(timeout=30))["type"] == "pong"
    with pytest.raises(InvalidStatus), connect(address):
        pass


def test_files_put_into_the_bucket_become_readable(client: Client) -> None:
    ids = {path: put(client, path, text.encode()) for path, text in FILES.items()}
    documents = {path: read_through(client, name) for path, name in ids.items()}
    assert {path: document["status"] for path, document in documents.items()} == {
        path: "failed" if path == "quay/empty.md" else "ready" for path in FILES
    }
    assert documents["quay/empty.md"]["error"]["code"] == "empty"
    turn = client.ask("Who is the Brellin harbour master?")
    assert "Odo Varn" in turn["answer"]
    assert_footnotes_hold(client, turn)
    turn = client.ask_socket("布雷林码头每晚几点关闭大门？")[-1]["turn"]
    assert "11 点 20 分" in turn["answer"]
    assert_footnotes_hold(client, turn)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_footnote(check: Callable[[Client, Library], None], client: Client, library: Library) -> None:
    check(client, library)


def test_the_commands_reach_it(deployment: Deployment, library: Library) -> None:
    http, socket = deployment.outputs["Url"], deployment.outputs["SocketUrl"]
    asked = footnote(deployment, "ask", f"How much is a single ticket of the {library.name} ferry?", "--json", "--url", socket)
    assert "6.35" in json.loads(asked)["answer"]
    for url in (http, socket):
        assert footnote(deployment, "doctor", "--url", url)


def test_another_tenant_sees_nothing(deployment: Deployment, client: Client, library: Library) -> None:
    turn = client.ask(f"How much is a single ticket of the {library.name} ferry?")
    document_id = library.documents["ferry.md"]["document_id"]
    with deployment.client("eve", "evil") as other:
        assert other.documents() == []
        assert other.json("POST", "/search", json={"query": f"{library.name} ferry"})["passages"] == []
        assert other.ask(f"How much is a single ticket of the {library.name} ferry?")["outcome"] == "unanswerable"
        for path in (f"/documents/{document_id}", f"/documents/{document_id}/passages", f"/turns/{turn['turn_id']}"):
            assert other.request("GET", path).status_code == 404
        with other.socket() as socket:
            socket.send(json.dumps({"action": "replay", "turn_id": turn["turn_id"], "after": 0}))
            assert other.events(socket)[-1]["code"] == "not_found"


def test_every_turn_says_that_there_is_no_key(client: Client, library: Library) -> None:
    turn = client.ask(f"How much is a single ticket of the {library.name} ferry?")
    assert (turn["usage"]["calls"], "model" in turn["note"]) == (0, True)


def test_a_key_is_used_without_a_deploy(deployment: Deployment, client: Client, library: Library) -> None:
    deployment.use_groq(KEY)
    events = client.ask_socket(f"How much is a single ticket of the {library.name} ferry?")
    assert outcome(events) == ("answered", "")
    assert events[-1]["turn"]["usage"]["calls"] > 0
    assert set(deployment.groq.keys) == {KEY}
    assert_footnotes_hold(client, events[-1]["turn"])


def test_a_turn_goes_on_without_its_client(deployment: Deployment, client: Client, library: Library) -> None:
    with deployment.slow_groq():
        with client.socket() as socket:
            event = first_token(socket, f"How much is a single ticket of the {library.name} ferry?")
        with client.socket() as socket:
            socket.send(json.dumps({"action": "replay", "turn_id": event["turn_id"], "after": event["seq"]}))
            events = client.events(socket)
    assert [one["seq"] for one in events] == list(range(event["seq"] + 1, events[-1]["seq"] + 1))
    assert events[0]["type"] == "token"
    assert events[-1]["type"] == "done"


def test_a_turn_is_cancelled(deployment: Deployment, client: Client, library: Library) -> None:
    with deployment.slow_groq(), client.socket() as socket:
        event = first_token(socket, f"How much is a single ticket of the {library.name} ferry?")
        socket.send(json.dumps({"action": "cancel", "turn_id": event["turn_id"]}))
        events = client.events(socket)
    assert outcome(events) == ("cancelled", "")


def test_sentences_of_the_documents_answer_while_groq_is_down(deployment: Deployment, client: Client, library: Library) -> None:
    deployment.groq.fail("503")
    turn = client.ask(f"How much is a single ticket of the {library.name} ferry?")
    deployment.groq.recover()
    assert turn["outcome"] in ("answered", "partial")
    assert "6.35" in turn["answer"]
    assert turn["note"]
    assert_footnotes_hold(client, turn)


def test_a_turn_whose_worker_is_killed_ends_as_crashed_and_the_next_one_works(
    deployment: Deployment, client: Client, library: Library
) -> None:
    question = f"How much is a single ticket of the {library.name} ferry?"
    thread_id = f"t-{uuid4().hex[:12]}"
    with deployment.slow_groq(), client.socket() as socket:
        first_token(socket, question, thread_id=thread_id)
        assert deployment.kill("worker") > 0
        assert outcome(client.events(socket)) == ("failed", "crashed")
    assert outcome(client.ask_socket(question, thread_id=thread_id)) == ("answered", "")


def test_a_file_that_fails_for_good_holds_up_no_other_and_can_be_redriven(deployment: Deployment) -> None:
    deployment.retry_files_after(5)
    with deployment.client("nil", "quarry") as client:
        poison = put(client, "poison.md", b"# Poison\n\nThe Morrow quarry pays 71 crowns a cart.")
        read_through(client, poison)
        with deployment.spoilt(poison):
            put(client, "poison.md", b"# Poison\n\nThe Morrow quarry pays 72 crowns a cart.")
            others = [put(client, f"stone-{n}.md", f"Stone {n} weighs {n} tonnes.".encode()) for n in range(2)]
            assert [read_through(client, name)["status"] for name in others] == ["ready", "ready"]
            until(lambda: deployment.waiting("FailedFiles") == 1 and deployment.waiting("Files") == 0)
        deployment.redrive()
        until(lambda: "72 crowns" in json.dumps(client.json("POST", "/search", json={"query": "Morrow quarry cart"})))
        assert client.read_through(poison)["status"] == "ready"


def test_nothing_is_left_in_the_queues_and_nothing_secret_or_unexpected_in_the_log(
    deployment: Deployment, library: Library
) -> None:
    until(lambda: deployment.waiting("Files") == deployment.waiting("FailedFiles") == 0)
    log = deployment.log()
    for secret in (KEY, "Correct-Horse", "6.35 crowns", "72 crowns", "Odo Varn", library.name, "11 点 20 分", "ticket="):
        assert not [message for message in log if secret in message]
    said = [message for message in log if not message.startswith(OF_THE_HOST)]
    assert said
    assert [message for message in said if not any(sign in message for sign in EXPECTED)] == []


OF_THE_HOST = ("START ", "END ", "REPORT ", '{"_aws":')
TRACEBACK = ("Traceback (", "  ", "KeyError: ")
EXPECTED = (
    *TRACEBACK,
    "handler.Refused: Unauthorized",
    "Worker process died",
    "was taken on before",
    "ended as crashed",
    ", attempt ",
)
"""What is said of that which the tests break."""
