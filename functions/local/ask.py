"""The command `footnote ask`."""

import json
import sys

from functions.bodies import AskBody
from functions.local import lock
from functions.local.asking import Door, Here, There
from functions.local.terminal import EXIT_CODES, Stream, show_trace
from functions.shapes import Turn
from graph.errors import FootnoteError, InvalidSetting
from graph.wiring import Wiring


async def ask(  # noqa: PLR0913  # the options of the command
    wiring: Wiring, body: AskBody, *, url: str | None, token: str | None, as_json: bool, with_trace: bool
) -> int:
    """Ask, show the answer, and say by the exit code what came of it."""
    try:
        door = _door(wiring, url, token)
        stream = Stream(sys.stdout, is_quiet=as_json)
        turn = await _turn(door, body, stream)
        if turn is None:
            return 1
        if as_json:
            print(json.dumps(turn, ensure_ascii=False).encode("utf-8", "backslashreplace").decode())
        else:
            stream.end(turn)
        if with_trace:
            show_trace(await door.trace(turn["turn_id"]))
        return EXIT_CODES.get(turn["outcome"] or "failed", 3)
    except InvalidSetting:
        raise
    except FootnoteError as error:
        print(f"footnote: {error}", file=sys.stderr)
        return 1
    finally:
        await wiring.close()


def _door(wiring: Wiring, url: str | None, token: str | None) -> Door:
    if url is not None:
        return There(url, token)
    running = lock.holder(wiring.settings.home)
    if running is not None and "url" in running:  # it has the models loaded, and the threads in hand
        return There(running["url"], token)
    return Here(wiring)


async def _turn(door: Door, body: AskBody, stream: Stream) -> Turn | None:
    turn: Turn | None = None
    async for event in door.ask(body):
        if event["type"] == "error":
            print(f"footnote: {event['message']}", file=sys.stderr)
            return None
        stream.show(event)
        if event["type"] == "done":
            turn = event["turn"]
    return turn
