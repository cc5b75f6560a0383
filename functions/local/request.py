"""A question of the command line as the body that every door takes."""

import typer
from pydantic import ValidationError

from functions import errors
from functions.bodies import AskBody
from functions.local.start import pairs
from graph import filters
from graph.errors import InvalidFilter
from graph.metadata import as_json


def body_of(question: str, thread: str | None, options: list[str] | None) -> AskBody:
    """The body, checked here already: what is wrong with it is a wrong use of the command."""
    conditions: dict[str, object] = {}
    for key, text in pairs(options, "--filter"):
        value = as_json({"": text})[""]  # a number is a number, as in metadata
        earlier = conditions.get(key)
        conditions[key] = value if earlier is None else [*(earlier if isinstance(earlier, list) else [earlier]), value]
    try:
        filters.parse(conditions)
        return AskBody.model_validate({"question": question, "thread_id": thread, "filters": conditions or None})
    except InvalidFilter as error:
        raise typer.BadParameter(str(error), param_hint="--filter") from None
    except ValidationError as error:
        first = errors.invalid(error.errors()).problems[0]
        hint = {"/question": "QUESTION", "/thread_id": "--thread"}.get(first["pointer"], first["pointer"])
        raise typer.BadParameter(first["message"], param_hint=hint) from None
