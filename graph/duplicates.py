"""Which passages say the same, so that one of them is enough.

By text only. Two passages whose vectors are nearly one (multilingual-e5-small: over 0.97, 7 spreads above unrelated ones) are
mostly about two things of one kind: of 64 such pairs among the first ten hits of five public sets, 51 differed in their text,
as two stations of one line do, or two studies of one vaccine.
"""

import re
from itertools import pairwise

from graph.ports import Passage
from graph.text import terms

_SAME_SPAN = 0.5
"""Share of the shorter span that two passages of one document may have in common: chunks overlap by a quarter."""
_SAME_TEXT = 0.8
"""Share of a passage's shingles, found in another one, from which on it says nothing new."""
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*|[〇零一二两三四五六七八九十百千万亿]+")


def says_nothing_new(passage: Passage, beside: Passage) -> bool:
    """Whether a passage can be left out where the other one is shown.

    Other numbers are news, however few: two versions of a rule may differ in a date or an amount.
    """
    if passage["document_id"] == beside["document_id"]:
        common = min(passage["end"], beside["end"]) - max(passage["start"], beside["start"])
        shorter = min(passage["end"] - passage["start"], beside["end"] - beside["start"])
        return common > _SAME_SPAN * shorter
    if not _numbers(passage) <= _numbers(beside):
        return False
    own, others = _shingles(passage), _shingles(beside)
    return len(own & others) >= _SAME_TEXT * len(own)


def _shingles(passage: Passage) -> set[tuple[str, ...]]:
    words = terms(passage["text"])
    return set(pairwise(words)) or {tuple(words)}


def _numbers(passage: Passage) -> set[str]:
    return set(_NUMBER.findall(passage["text"]))
