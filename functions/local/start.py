"""How every command begins and ends: settings, logs, and one clear line when it cannot go on."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from functions.local import logs
from graph.errors import FootnoteError
from graph.settings import Settings
from graph.wiring import Wiring


@contextmanager
def wired(home: Path | None) -> Iterator[Wiring]:
    """The wiring of a home. What a command cannot start with ends it with one line and exit code 2."""
    try:
        settings = Settings.read() if home is None else Settings.read(home=home)
        logs.configure(settings.log_level)
        yield Wiring(settings)
    except (FootnoteError, FileNotFoundError) as error:
        print(f"footnote: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
