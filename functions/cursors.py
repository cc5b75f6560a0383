"""Opaque cursors: where a page ended, in a form that invites nobody to build one."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from graph.errors import InvalidRequest


def encode(place: str | None) -> str | None:
    """The cursor of a place; none at the end."""
    return None if place is None else urlsafe_b64encode(place.encode()).decode().rstrip("=")


def decode(cursor: str | None) -> str | None:
    """The place of a cursor.

    Raises:
        InvalidRequest: it is not one of ours.
    """
    if cursor is None:
        return None
    try:
        place = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode()
    except ValueError:
        place = ""
    if not place or encode(place) != cursor:
        raise InvalidRequest("this is not a cursor; take next_cursor of the page before", pointer="/cursor")
    return place
