"""The command `footnote invoke`: one of the AWS handlers, with an event from a file."""

import importlib
import json
import sys
import time
import traceback
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FUNCTIONS: Mapping[str, str] = {
    "api": "functions.api.handler",
    "authorizer": "functions.authorizer.handler",
    "ensure-index": "ingestion.ensure_index",
    "ingestion": "ingestion.handler",
    "websocket": "functions.websocket.handler",
    "worker": "functions.worker.handler",
}
_SECONDS = 900


@dataclass
class Context:
    """What Lambda tells a handler about its invocation."""

    function_name: str
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    memory_limit_in_mb: int = 2048
    function_version: str = "$LATEST"
    _deadline: float = field(default_factory=lambda: time.monotonic() + _SECONDS)

    @property
    def invoked_function_arn(self) -> str:
        """A name as AWS would give it."""
        return f"arn:aws:lambda:local:000000000000:function:{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds that are left."""
        return max(0, int((self._deadline - time.monotonic()) * 1000))


def invoke(function: str, event_file: Path) -> int:
    """Call a handler and print what it returns; 1 if it raises, 2 if there is nothing to call it with."""
    if function not in FUNCTIONS:
        print(f"footnote: there is no function {function}; one of {', '.join(FUNCTIONS)}", file=sys.stderr)
        return 2
    try:
        event = json.loads(event_file.read_bytes())
    except OSError as error:
        print(f"footnote: {event_file} cannot be read: {error.strerror}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"footnote: {event_file} is not JSON: {error}", file=sys.stderr)
        return 2
    try:
        result = importlib.import_module(FUNCTIONS[function]).handler(event, Context(function_name=function))
        print(json.dumps(result, ensure_ascii=False))
    except Exception:  # noqa: BLE001  # whatever it raises is what was asked for
        traceback.print_exc()
        return 1
    return 0
