"""What the fast model answers with. Passages and sentences go by number: fewer tokens, and nothing to copy wrongly."""

from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from graph.turn import Intent


class _Shape(BaseModel):
    model_config = ConfigDict(extra="ignore")


class PlannedStep(_Shape):
    """One step."""

    tool: str
    query: str
    purpose: str
    depends_on: list[int]


class PlanShape(_Shape):
    """A plan."""

    intent: Intent
    question: str = Field(min_length=1)
    steps: list[PlannedStep]


class AmbiguityShape(_Shape):
    """What to ask the user."""

    question: str
    options: list[str]


class GradeShape(_Shape):
    """A grade."""

    relevant: list[int]
    partial: list[int]
    sufficient: bool
    missing: str
    conflicts: str
    ambiguity: AmbiguityShape | None


class Verdict(_Shape):
    """One sentence."""

    sentence: int
    verdict: Literal["supported", "unsupported", "unsure"]


class CheckShape(_Shape):
    """A check."""

    claims: list[Verdict]


@cache
def strict_schema(shape: type[BaseModel]) -> dict[str, object]:
    """The shape's JSON schema as strict mode takes it: closed objects, every property required, no references."""
    schema = shape.model_json_schema()
    closed = _closed(schema, schema.get("$defs", {}))
    assert isinstance(closed, dict)  # noqa: S101  # a schema is an object
    return closed


def _closed(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_closed(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _closed(definitions[node["$ref"].rsplit("/", 1)[1]], definitions)
    kept = {key: _closed(value, definitions) for key, value in node.items() if key in _KEPT}
    if "properties" in node:
        kept["properties"] = {name: _closed(value, definitions) for name, value in node["properties"].items()}
        kept |= {"required": list(node["properties"]), "additionalProperties": False}
    return kept


_KEPT = ("type", "items", "enum", "anyOf")
