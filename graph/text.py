"""Text as search sees it: terms, sentences, language. Both index adapters, the chunker and the extractive reasoner use it."""

import re
import threading
import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple

import Stemmer

Language = Literal["en", "zh", "ja", "ko"]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_KANA = "\u3040-\u30ff\u31f0-\u31ff"
_HANGUL = "\uac00-\ud7af\u1100-\u11ff"
CJK = f"{_HAN}{_KANA}{_HANGUL}"
_TERM = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_KANA_CHARACTER = re.compile(f"[{_KANA}]")
_HANGUL_CHARACTER = re.compile(f"[{_HANGUL}]")
_LATIN_WORD = re.compile(r"[^\W\d_]{2,}")
_CJK_RUN = re.compile(f"[{CJK}]")
_SENTENCE_END = re.compile(
    r"""
      [。！？!?]+["'”’」』）)\]]*          # CJK and emphatic ends need no space after them
    | (?<=[\w)\]"'”’`*])\.["'”’)\]]*(?=\s|$)  # a full stop before a space
    | [；;](?=\s*\n)
    | \n+\s*
    """,
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|no|fig|eq|sec|dr|mr|mrs|ms|prof|inc|ltd|co|corp|st|jr|sr|u\.s|u\.k|a\.m|p\.m|approx|dept|est)"
    r"|\b[A-Z]|^\s*\d{1,3})\.$",
    re.IGNORECASE | re.MULTILINE,
)
_local = threading.local()


class Span(NamedTuple):
    """Code points ``start`` to ``end`` of a text."""

    start: int
    end: int


def terms(text: str) -> list[str]:
    """Search terms in order: stemmed words, and character bigrams of Chinese, Japanese and Korean.

    Bigrams match or beat a dictionary on most public Chinese sets and need none. A lone character stays as it is.
    """
    found: list[str] = []
    for match in _TERM.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run = match[0]
        if not _CJK_RUN.match(run):
            found.append(_stem(run))
        elif len(run) == 1:
            found.append(run)
        else:
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
    return found


def characters(text: str) -> list[str]:
    """The Chinese, Japanese and Korean characters that `terms` hides in bigrams, each once.

    Indexed beside the terms they let a question of one character ("税？") find something.
    """
    runs = (match[0] for match in _TERM.finditer(unicodedata.normalize("NFKC", text).casefold()))
    return list(dict.fromkeys(character for run in runs if len(run) > 1 and _CJK_RUN.match(run) for character in run))


def _stem(word: str) -> str:
    stemmer = getattr(_local, "stemmer", None)  # a PyStemmer object must not be shared between threads
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    stem: str = stemmer.stemWord(word)
    return stem


def sentences(text: str) -> list[Span]:
    """Spans of the sentences, without the white space around them; a line end also ends a sentence."""
    spans: list[Span] = []
    start = 0
    for end in _ends(text):
        _add(spans, text, start, end)
        start = end
    _add(spans, text, start, len(text))
    return spans


def _ends(text: str) -> Iterator[int]:
    for match in _SENTENCE_END.finditer(text):
        if match[0].startswith(".") and _ABBREVIATION.search(text[max(0, match.start() - 12) : match.start() + 1]):
            continue
        yield match.end()


def _add(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        first = start + len(piece) - len(piece.lstrip())
        spans.append(Span(first, first + len(stripped)))


def language(text: str) -> Language:
    """The language a text is most likely written in, by its script; ``en`` stands for every alphabet.

    Han characters carry more than a letter does, so one outweighs a Latin word ("FastAPI 怎么关闭文档" is Chinese).
    """
    if _HANGUL_CHARACTER.search(text):
        return "ko"
    kana, han = len(_KANA_CHARACTER.findall(text)), len(_HAN_CHARACTER.findall(text))
    if kana * 5 > han + kana:
        return "ja"
    words = len(_LATIN_WORD.findall(_CJK_RUN.sub(" ", text)))
    return "zh" if han >= 2 and han > words else "en"
