"""JSON as it is let in, and as it goes out."""

import json
import math
from typing import NoReturn

from functions.errors import MalformedJson
from graph.errors import InvalidRequest

_DEEPEST = 32


def loads(body: bytes | str) -> object:
    """The JSON of a body or frame: UTF-8, every key once, finite numbers, no half characters.

    Raises:
        MalformedJson: it is not JSON, or different readers would read different things.
        InvalidRequest: it nests too deep, or holds half a surrogate pair.
    """
    try:
        text = body.decode("utf-8-sig") if isinstance(body, bytes) else body
        value: object = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise MalformedJson(f"the body is not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise InvalidRequest(f"the JSON nests deeper than {_DEEPEST} levels") from None
    except ValueError as error:
        raise MalformedJson(f"the body is not valid JSON: {error}") from None
    _check(value, depth=0)
    return value


def dumps(value: object) -> bytes:
    """UTF-8 JSON. Half a surrogate pair, as old file names may hold, goes out as its escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")  # it writes \udc80, which is JSON


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError("a key stands twice in one object")
        found[name] = value
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _check(value: object, depth: int) -> None:
    if depth > _DEEPEST:
        raise InvalidRequest(f"the JSON nests deeper than {_DEEPEST} levels")
    match value:
        case str():
            if not value.isascii():
                _check_characters(value)
        case dict():
            for name, one in value.items():
                _check(name, depth)
                _check(one, depth + 1)
        case list():
            for one in value:
                _check(one, depth + 1)


def _check_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidRequest("a text holds half a surrogate pair, which is no character; remove it") from None
