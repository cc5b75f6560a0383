"""Rows of tables as lines that mean something alone: every value stands beside the name of its column."""

from collections.abc import Sequence


def row_line(names: Sequence[str], cells: Sequence[str]) -> str:
    """``Name: value; Name: value``, without the empty cells; a value beyond the names gets its column's number."""
    values = [clean(cell) for cell in cells]
    return "; ".join(
        f"{names[i]}: {value}" if i < len(names) and names[i] else f"column {i + 1}: {value}"
        for i, value in enumerate(values)
        if value
    )


def clean(cell: str) -> str:
    """A cell in one line."""
    return " ".join(cell.split())
