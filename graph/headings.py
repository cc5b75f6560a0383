"""Under which headings some words of a passage stand: passages may hold several sections, and know only that of their start."""

import re

from graph.blocks import headings
from graph.ports import Passage

_SEPARATOR = " > "
_BELOW_THE_TITLE = 2
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|[*`]+|(?<!\w)_+|_+(?!\w)")


def heading_at(passage: Passage, at: int) -> str:
    """The heading path at code point ``at`` of the passage's text, outermost first; empty where there is none."""
    names = [name for name in passage.get("heading", "").split(_SEPARATOR) if name]
    inside = [(one.level, _words(one.title)) for one in headings(passage["text"]) if one.start <= at]
    last = inside[0][0] if names and inside and inside[0][1] == names[-1] else _BELOW_THE_TITLE + len(names) - 1
    path = [(last - len(names) + place, name) for place, name in enumerate(names, start=1)]
    for level, title in inside:
        path = [*(one for one in path if one[0] < level), (level, title)]
    if path and path[0][1] == passage["title"]:
        del path[0]
    return _SEPARATOR.join(name for _, name in path if name)


def _words(title: str) -> str:
    """A heading as paths have it: without markup."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", title)).split())
