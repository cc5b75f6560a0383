"""When a passage was written or came into force, where it or its metadata says so; and which statements contradict."""

import re

from graph.ports import Passage
from graph.stopwords import content_terms
from graph.support import numbers

_FIELDS = (
    "effective",
    "effective_from",
    "valid_from",
    "date",
    "updated",
    "updated_at",
    "published",
    "published_at",
    "version_date",
)
_ISO = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.年]\s?(1[0-2]|0?[1-9])(?:[-/.月]\s?(3[01]|[12]\d|0?[1-9]))?(?!\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = re.compile(
    rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+)?(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+"
    r"(?:(?P<after>\d{1,2})(?:st|nd|rd|th)?,?\s+)?(?P<year>(?:19|20)\d\d)",
    re.IGNORECASE,
)
_HEAD = 400  # characters in which a document says when it was made
SAME_SUBJECT = 0.5
Date = tuple[int, int, int]


def date_of(passage: Passage) -> Date | None:
    """Year, month, day (0 where not given): as stated, else the first date at the beginning of the text."""
    return stated_date(passage) or first_date(passage["text"][:_HEAD])


def stated_date(passage: Passage) -> Date | None:
    """The date in a document's metadata, else in its title, heading or path."""
    for field in _FIELDS:
        if found := first_date(str(passage["meta"].get(field, ""))):
            return found
    for text in (passage["title"], passage.get("heading", ""), passage["path"]):
        if found := first_date(text):
            return found
    return None


def first_date(text: str) -> Date | None:
    """The first date of a text."""
    iso, named = _ISO.search(text), _NAMED.search(text)
    if iso and (named is None or iso.start() <= named.start()):
        return int(iso[1]), int(iso[2]), int(iso[3] or 0)
    if named:
        return int(named["year"]), _MONTHS.index(named["month"].lower()) + 1, int(named["day"] or named["after"] or 0)
    return None


def contradict(one: str, other: str, *, shared: float = SAME_SUBJECT) -> bool:
    """Whether two statements speak of the same, by their share of common words, and give different numbers."""
    mine, theirs = numbers(one), numbers(other)
    if not mine or not theirs or mine == theirs:
        return False
    words, others = (set(content_terms(text)) - found for text, found in ((one, mine), (other, theirs)))
    return len(words & others) >= shared * min(len(words), len(others)) > 0
