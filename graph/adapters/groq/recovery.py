"""The object that was meant, out of what a model wrote: whole, fenced, prefixed, or as the arguments of a tool."""

import json
from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError

Shape = TypeVar("Shape", bound=BaseModel)

_DECODER = json.JSONDecoder(strict=False)  # newlines inside of strings are a common slip


def read(text: str, shape: type[Shape]) -> Shape | None:
    """The first object in the text that has the shape."""
    for candidate in _objects(text):
        try:
            return shape.model_validate(candidate)
        except ValidationError:
            continue
    return None


def _objects(text: str) -> Iterator[object]:
    """Every JSON object in the text, from the left; for a tool call (``{"name", "arguments"}``) its arguments."""
    at = text.find("{")
    while at >= 0:
        try:
            found, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError:
            end = at + 1
        else:
            yield from _meant(found)
        at = text.find("{", end)


def _meant(found: object) -> Iterator[object]:
    yield found
    arguments = found.get("arguments", found.get("parameters")) if isinstance(found, dict) else None
    if isinstance(arguments, str):
        yield from _objects(arguments)
    elif arguments is not None:
        yield arguments
