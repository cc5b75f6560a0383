"""The filter language of ``filters``, checked once and compiled by each index adapter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from graph.errors import InvalidFilter

Operator = Literal["any", "gte", "gt", "lte", "lt", "exists", "prefix"]
Scalar = str | int | float | bool
_RESERVED = ("tenant", "groups")  # identity comes from the authorizer
_LONGEST_LIST = 100


@dataclass(frozen=True)
class Condition:
    """One condition on one field; all conditions of a filter must hold.

    ``any``: the field, or one of its values if it is a list, is one of ``values``. ``exists``: ``values`` is one bool.
    The others compare with the one value in ``values``.
    """

    field: str
    operator: Operator
    values: tuple[Scalar, ...]


def parse(filters: Mapping[str, object] | None) -> tuple[Condition, ...]:
    """Conditions of a request's ``filters``.

    Raises:
        InvalidFilter: with the JSON pointer of what cannot be applied.
    """
    return tuple(condition for field, value in (filters or {}).items() for condition in _conditions(field, value))


def _conditions(field: str, value: object) -> list[Condition]:
    pointer = f"/filters/{_token(field)}"
    if field in _RESERVED:
        raise InvalidFilter(f"{field} is taken from who you are and cannot be filtered on. Remove it.", pointer=pointer)
    if isinstance(value, Mapping):
        if not value:
            raise InvalidFilter("an empty condition: give an operator such as gte, lt, exists or prefix", pointer=pointer)
        return [_comparison(field, name, operand, pointer) for name, operand in value.items()]
    values = value if isinstance(value, list) else [value]
    if not values or len(values) > _LONGEST_LIST:
        raise InvalidFilter(f"a list of 1 to {_LONGEST_LIST} values is needed", pointer=pointer)
    return [Condition(field, "any", tuple(_scalar(one, pointer) for one in values))]


def _comparison(field: str, name: str, operand: object, pointer: str) -> Condition:
    for operator in get_args(Operator):
        if name != operator or operator == "any":
            continue
        if operator == "exists" and not isinstance(operand, bool):
            raise InvalidFilter("exists takes true or false", pointer=f"{pointer}/exists")
        if operator == "prefix" and not isinstance(operand, str):
            raise InvalidFilter("prefix takes a text", pointer=f"{pointer}/prefix")
        return Condition(field, operator, (_scalar(operand, f"{pointer}/{name}"),))
    raise InvalidFilter(f"{name!r} is not an operator: gte, gt, lte, lt, exists, prefix", pointer=f"{pointer}/{_token(name)}")


def _token(name: str) -> str:
    """A name inside a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _scalar(value: object, pointer: str) -> Scalar:
    if isinstance(value, str | int | float | bool):
        return value
    raise InvalidFilter("a text, number, true or false is needed", pointer=pointer)
