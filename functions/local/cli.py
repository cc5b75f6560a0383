"""The command ``footnote``. Everything heavy is imported where it is used: `--help` answers at once."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
Home = Annotated[Path | None, typer.Option(help="Folder of the embedded stores [default: .footnote]")]


@app.callback()
def footnote() -> None:
    """Answers from your own documents, with footnotes that point at the exact words."""


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="A loopback address")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one")] = 8000,
    home: Home = None,
    docs: Annotated[list[Path] | None, typer.Option(help="File or folder to ingest; a folder en becomes en/…")] = None,
) -> None:
    """API, WebSocket and page over the embedded stores."""
    from functions.local import server
    from functions.local.start import wired

    with wired(home) as wiring:
        server.serve(wiring, host=host, port=port, docs=docs or [])


def main() -> None:
    """Run the command."""
    app()


if __name__ == "__main__":
    main()
