"""The command ``footnote``. Everything heavy is imported where it is used: ``--help`` answers at once."""
# ruff: noqa: FBT002, PLR0913, PLR0917  # a function's parameters are its command's options

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
Home = Annotated[Path | None, typer.Option(help="Folder of the embedded stores [default: .footnote]")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else")]


def _version(wanted: bool) -> None:  # noqa: FBT001  # called by the option
    if wanted:
        from importlib.metadata import version

        print(f"footnote {version('footnote')}")
        raise typer.Exit


@app.callback()
def footnote(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version")] = False,
) -> None:
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


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders; a folder en becomes en/…")],
    home: Home = None,
    tenant: Annotated[str, typer.Option(help="Whose documents they are")] = "default",
    meta: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Metadata of all of them")] = None,
    as_json: AsJson = False,
) -> None:
    """Put files in the bucket and wait until each is ready or failed."""
    from functions.local.ingest import ingest as work
    from functions.local.start import pairs, run, wired

    metadata = dict(pairs(meta, "--meta"))
    with wired(home, quiet=True) as wiring:
        code = run(work(wiring, paths, tenant=tenant, metadata=metadata, as_json=as_json))
    raise typer.Exit(code)


@app.command()
def ask(
    question: str,
    home: Home = None,
    url: Annotated[str | None, typer.Option(help="A running or deployed Footnote, in place of a home")] = None,
    token: Annotated[str | None, typer.Option(help="Bearer token for --url [default: FOOTNOTE_TOKEN]")] = None,
    thread: Annotated[str | None, typer.Option(metavar="ID", help="The conversation to go on with")] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", metavar="KEY=VALUE", help="Only from such documents; the same key twice: any of"),
    ] = None,
    as_json: AsJson = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show what the turn did, on stderr")] = False,
) -> None:
    """One turn: the answer as it comes, its footnotes below.

    Exit code 0: answered, at least in part; 3: unanswerable, refused, cancelled, or it waits for you; 1: failed.
    """
    from functions.local.ask import ask as work
    from functions.local.request import body_of
    from functions.local.start import run, wired

    if url is not None and home is not None:
        raise typer.BadParameter("give either --home or --url", param_hint="--url")
    body = body_of(question, thread, filters)
    with wired(home, quiet=True) as wiring:
        secret = wiring.settings.token
        bearer = token or (secret.get_secret_value() if secret else None)
        code = run(work(wiring, body, url=url, token=bearer, as_json=as_json, with_trace=trace))
    raise typer.Exit(code)


@app.command()
def doctor(
    home: Home = None,
    url: Annotated[str | None, typer.Option(help="A running or deployed Footnote, in place of the settings' parts")] = None,
    token: Annotated[str | None, typer.Option(help="Bearer token for --url [default: FOOTNOTE_TOKEN]")] = None,
    settings: Annotated[bool, typer.Option("--settings", help="List all settings, and do nothing else")] = False,
) -> None:
    """Check each part that the settings name, and say what to do about those that fail."""
    from functions.local import doctor as here
    from functions.local import doctor_remote as there
    from functions.local.settings_list import settings_list
    from functions.local.start import run, wired

    if settings:
        print(settings_list())
        return
    if url is not None and home is not None:
        raise typer.BadParameter("give either --home or --url", param_hint="--url")
    with wired(home, quiet=True, code=1) as wiring:
        secret = wiring.settings.token
        bearer = token or (secret.get_secret_value() if secret else None)
        code = run(here.doctor(wiring) if url is None else there.doctor(url, bearer))
    raise typer.Exit(code)


@app.command()
def invoke(function: str, event: Annotated[Path, typer.Argument(metavar="EVENT.json")]) -> None:
    """Call one of the AWS handlers (api, authorizer, ensure-index, ingestion, websocket, worker) with an event file."""
    from functions.local.invoke import invoke as work

    raise typer.Exit(work(function, event))


def main() -> None:
    """Run the command."""
    try:
        app()
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        sys.exit(1)


if __name__ == "__main__":
    main()
