"""Logs of the command line: to stderr; ids, counts and milliseconds only."""

import logging
import sys


def configure(level: str) -> None:
    """Log to stderr from this level on; other libraries only what is wrong."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    for name in ("functions", "graph", "ingestion"):
        logging.getLogger(name).setLevel(level)
