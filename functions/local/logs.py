"""Logs of the command line: to stderr; ids, counts and milliseconds only."""

import logging
import sys

_NO_HANDSHAKE = "ASGI callable returned without completing handshake."


def configure(level: str) -> None:
    """Log to stderr from this level on; other libraries only what is wrong."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    for name in ("functions", "graph", "ingestion"):
        logging.getLogger(name).setLevel(level)
    logging.getLogger("opensearch").setLevel(logging.ERROR)  # what fails is raised, and said once
    logging.getLogger("uvicorn.error").addFilter(_is_meant)


def _is_meant(record: logging.LogRecord) -> bool:
    """False for what uvicorn says of each WebSocket that is answered with a refusal (its pull request 3138)."""
    return record.msg != _NO_HANDSHAKE
