"""The main job as somebody who has never seen Footnote does it: one command, then every public door."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.acceptance import CHECKS
from tests.e2e.checks_of_turns import CHECKS as OF_TURNS
from tests.e2e.checks_of_turns import (
    says_when_there_is_no_answer,
    understands_a_question_that_leans_on_the_one_before,
)
from tests.e2e.client import Client, Json
from tests.e2e.footnotes import assert_footnotes_hold
from tests.e2e.library import Library, borrowed
from tests.evals.questions import QUICK, read_by_footnote
from tests.server import environment, serving
from tests.standins.groq import StandIn

HANDBOOK = Path(__file__).parents[2] / "functions" / "local" / "handbook"
BEYOND_THE_STAND_IN = (understands_a_question_that_leans_on_the_one_before, says_when_there_is_no_answer)
"""It repeats a question instead of making it standalone, and finds every sentence supported."""
WITH_A_MODEL = [check for check in OF_TURNS if check not in BEYOND_THE_STAND_IN]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def client(home: Path) -> Iterator[Client]:
    """A Footnote that has read the handbook."""
    with read_by_footnote(home, [HANDBOOK], seconds=60) as client:
        yield client


@pytest.fixture(scope="module")
def url(client: Client) -> str:
    return str(client.http.base_url)


@pytest.fixture(scope="module")
def library(client: Client) -> Iterator[Library]:
    with borrowed(client) as library:
        yield library


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_footnote(check: Callable[[Client, Library], None], client: Client, library: Library) -> None:
    check(client, library)


def test_every_document_of_the_handbook_is_ready(client: Client) -> None:
    documents = [document for document in client.documents() if document["path"].startswith("handbook/")]
    files = {path.relative_to(HANDBOOK.parent).as_posix() for path in HANDBOOK.rglob("*") if path.is_file()}
    assert {document["path"] for document in documents} == files
    assert [document for document in documents if document["status"] != "ready" or document["warnings"]] == []


def test_a_follow_up_in_chinese_is_understood_from_the_thread(client: Client) -> None:
    first = client.ask("境外出差的餐费补贴是每天多少？")
    assert "60 美元" in first["answer"]
    turn = client.ask("那国内呢？", thread_id=first["thread_id"])
    assert "国内" in turn["standalone_question"]
    assert "120 元" in turn["answer"]
    assert_footnotes_hold(client, turn)


def test_the_command_line_asks_a_running_footnote(client: Client, url: str) -> None:
    done = _run("ask", "How much may a hotel in London cost?", "--url", url)
    assert done.returncode == 0, done.stderr
    assert "£165" in done.stdout
    assert "[1]" in done.stdout
    done = _run("ask", "How much may a hotel in London cost?", "--url", url, "--json")
    turn = json.loads(done.stdout)
    assert_footnotes_hold(client, turn)
    assert client.json("GET", f"/turns/{turn['turn_id']}") == turn


def test_the_command_line_says_by_its_exit_code_that_there_is_no_answer(url: str) -> None:
    done = _run("ask", "Which bank does our payroll use?", "--url", url)
    assert done.returncode == 3, done.stdout + done.stderr


def test_a_file_dropped_into_the_bucket_folder_is_answered_from_replaced_and_forgotten(client: Client, home: Path) -> None:
    file = home / "bucket" / "uploads" / "default" / "dropped" / "greenhouse.md"
    file.parent.mkdir(parents=True)
    question = "How warm is the Vantrell greenhouse kept?"
    file.write_text("# Greenhouse\n\nThe Vantrell greenhouse is kept at 23.5 degrees.\n")
    turn = _until(lambda: client.ask(question), lambda turn: "23.5" in turn["answer"])
    assert_footnotes_hold(client, turn)
    file.write_text("# Greenhouse\n\nThe Vantrell greenhouse is kept at 19.5 degrees since May.\n")
    turn = _until(lambda: client.ask(question), lambda turn: "19.5" in turn["answer"])
    assert "23.5" not in turn["answer"]
    file.unlink()
    turn = _until(lambda: client.ask(question), lambda turn: "19.5" not in turn["answer"])
    assert turn["outcome"] != "answered"


def test_the_page_is_served_without_anything_from_elsewhere(client: Client) -> None:
    page = client.http.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert 'src="http' not in page.text
    assert 'href="http' not in page.text


def test_a_restart_loses_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, env=QUICK) as url, Client.of(url) as client, borrowed(client) as library:
        first = client.ask(f"How long may customers in the United Kingdom return a {library.name} lantern?")
        kept = client.upload("kept.md", f"# Kept\n\nCustomers in Peru may return a {library.name} lantern within 41 days.\n")
        events = client.json("GET", f"/turns/{first['turn_id']}/events")["events"]
    with serving(tmp_path, env=QUICK) as url, Client.of(url) as client:
        assert client.json("GET", f"/turns/{first['turn_id']}") == first
        assert client.json("GET", f"/turns/{first['turn_id']}/events")["events"] == events
        assert client.json("GET", f"/documents/{kept['document_id']}") == kept
        turn = client.ask("What about Peru?", thread_id=first["thread_id"])
        assert "41 days" in turn["answer"]
        assert_footnotes_hold(client, turn)


@pytest.fixture(scope="module")
def with_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Library]]:
    """A Footnote whose answers a model writes: the stand-in, by the words that question and sources share."""
    home = tmp_path_factory.mktemp("keyed")
    with StandIn() as groq, serving(home, env={**QUICK, "GROQ_API_KEY": "x", "GROQ_BASE_URL": groq.url}) as url:
        with Client.of(url) as client, borrowed(client) as library:
            yield client, library
        assert groq.requests


@pytest.mark.parametrize("check", WITH_A_MODEL, ids=lambda check: check.__name__)
def test_footnote_with_a_key(check: Callable[[Client, Library], None], with_key: tuple[Client, Library]) -> None:
    check(*with_key)


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [Path(sys.executable).with_name("footnote"), *arguments]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)  # noqa: S603


def _until(read: Callable[[], Json], is_so: Callable[[Json], bool]) -> Json:
    until = time.monotonic() + 30
    while not is_so(found := read()):
        assert time.monotonic() < until, found
        time.sleep(0.25)
    return found
