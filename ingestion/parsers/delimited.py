"""CSV and its relatives: every row with the header's names, so that a row means something alone."""

import csv
import io
from collections import Counter
from collections.abc import Sequence

from ingestion.parsed import Builder, Parsed
from ingestion.parsers import plain
from ingestion.parsers.rows import clean, row_line

_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 20
_RUNAWAY = 5_000
"""Characters of a cell with line ends from which on a quote was never closed."""
_FEWEST_ROWS, _FEWEST_COLUMNS, _LONGEST_CELL = 5, 3, 80


def looks(head: str) -> bool:
    """Whether text without a telling name is a table: some rows, all of the same width, of short cells."""
    lines = [line for line in head.split("\n")[:-1] if line.strip()][:_SAMPLE_ROWS]
    if len(lines) < _FEWEST_ROWS:
        return False
    rows = _rows("\n".join(lines), _delimiter(lines))
    width = len(rows[0]) if rows else 0
    short = all(len(cell) <= _LONGEST_CELL and not cell.startswith(" ") for row in rows for cell in row)
    return short and width >= _FEWEST_COLUMNS and all(len(row) == width for row in rows)


def parse(text: str) -> Parsed:
    """Parse a table. What precedes the header (a caption, notes) stays text."""
    lines = [line for line in text.split("\n", _SAMPLE_ROWS)[:_SAMPLE_ROWS] if line.strip()]
    try:
        rows = [row for row in _rows(text, _delimiter(lines)) if any(cell.strip() for cell in row)]
    except csv.Error:
        return plain.parse(text)
    at = _header(rows[:_SAMPLE_ROWS])
    built = Builder()
    for row in rows[:at]:
        built.add("paragraph", " ".join(clean(cell) for cell in row if cell.strip()))
    names = [clean(name) for name in rows[at]] if rows else []
    body = rows[at + 1 :]
    built.add("table", "\n".join(row_line(names, row) for row in body) if body else "; ".join(filter(None, names)))
    return Parsed(text=built.text, blocks=built.blocks)


def _delimiter(lines: Sequence[str]) -> str:
    """The one that cuts most lines into the same number of cells."""
    best = (0, 0, ",")
    for rank, delimiter in enumerate(_DELIMITERS):
        widths = Counter(len(row) for row in _rows("\n".join(lines), delimiter))
        width, count = max(widths.items(), key=lambda item: (item[0] > 1, item[1], item[0]), default=(1, 0))
        if width > 1:
            best = max(best, (count, -rank, delimiter))
    return best[2]


def _rows(text: str, delimiter: str) -> list[list[str]]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True))
    if any(len(cell) > _RUNAWAY and "\n" in cell for row in rows for cell in row):
        return list(csv.reader(io.StringIO(text), delimiter=delimiter, quoting=csv.QUOTE_NONE))
    return rows


def _header(rows: Sequence[Sequence[str]]) -> int:
    """Where the header is: the first row that is as full as the rows usually are."""
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    usual = Counter(filled).most_common(1)[0][0] if filled else 0
    return next((i for i, count in enumerate(filled) if count >= usual), 0)
