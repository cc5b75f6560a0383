"""The filter language: what is understood, and where what is not stands in the request."""

import pytest

from graph.errors import InvalidFilter
from graph.filters import Condition, Operator, parse


@pytest.mark.parametrize("nothing", [None, {}])
def test_no_filter_is_no_condition(nothing: dict[str, object] | None) -> None:
    assert parse(nothing) == ()


@pytest.mark.parametrize(
    ("value", "operator", "values"),
    [
        ("travel", "any", ("travel",)),
        (2024, "any", (2024,)),
        (True, "any", (True,)),
        (["travel", 3], "any", ("travel", 3)),
        ({"gte": "2024-01-01"}, "gte", ("2024-01-01",)),
        ({"lt": 1.5}, "lt", (1.5,)),
        ({"exists": False}, "exists", (False,)),
        ({"prefix": "handbook/"}, "prefix", ("handbook/",)),
    ],
)
def test_a_field_has_one_condition(value: object, operator: Operator, values: tuple[object, ...]) -> None:
    [condition] = parse({"field": value})

    assert (condition.field, condition.operator, condition.values) == ("field", operator, values)


def test_every_condition_of_every_field_counts() -> None:
    assert parse({"year": {"gte": 2020, "lt": 2024}, "kind": "rule"}) == (
        Condition("year", "gte", (2020,)),
        Condition("year", "lt", (2024,)),
        Condition("kind", "any", ("rule",)),
    )


def test_a_list_may_have_a_hundred_values() -> None:
    [condition] = parse({"field": list(range(100))})

    assert len(condition.values) == 100


@pytest.mark.parametrize(
    ("filters", "pointer"),
    [
        ({"tenant": "acme"}, "/filters/tenant"),
        ({"groups": ["staff"]}, "/filters/groups"),
        ({"field": None}, "/filters/field"),
        ({"field": []}, "/filters/field"),
        ({"field": list(range(101))}, "/filters/field"),
        ({"field": [["nested"]]}, "/filters/field"),
        ({"field": {}}, "/filters/field"),
        ({"field": {"near": 3}}, "/filters/field/near"),
        ({"field": {"any": ["a"]}}, "/filters/field/any"),
        ({"field": {"gte": None}}, "/filters/field/gte"),
        ({"field": {"gte": ["a"]}}, "/filters/field/gte"),
        ({"field": {"exists": "yes"}}, "/filters/field/exists"),
        ({"field": {"prefix": 3}}, "/filters/field/prefix"),
        ({"fine": 1, "field": {"gte": 1, "like": "x"}}, "/filters/field/like"),
    ],
)
def test_what_cannot_be_applied_is_refused_with_its_place(filters: dict[str, object], pointer: str) -> None:
    with pytest.raises(InvalidFilter) as refused:
        parse(filters)

    assert refused.value.pointer == pointer


@pytest.mark.parametrize(("field", "pointer"), [("a/b", "/filters/a~1b"), ("a~b", "/filters/a~0b")])
def test_a_pointer_escapes_what_a_field_is_called(field: str, pointer: str) -> None:
    with pytest.raises(InvalidFilter) as refused:
        parse({field: None})

    assert refused.value.pointer == pointer
