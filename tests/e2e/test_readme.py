"""The README is true: its console sessions are run, and must print what it says they print."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
_SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.+(?:\\\n.+)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
COMMANDS = [(match[1], match[2]) for session in _SESSION.findall(README) for match in _COMMAND.finditer(session)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder like a clone: the README's commands name the handbook by its path in it."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "functions" / "local" / "handbook", folder / "functions" / "local" / "handbook")
    yield folder
    shutil.rmtree(folder)


def test_the_readme_shows_a_session() -> None:
    assert len(COMMANDS) >= 3


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[command[:50] for command, _ in COMMANDS])
def test_a_command_of_the_readme_prints_what_it_says(command: str, expected: str, folder: Path) -> None:
    """In order, in one folder; ``...`` in the README stands for any text."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FOOTNOTE_", "GROQ_"))}
    environment["PATH"] = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(  # noqa: S602  # the README's own lines, pipes included
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=110, check=False
    )
    pattern = ".*?".join(re.escape(part.strip(" ")) for part in expected.strip().split("..."))
    assert re.fullmatch(pattern, done.stdout.strip(), re.DOTALL), done.stdout + done.stderr


def test_the_two_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    named = re.findall(r"^make (\w+)", README, re.MULTILINE)
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert named[:2] == ["demo", "test"]
    assert set(named) <= set(targets)
