"""The Lambda that a deploy calls (a custom resource of CloudFormation) so that there is an index before the first request."""

import json
import logging
import time
import urllib.request
from collections.abc import Mapping
from typing import Any, Protocol

from graph.errors import IndexUnavailable
from graph.wiring import wiring

_log = logging.getLogger(__name__)
_PATIENCE_S = 180.0
"""A new domain or collection, and who may use it, take a minute to be known everywhere."""
_PAUSE_S = 5.0
_MARGIN_S = 15.0
_LONGEST_REASON = 1_000
"""CloudFormation takes 4 KB in all."""


class Context(Protocol):
    """What Lambda tells of an invocation."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds that are left."""
        ...


def handler(event: Mapping[str, Any], context: Context) -> None:
    """Make the index that the settings name, or refuse one that does not fit. A stack that goes leaves it where it is."""
    answer = {
        "Status": "SUCCESS",
        "PhysicalResourceId": wiring().settings.opensearch_index,
        **{name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    if event["RequestType"] != "Delete":
        try:
            made = _ensure(event["ResourceProperties"].get("Roles", []), context)
            _log.info("index=%s made=%s", answer["PhysicalResourceId"], made)
        except Exception as error:  # noqa: BLE001  # without an answer CloudFormation waits for an hour
            _log.exception("the index cannot be used")
            answer |= {"Status": "FAILED", "Reason": str(error)[:_LONGEST_REASON] or type(error).__name__}
    _tell(event["ResponseURL"], answer)


def _ensure(roles: list[str], context: Context) -> bool:
    left_s = context.get_remaining_time_in_millis() / 1000 - _MARGIN_S
    deadline = time.monotonic() + min(_PATIENCE_S, left_s)
    while True:
        try:
            return wiring().ensure_index(roles)
        except IndexUnavailable as error:
            if time.monotonic() + _PAUSE_S > deadline:
                raise
            _log.info("not yet: %s", error)
        time.sleep(_PAUSE_S)


def _tell(url: str, answer: Mapping[str, str]) -> None:
    request = urllib.request.Request(  # noqa: S310  # CloudFormation's own, presigned
        url, json.dumps(answer).encode(), {"Content-Type": ""}, method="PUT"
    )
    with urllib.request.urlopen(request, timeout=10):  # noqa: S310
        pass
