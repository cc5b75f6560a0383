"""JSON as it is let in, and as it goes out."""

import json
import math
from typing import NoReturn

from functions.errors import MalformedJson
from graph.errors import InvalidRequest

_DEEPEST = 32


def loads(body: bytes | str) -> object:
    """The JSON of a body: UTF-8, every key once, finite numbers, no half characters.

    Raises:
        MalformedJson, InvalidRequest
    """
    value = parse(body)
    check(value)
    return value


def parse(body: bytes | str) -> object:
    """The JSON of a body or frame, not checked yet.

    Raises:
        MalformedJson: it is not JSON, or different readers would read different things.
        InvalidRequest: it nests too deep.
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


def check(value: object, pointer: str = "", depth: int = 0) -> None:
    """See that JSON is nothing that would do harm further on.

    Raises:
        InvalidRequest: it nests too deep, or holds half a surrogate pair.
    """
    if depth > _DEEPEST:
        raise InvalidRequest(f"the JSON nests deeper than {_DEEPEST} levels")
    match value:
        case str():
            _check_characters(value, pointer)
        case dict():
            for name, one in value.items():
                _check_characters(name, pointer)
                check(one, f"{pointer}/{name}", depth + 1)
        case list():
            for place, one in enumerate(value):
                check(one, f"{pointer}/{place}", depth + 1)


def _check_characters(text: str, pointer: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidRequest("a text holds half a surrogate pair, which is no character; remove it", pointer=pointer) from None
