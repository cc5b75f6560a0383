"""The list of settings: `footnote doctor --settings`."""

import ast
import inspect
import itertools
import textwrap
from collections.abc import Iterator
from typing import get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from graph.settings import PREFIX, Settings


def settings_list() -> str:
    """Every setting: its variable, type, default and meaning."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    meanings = dict(_meanings())
    for name, field in Settings.model_fields.items():
        variable = field.validation_alias if isinstance(field.validation_alias, str) else f"{PREFIX}{name.upper()}"
        default = "" if field.default is None else f", {_text(field.default)}"
        yield f"{variable} ({_type(field)}{default})"
        yield textwrap.indent(textwrap.fill(meanings[name], 100), "    ")


def _meanings() -> Iterator[tuple[str, str]]:
    """The text under each field; read here alone, so that nothing else pays for it."""
    (model,) = ast.parse(textwrap.dedent(inspect.getsource(Settings))).body
    body = model.body if isinstance(model, ast.ClassDef) else []
    for field, below in itertools.pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(meaning))):
                yield name, " ".join(meaning.split())


def _type(field: FieldInfo) -> str:
    kinds = [kind for kind in get_args(field.annotation) or (field.annotation,) if kind not in (type(None), Ellipsis)]
    return " | ".join(
        "text" if kind in (str, SecretStr) else kind.__name__ if isinstance(kind, type) else repr(kind) for kind in kinds
    )


def _text(default: object) -> str:
    return ",".join(default) if isinstance(default, tuple) else str(default)
