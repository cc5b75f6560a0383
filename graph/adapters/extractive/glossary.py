"""A question in the other language, word by word: for documents that share no words with it.

Vectors alone rank poorly across languages, worst in a corpus of one narrow subject: of 15 Chinese questions they find
the page of FastAPI's English documentation for 4, with the glossary 13. A bag of translated words is no sentence, but
BM25 needs none.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from graph.stopwords import STOPWORDS
from graph.text import CJK, language, terms

_EMPTY = frozenset(
    """
    怎么 怎样 如何 什么 为什么 哪些 哪个 哪里 哪 多少 多久 几 谁 是否 可以 能否 应该 需要 请问 一个 这个 那个 我们 你们
    他们 时候 以及 之后 之前 以后 以前 如果 或者 还是 比如 整个 所有 自己 同一个 的 了 吗 呢 在 里 中 把 该 让 也 要 都
    用 做 是 被 和 与 我 你 他 它 想 给 对 从 到 会 能 上 下 有 就 只 先 再 最 为 以 及 或 出 去 来 跟 时 后 前
    """.split()  # noqa: SIM905  # a list of quoted characters reads badly
)
_LONGEST = 4
_FEWEST_KNOWN = 0.6
"""Share of a question that must be known, in characters or terms, for the rest to be worth a search."""
_LENGTH_OF_A_NAME = 2  # as much as a Chinese word
_LATIN = re.compile(r"[A-Za-z][\w.+/=-]*|\d+(?:[.,]\d+)*|(?<!\w)\.[a-z]+")
_NAME = re.compile(r"\w*[A-Z_]\w*[A-Z_]\w*|\w*[a-z][A-Z]\w*|\d[\w.]*")
_PROPER = re.compile(r"(?<!^)(?<![.?!:,\"“]\s)(?<!\w)[A-Z]\w*[a-z]\w*")
_LONE = re.compile(f"(?<![{CJK}])[{CJK}](?![{CJK}])")
_CJK_RUN = re.compile(f"[{CJK}]+")


def gloss(question: str) -> str:
    """The question's words in the other language, Chinese or English; empty where the glossary has too few of them."""
    if language(question) == "zh":
        parts = [part for run in _CJK_RUN.findall(question) for part in _cut(run)]
        kept = _LATIN.findall(question)
        named = _LENGTH_OF_A_NAME * len(kept)
        known, every = named + sum(len(part) for part in parts if part in _to_english()), named + sum(map(len, parts))
        translated = [word for part in parts for word in _to_english().get(part, ())]
    else:
        wanted = [term for term in dict.fromkeys(terms(question)) if term not in STOPWORDS]
        kept = _NAME.findall(question)
        in_names = {term for name in kept for term in terms(name)}
        found = [term for term in wanted if term in _to_chinese() or term in in_names]
        known, every = len(found), len(wanted)
        translated = [word for term in wanted for word in _to_chinese().get(term, ())]
    return " ".join(dict.fromkeys([*kept, *translated])) if translated and known >= _FEWEST_KNOWN * every else ""


def names(question: str) -> list[list[str]]:
    """The names in a question, each with what it is called in the other language."""
    words = [part for run in _CJK_RUN.findall(question) for part in _cut(run)]
    chinese = [[word, *_to_english()[word]] for word in words if any(one[:1].isupper() for one in _to_english().get(word, ()))]
    latin = _PROPER.findall(question)
    return [*chinese, *([name, *(one for term in terms(name) for one in _to_chinese().get(term, ()))] for name in latin)]


def spaced(question: str) -> str:
    """The question with spaces around Chinese words that are known, without those that say nothing and lone characters.

    Bigrams of two words' ends and beginnings ("假多" in 年假多少天) would be sought in vain.
    """
    apart = _CJK_RUN.sub(lambda run: "".join(f" {part} " if len(part) > 1 else part for part in _parts(run[0])), question)
    kept = _LONE.sub(" ", apart)
    return kept if terms(kept) else question


def alternatives(question: str) -> dict[str, list[str]]:
    """Words that mean the same as those of a question, in Chinese and in the other language, by each of its search terms."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for word in (part for run in _CJK_RUN.findall(question) for part in _cut(run) if part in _to_english()):
        others = [other for other in _alike()[frozenset(_to_english()[word])] if other != word]
        for term in terms(word):
            found[term] += [*others, *_to_english()[word]]
    for term in terms(question):
        found[term] += _to_chinese().get(term, ())
    return found


def _cut(run: str) -> list[str]:
    """A run of Chinese cut into words and single characters, those that say nothing left out."""
    return [part for part in _parts(run) if part.strip()]


def _parts(run: str) -> Iterator[str]:
    """The longest known words from left to right, single characters between them, a space for what says nothing."""
    at = 0
    while at < len(run):
        longest = (run[at : at + size] for size in range(_LONGEST, 0, -1))
        part = next((part for part in longest if part in _to_english() or part in _EMPTY), run[at])
        at += len(part)
        yield " " if part in _EMPTY else part


@cache
def _to_english() -> dict[str, list[str]]:
    lines = Path(__file__).with_name("glossary.tsv").read_text("utf-8").splitlines()
    return {chinese: english.split() for chinese, _, english in (line.partition("\t") for line in lines)}


@cache
def _alike() -> dict[frozenset[str], list[str]]:
    """Chinese words by what they mean in English."""
    entries: defaultdict[frozenset[str], list[str]] = defaultdict(list)
    for chinese, english in _to_english().items():
        entries[frozenset(english)].append(chinese)
    return dict(entries)


@cache
def _to_chinese() -> dict[str, list[str]]:
    entries: defaultdict[str, list[str]] = defaultdict(list)
    for chinese, english in _to_english().items():
        for word in english:
            for term in terms(word):
                if term not in STOPWORDS:
                    entries[term].append(chinese)
    return dict(entries)
