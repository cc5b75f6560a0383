"""What must hold of any running Footnote, through its public doors alone: ``python -m tests.e2e.acceptance URL``.

It brings documents of its own, about things that exist nowhere else, and takes them away again.
"""

import argparse
import os
import sys
import time

from tests.e2e import checks_of_documents, checks_of_refusals, checks_of_turns
from tests.e2e.client import Client
from tests.e2e.library import borrowed

CHECKS = (*checks_of_documents.CHECKS, *checks_of_turns.CHECKS, *checks_of_refusals.CHECKS)


def main() -> int:
    """Run every check and print what held; 1 if one did not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--socket-url", help="address of the WebSocket, where it is not URL/ws")
    parser.add_argument("--token", default=os.environ.get("FOOTNOTE_TOKEN"))
    parser.add_argument("--seconds", type=float, default=60, help="how long a document or a turn may take")
    chosen = parser.parse_args()
    with Client.of(chosen.url, socket_url=chosen.socket_url, token=chosen.token, seconds=chosen.seconds) as client:
        failed = accept(client)
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} held")
    return 1 if failed else 0


def accept(client: Client) -> int:
    """How many checks failed, each printed."""
    failed = 0
    with borrowed(client) as library:
        for check in CHECKS:
            began = time.monotonic()
            try:
                check(client, library)
            except Exception as error:  # noqa: BLE001  # a check may fail in any way; the others still run
                failed += 1
                print(f"FAILED {check.__name__}: {type(error).__name__}: {error}")
            else:
                print(f"held   {check.__name__} ({time.monotonic() - began:.1f} s)")
    return failed


if __name__ == "__main__":
    sys.exit(main())
