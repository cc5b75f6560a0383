"""How every command begins and ends: settings, logs, and one clear line when it cannot go on."""

import asyncio
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import typer

from functions.local import logs
from graph.errors import FootnoteError
from graph.settings import Settings
from graph.wiring import Wiring

T = TypeVar("T")


@contextmanager
def wired(home: Path | None, *, quiet: bool = False, code: int = 2) -> Iterator[Wiring]:
    """The wiring of a home. What a command cannot start with ends it with one line.

    Args:
        home: None for the one that the settings name.
        quiet: log only what is wrong, unless a setting says otherwise.
        code: to exit with in that case.
    """
    try:
        settings = Settings.read() if home is None else Settings.read(home=home)
        is_asked_for = "log_level" in settings.model_fields_set
        logs.configure("WARNING" if quiet and not is_asked_for else settings.log_level)
        yield Wiring(settings)
    except (FootnoteError, FileNotFoundError) as error:
        print(f"footnote: {error}", file=sys.stderr)
        raise typer.Exit(code) from None


def run(work: Coroutine[object, object, T]) -> T:
    """Run a command's work to its end."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def pairs(options: list[str] | None, name: str) -> list[tuple[str, str]]:
    """Options of the form ``key=value``."""
    split = [option.partition("=") for option in options or []]
    for key, equals, value in split:
        if not key or not equals:
            raise typer.BadParameter(f"{key}{equals}{value!r} is not key=value", param_hint=name)
    return [(key, value) for key, _, value in split]
