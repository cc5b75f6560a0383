"""The sides of a comparison."""

import re

from graph.stopwords import STOPWORDS, content_terms
from graph.text import terms

_SIDES = (
    re.compile(r"\b(?:differ|chang|compar)\w*\b[^?.;]{0,80}?\s+between\s+(?P<a>.+?)\s+and\s+(?P<b>[^?.;]+)", re.IGNORECASE),
    re.compile(r"\bcompare\s+(?P<a>.+?)\s+(?:and|with|to|against)\s+(?P<b>[^?.;]+)", re.IGNORECASE),
    re.compile(r"\bhow\s+(?:does|do|is|are)\s+(?P<a>.+?)\s+(?:differ|different)\s+from\s+(?P<b>[^?.;]+)", re.IGNORECASE),
    re.compile(r"(?P<a>[^?.;,]+?)\s+(?:vs\.?|versus)\s+(?P<b>[^?.;,]+)", re.IGNORECASE),
    re.compile(r"(?:比较|对比)(?:一下)?(?P<a>.+?)(?:和|与|跟|同)(?P<b>[^？?。；]+)"),
    re.compile(
        r"(?P<a>[^，。？]+?)(?:和|与|跟|同)(?P<b>[^，。？]+?)(?:之间)?(?:的|有什么|有何|有哪些)+(?:区别|不同|差别|差异)"
    ),
    re.compile(r"(?P<a>[^，。？]+?)(?:和|与|跟|同)(?P<b>[^，。？]+?)相比"),
)
COMPARING = frozenset(terms("differ different difference compare comparison change changed versus vs between better"))
_LEADING = re.compile(r"^(?:what(?:'s| is| are)?|which is better[,:]?|the|an?|请问|请|在)\s*", re.IGNORECASE)


def sides(question: str) -> list[str]:
    """What a question compares, two sides; nothing if it compares nothing."""
    for pattern in _SIDES:
        if match := pattern.search(question):
            one, other = (_bare(match[name]) for name in ("a", "b"))
            words = other.split()
            length = len(one.split())
            alike = length == 1 or one.split()[0].casefold() == words[0].casefold() if words else False
            if alike and length < len(words) and one.isascii():
                one = " ".join([one, *words[length:]])  # "domestic and overseas refunds", "firmware 2 and firmware 3 prices"
            if one and other:
                return [one, other]
    return []


def queries(question: str) -> list[str]:
    """A search for each side, with what else the question says."""
    compared = sides(question)
    known = {term for side in compared for term in terms(side)} | COMPARING
    words = re.findall(r"[\w'’.-]+", question) if question.isascii() else []
    rest = [word for word in words if not set(content_terms(word)) & known and not set(terms(word)) <= STOPWORDS]
    return [" ".join([side, *rest]) for side in compared]


def _bare(side: str) -> str:
    side = side.strip(" ,，、:：'\"“”")
    while match := _LEADING.match(side):
        if not match[0]:
            break
        side = side[match.end() :]
    return side.strip()
