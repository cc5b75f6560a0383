"""What the commands of a terminal say when they cannot go on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server import FOOTNOTE, environment

EVENTS = Path(__file__).parents[2] / "events"


def footnote(*args: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(  # noqa: S603  # our own command
        [sys.executable, *FOOTNOTE, *args], env=environment(settings), capture_output=True, text=True, timeout=60, check=False
    )


def test_the_version_is_told() -> None:
    assert footnote("--version").stdout.startswith("footnote ")


@pytest.mark.parametrize("url", ["", "localhost:8000", "http://[bad", "ftp://example.com"])
def test_an_address_that_is_none_is_refused_in_one_line(url: str) -> None:
    done = footnote("ask", "hi", "--url", url)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert repr(url) in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("FOOTNOTE_MAX_ROUND", "2", "FOOTNOTE_MAX_ROUNDS"),
        ("FOOTNOTE_MAX_ROUNDS", "99", "FOOTNOTE_MAX_ROUNDS"),
        ("FOOTNOTE_TURN_SECONDS", "soon", "FOOTNOTE_TURN_SECONDS"),
        ("FOOTNOTE_FUSION", "magic", "FOOTNOTE_FUSION"),
    ],
)
def test_a_setting_misspelt_or_out_of_range_is_named(tmp_path: Path, name: str, value: str, said: str) -> None:
    done = footnote("serve", "--home", str(tmp_path), **{name: value})
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


def test_a_command_calls_a_handler_with_an_event_of_a_file(tmp_path: Path) -> None:
    done = footnote("invoke", "api", str(EVENTS / "http_health.json"), FOOTNOTE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["statusCode"] == 200


@pytest.mark.parametrize(
    ("function", "event", "said"),
    [
        ("nothing", "http_health.json", "there is no function nothing"),
        ("api", "missing.json", "cannot be read"),
        ("api", "../README.md", "is not JSON"),
    ],
)
def test_a_command_says_why_there_is_nothing_to_call(function: str, event: str, said: str) -> None:
    done = footnote("invoke", function, str(EVENTS / event))
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
