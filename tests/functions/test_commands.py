"""What the commands of a terminal say when they cannot go on."""

import subprocess
import sys

import pytest

from tests.server import FOOTNOTE, environment


def footnote(*args: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(  # noqa: S603  # our own command
        [sys.executable, *FOOTNOTE, *args], env=environment(), capture_output=True, text=True, timeout=60, check=False
    )


def test_the_version_is_told() -> None:
    assert footnote("--version").stdout.startswith("footnote ")


@pytest.mark.parametrize("url", ["", "localhost:8000", "http://[bad", "ftp://example.com"])
def test_an_address_that_is_none_is_refused_in_one_line(url: str) -> None:
    done = footnote("ask", "hi", "--url", url)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert repr(url) in done.stderr
