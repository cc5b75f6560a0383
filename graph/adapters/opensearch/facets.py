"""Metadata as terms, so that any field of any type can be filtered on without a mapping of its own.

Each value of ``meta``, ``path`` and ``title`` is a term ``field␟text`` in ``facets``, and one in ``ranges`` whose order is
the order of the values: ``field␟n`` and 16 hexadecimal digits for a number, ``field␟t`` and the text for the others.
"""

import struct
from collections.abc import Iterator

from graph.filters import Condition, Scalar
from graph.ports import Json, Passage

_SEPARATOR = "\x1f"
_AFTER = {"n": "o", "t": "u"}


def fields(passage: Passage) -> Json:
    """What a passage can be filtered by."""
    values = list(_values(passage))
    return {
        "fields": sorted({field for field, _ in values}),
        "facets": sorted({_term(field, _text(value)) for field, value in values}),
        "ranges": sorted({_ordered(field, value) for field, value in values}),
    }


def query(condition: Condition) -> Json:
    """A condition as a query."""
    if condition.operator == "exists":
        exists: Json = {"term": {"fields": condition.field}}
        return exists if condition.values[0] else {"bool": {"must_not": [exists]}}
    if condition.operator == "any":
        return _any(condition)
    if condition.operator == "prefix":
        return {"prefix": {"facets": _term(condition.field, _text(condition.values[0]))}}
    return _comparison(condition)


def _any(condition: Condition) -> Json:
    """Equal as text or as number: object stores keep metadata as text, so ``"2024"`` and ``2024`` are one."""
    texts = [_term(condition.field, _text(value)) for value in condition.values]
    numbers = [_ordered(condition.field, value) for value in condition.values if _is_number(value)]
    return {"bool": {"should": [{"terms": {"facets": texts}}, {"terms": {"ranges": numbers}}]}}


def _comparison(condition: Condition) -> Json:
    """Numbers compare with numbers, texts with texts; a text that reads as a number compares with both."""
    value = condition.values[0]
    sides: list[Json] = []
    number = _number(value)
    if number is not None:
        sides.append(_range(condition, "n", _ordered(condition.field, number)))
    if not _is_number(value):
        sides.append(_range(condition, "t", _term(condition.field, "t" + _text(value))))
    return {"bool": {"should": sides}}


def _range(condition: Condition, kind: str, bound: str) -> Json:
    if condition.operator in ("gte", "gt"):
        other = {"lt": _term(condition.field, _AFTER[kind])}
    else:
        other = {"gte": _term(condition.field, kind)}
    return {"range": {"ranges": {condition.operator: bound} | other}}


def _values(passage: Passage) -> Iterator[tuple[str, Scalar]]:
    for field, values in {**passage["meta"], "path": passage["path"], "title": passage["title"]}.items():
        for value in values if isinstance(values, list) else [values]:
            yield field, value


def _term(field: str, text: str) -> str:
    return f"{field}{_SEPARATOR}{text}".encode("utf-8", "replace").decode()


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ordered(field: str, value: Scalar) -> str:
    if not _is_number(value):
        return _term(field, "t" + _text(value))
    (bits,) = struct.unpack(">Q", struct.pack(">d", _float(value) + 0.0))  # no -0.0
    return _term(field, f"n{bits ^ (0xFFFFFFFFFFFFFFFF if bits >> 63 else 1 << 63):016x}")


def _is_number(value: Scalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Scalar) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return _float(value)
    except ValueError:
        return None


def _float(value: Scalar) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if not str(value).startswith("-") else float("-inf")
