"""Who may see a passage, and which filters it meets: the one place for every arm and every read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graph.filters import Condition, Scalar
from graph.ports import Access

_SIGNS = {"gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}


@dataclass(frozen=True)
class Eligible:
    """Which passages may be found. Equal ones allow the same passages of one generation."""

    access: Access
    filters: tuple[Condition, ...] = ()
    document_id: str | None = None

    def select(self, columns: str, rest: str = "", *values: Scalar) -> tuple[str, list[Scalar]]:
        """A query over eligible passages ``p`` and their documents ``d``, and its parameters; ``rest`` goes on after WHERE."""
        where, parameters = self._where()
        tables = "passages AS p JOIN documents AS d ON d.id = p.document"
        query = f"SELECT {columns} FROM {tables} WHERE {where} {rest}"  # noqa: S608  # values are bound
        return query, [*parameters, *values]

    def _where(self) -> tuple[str, list[Scalar]]:
        marks = _marks(self.access.groups)
        member = f"EXISTS (SELECT 1 FROM json_each(d.groups) AS g WHERE g.value IN ({marks}))"  # noqa: S608  # marks only
        clauses = ["d.visible", "d.tenant = ?", f"(d.groups = '[]' OR {member})"]
        parameters: list[Scalar] = [self.access.tenant, *sorted(self.access.groups)]
        if self.document_id is not None:
            clauses.append("d.document_id = ?")
            parameters.append(self.document_id)
        for condition in self.filters:
            clause, values = _compiled(condition)
            clauses.append(clause)
            parameters += values
        return " AND ".join(clauses), [_storable(value) for value in parameters]


def as_text(value: Scalar) -> str:
    """How a value of metadata is compared as text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_number(value: object) -> bool:
    """Whether it compares as a number; a bool does not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compiled(condition: Condition) -> tuple[str, list[Scalar]]:
    clause, values = _on_value(condition)
    negation = "NOT " if condition.operator == "exists" and not condition.values[0] else ""
    inside = f"SELECT passage FROM facets WHERE field = ? AND ({clause})"  # noqa: S608  # values are bound
    return f"p.id {negation}IN ({inside})", [condition.field, *values]


def _on_value(condition: Condition) -> tuple[str, list[Scalar]]:
    match condition.operator:
        case "exists":
            return "1", []
        case "any":
            return _any(condition.values)
        case "prefix":
            prefix = as_text(condition.values[0])
            return "substr(text, 1, length(?)) = ?", [prefix, prefix]
        case "gte" | "gt" | "lte" | "lt":
            return _compared(_SIGNS[condition.operator], condition.values[0])


def _any(values: Sequence[Scalar]) -> tuple[str, list[Scalar]]:
    """Equal as text or as number: object stores keep metadata as text, so ``"2024"`` and ``2024`` are one."""
    numbers = [value for value in values if is_number(value)]
    return f"text IN ({_marks(values)}) OR number IN ({_marks(numbers)})", [*map(as_text, values), *numbers]


def _compared(sign: str, value: Scalar) -> tuple[str, list[Scalar]]:
    """Numbers with numbers, the rest as text, which is right for ISO dates."""
    if is_number(value):
        return f"number {sign} ?", [value]
    try:
        number = float(value)
    except ValueError:
        return f"number IS NULL AND text {sign} ?", [as_text(value)]
    return f"CASE WHEN number IS NULL THEN text {sign} ? ELSE number {sign} ? END", [as_text(value), number]


def _marks(values: Collection[object]) -> str:
    return ",".join("?" * len(values))


def _storable(value: Scalar) -> Scalar:
    """SQLite takes no lone surrogates, and no integers beyond 64 bits."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return float(value) if isinstance(value, int) and value.bit_length() > 63 else value
