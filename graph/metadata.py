"""Metadata of objects, which stores keep as text, as the typed ``meta`` that filters match on."""

import json
import re
from collections.abc import Mapping, Sequence

from graph.ports import MetaValue

GROUPS = "groups"
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?")


def typed(metadata: Mapping[str, str]) -> tuple[dict[str, MetaValue], list[str]]:
    """``meta`` and the groups that may read.

    A text becomes a number only where the number prints as the same text, so that a version ``2.10`` or a code ``007``
    stays what it is; JSON in quotes or brackets is read as such.
    """
    meta = as_json(metadata)
    meta.pop(GROUPS, None)
    return meta, groups_of(metadata.get(GROUPS, ""))


def as_json(metadata: Mapping[str, str]) -> dict[str, MetaValue]:
    """Metadata as a sidecar holds it; `as_text` leads back."""
    return {name: text if name == GROUPS else _value(text) for name, text in metadata.items()}


def groups_of(groups: str | Sequence[str]) -> list[str]:
    """Names of groups, sorted, from a list or from text with commas."""
    names = _strings(groups) if isinstance(groups, str) else groups
    return sorted({name.strip() for name in names if name.strip()})


def as_text(meta: Mapping[str, object]) -> dict[str, str]:
    """Metadata to store with an object, which `typed` reads back as the values given here."""
    return {name: _text(name, value) for name, value in meta.items()}


def _strings(text: str) -> list[str]:
    value = _value(text)
    return value if isinstance(value, list) else text.split(",")


def _value(text: str) -> MetaValue:
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.fullmatch(text):
        number = float(text) if "." in text else int(text)
        return number if str(number) == text else text
    if text[:1] in ("[", '"'):
        return _json(text)
    return text


def _json(text: str) -> MetaValue:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if isinstance(value, list) and not any(isinstance(one, list | dict) for one in value):
        return [one if isinstance(one, str) else json.dumps(one) for one in value]
    return value if isinstance(value, str) else text


def _text(name: str, value: object) -> str:
    if name == GROUPS and isinstance(value, list | tuple):
        return ",".join(str(one) for one in value)
    if isinstance(value, str):
        return value if name == GROUPS or _value(value) == value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)
