"""How answers are sent, and how their errors are documented."""

from collections.abc import Mapping
from typing import Any

from fastapi import Response

from functions import errors, wire
from functions.api.problems import MEDIA_TYPE

_EVERYWHERE = ("not_acceptable", "internal", "unavailable")
_IDENTIFIED = ("unauthorized", "forbidden")
_WITH_BODY = ("malformed_json", "too_large", "unsupported_media_type", "invalid_request")
_KNOWN = {told.code: told for told in (*errors.TABLE.values(), errors.INTERNAL)}


def json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return Response(wire.dumps(value), status, headers=headers, media_type="application/json")


def documented(
    *codes: str, body: bool = False, is_open: bool = False, extra: dict[int | str, dict[str, Any]] | None = None
) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route that can fail with these codes, beside those of every route.

    ``is_open``: nobody is asked who they are.
    """
    by_status: dict[int, list[str]] = {}
    identified = () if is_open else _IDENTIFIED
    for code in dict.fromkeys((*codes, *(_WITH_BODY if body else ()), *identified, *_EVERYWHERE)):
        by_status.setdefault(_KNOWN[code].status, []).append(code)
    problem = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    failures: dict[int | str, dict[str, Any]] = {
        status: {"description": ", ".join(f"`{code}`" for code in names), **problem}
        for status, names in sorted(by_status.items())
    }
    return {**(extra or {}), **failures}
