"""What `footnote ask` shows: the answer as it comes on a terminal, as it ended in a pipe, and its footnotes below."""

import sys
import unicodedata
from collections.abc import Mapping
from typing import TextIO

from functions.protocol import TurnEvent
from functions.shapes import Trace, Turn

EXIT_CODES: Mapping[str, int] = {"answered": 0, "partial": 0, "failed": 1}  # all other outcomes: 3


_CLEAR = "\r\x1b[2K"


class Stream:
    """Shows events. In a pipe nothing is shown that might still be revised."""

    def __init__(self, out: TextIO, *, is_quiet: bool) -> None:
        self._out = out
        self._is_live = out.isatty() and not is_quiet
        self._shown = ""

    def show(self, event: TurnEvent) -> None:
        """Show what there is to see of an event."""
        if not self._is_live:
            return
        if event["type"] == "status" and not self._shown:
            self._write(_passing(event["message"]))
        elif event["type"] == "waiting" and not self._shown:
            self._write(_passing(f"{event['reason']} ({event['seconds']:.0f} s)"))
        elif event["type"] == "token":
            self._write(("" if self._shown else _CLEAR) + plain(event["text"]))
            self._shown += event["text"]
        elif event["type"] == "revised":
            self._write(f"\n\x1b[2m— revised —\x1b[0m\n{plain(event['answer'])}")
            self._shown = event["answer"]

    def end(self, turn: Turn) -> None:
        """Show the turn, without what was shown already."""
        if self._is_live:
            self._write("\n" if self._shown else _CLEAR)
        if turn["answer"] and turn["answer"] != self._shown:
            self._write(plain(turn["answer"]).rstrip() + "\n")
        for line in _below(turn):
            self._write(plain(line) + "\n")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _passing(text: str) -> str:
    """A line that the next one takes the place of."""
    return f"{_CLEAR}\x1b[2m{plain(text)}…\x1b[0m"


def plain(text: str) -> str:
    """The text without what a terminal would obey: a document may hold anything."""
    return "".join(
        character if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs") else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def show_trace(trace: Trace | None) -> None:
    """The spans of a turn as a tree, on stderr."""
    spans = trace["spans"] if trace else []
    children: dict[str | None, list[int]] = {}
    for place, span in enumerate(spans):
        children.setdefault(span["parent_id"], []).append(place)

    def show(parent: str | None, depth: int) -> None:
        for place in children.get(parent, []):
            span = spans[place]
            print(f"{'  ' * depth}{span['name']}  {span['duration_ms']:.0f} ms", file=sys.stderr)
            show(span["span_id"], depth + 1)

    print(f"trace {trace['trace_id']}" if trace else "there is no trace", file=sys.stderr)
    show(None, 1)


def _below(turn: Turn) -> list[str]:
    lines: list[str] = []
    if "clarification" in turn:
        lines += ["", turn["clarification"]["question"], *(f"  - {option}" for option in turn["clarification"]["options"])]
    if "approval" in turn:
        lines += ["", turn["approval"]["summary"]]
    if "note" in turn:
        lines += ["", turn["note"]]
    if turn["citations"]:
        lines.append("")
    for citation in turn["citations"]:
        place = [citation["title"]]
        if "heading" in citation and citation["heading"] != citation["title"]:
            place.append(citation["heading"])
        if "page" in citation:
            place.append(f"p. {citation['page']}")
        lines += [f"[{citation['number']}] {', '.join(place)}", f"    “{' '.join(citation['quote'].split())}”"]
    return lines if turn["answer"] else lines[1:]
