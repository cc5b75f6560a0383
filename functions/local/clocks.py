"""Whether this machine's clock is right: tokens and signed requests fail where it is not."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from functions.local.finding import Finding

_TOLERATED_S = 60


def compare(date: str | None) -> Finding:
    """Compare the clock with the ``Date`` of an answer that came just now."""
    try:
        there = parsedate_to_datetime(date or "")
    except ValueError:
        return Finding("note", "the answer says no time to compare with")
    off_s = round((datetime.now(UTC) - there).total_seconds())
    if abs(off_s) > _TOLERATED_S:
        return Finding("fails", f"it is {abs(off_s)} s {'fast' if off_s > 0 else 'slow'}", "set it, by NTP")
    return Finding("ok", "it is right within a minute")
