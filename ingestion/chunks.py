"""Text to passages: about 512 tokens with 128 of overlap, cut where the text itself pauses."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ingestion.parsed import Parsed
from ingestion.units import CountTokens, Cut, Unit, clip, measured

OVERLAP_TOKENS = 128
FEWEST_TOKENS = 128
"""A section shorter than this shares its passage with the next one: alone it says too little to be found."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage to be: code points ``start`` to ``end``, and the headings above its start."""

    start: int
    end: int
    heading: str


def above(title: str, heading: str) -> str:
    """What is embedded above a passage's text."""
    return "".join(f"{line}\n" for line in (title, heading) if line)


def chunk(parsed: Parsed, title: str, count: CountTokens, window: int) -> list[Chunk]:
    """Passages that together hold all of the text that is not white.

    ``window`` is what the embedder reads at once, in tokens: no passage with its title and headings exceeds it.
    """
    title = clip(title)
    chunks: list[Chunk] = []
    for slack in (0, 8, 32, window // 4):  # parts may count for less than the whole, by a token or so
        chunks = _chunks(parsed, title, count, window - slack)
        texts = [above(title, chunk.heading) + parsed.text[chunk.start : chunk.end] for chunk in chunks]
        if max(count(texts), default=0) <= window:
            break
    return chunks


def _chunks(parsed: Parsed, title: str, count: CountTokens, window: int) -> list[Chunk]:
    budgets: dict[str, int] = {}

    def budget(heading: str) -> int:
        if heading not in budgets:
            budgets[heading] = max(window // 4, window - count([above(title, heading)])[0])
        return budgets[heading]

    units = measured(parsed, title, count, budget)
    limits = [budget(unit.heading) for unit in units]
    return [Chunk(units[at].start, units[end - 1].end, units[at].heading) for at, end in _runs(units, limits)]


def _runs(units: Sequence[Unit], limits: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of units, each within the limit of its first one."""
    totals = [0, *accumulate(unit.tokens for unit in units)]
    at, end = 0, 0
    while end < len(units):
        end = _end(units, totals, at, least=end + 1, limit=limits[at])
        yield at, end
        at = _resume(units, totals, at, end, limits)


def _end(units: Sequence[Unit], totals: Sequence[int], at: int, *, least: int, limit: int) -> int:
    """Where the run from ``at`` ends: at a heading once it says enough, else at the best pause of its second half."""
    furthest = max(least, bisect_right(totals, totals[at] + limit) - 1)
    for end in range(least, min(furthest + 1, len(units))):
        if units[end].cut is Cut.HEADING and totals[end] - totals[at] >= FEWEST_TOKENS:
            return end
    if furthest == len(units):
        return furthest
    half = totals[at] + (totals[furthest] - totals[at]) // 2
    return max((end for end in range(least, furthest + 1) if totals[end] >= half), key=lambda end: (units[end].cut, end))


def _resume(units: Sequence[Unit], totals: Sequence[int], at: int, end: int, limits: Sequence[int]) -> int:
    """Where the next run starts: some units back, as far as sentences and lines go that need what stands before them."""
    start = end
    if end == len(units) or units[end].cut is Cut.HEADING:
        return end
    while start - 1 > at and units[start - 1].kind not in ("heading", "table"):
        if totals[end] - totals[start - 1] > OVERLAP_TOKENS or totals[end + 1] - totals[start - 1] > limits[start - 1]:
            break
        start -= 1
    return start
