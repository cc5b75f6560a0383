"""Which type a client wants (RFC 9110, 12.5.1), and how long it wants to wait (RFC 7240)."""

from collections.abc import Callable

from fastapi import Request

from functions.errors import NotAcceptable

JSON = "application/json"
SSE = "text/event-stream"


def accepts(*offered: str) -> Callable[[Request], str]:
    """A dependency: the one of the offered types that the client likes best, the first among equals.

    Raises:
        NotAcceptable: it likes none.
    """

    def choose(request: Request) -> str:
        ranges = _ranges(", ".join(request.headers.getlist("accept")) or "*/*")
        best = max(offered, key=lambda media: _quality(media, ranges))
        if _quality(best, ranges) <= 0:
            raise NotAcceptable(f"this route answers with {' or '.join(dict.fromkeys(offered))}; accept that")
        return best

    return choose


def wants_async(request: Request) -> bool:
    """Whether the client prefers an acknowledgement to waiting."""
    preferences = ",".join(request.headers.getlist("prefer")).lower().split(",")
    return any(one.partition(";")[0].strip() == "respond-async" for one in preferences)


def _ranges(header: str) -> list[tuple[str, float]]:
    ranges = []
    for part in header.split(","):
        media, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((one[2:] for one in parameters if one.startswith("q=")), "1")
        try:
            ranges.append((media, float(quality)))
        except ValueError:
            ranges.append((media, 0.0))
    return ranges


def _quality(media: str, ranges: list[tuple[str, float]]) -> float:
    """Of the most specific range that fits."""
    found = dict(ranges)
    kind = media.partition("/")[0]
    return next((found[one] for one in (media, f"{kind}/*", "*/*") if one in found), 0.0)
