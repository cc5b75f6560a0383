"""Times as the wire carries them."""

from datetime import UTC, datetime


def now_iso() -> str:
    """Now, ISO 8601 UTC with milliseconds: of fixed width, so it sorts as text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
