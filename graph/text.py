"""Text as search sees it: terms, sentences, language. Both index adapters, the chunker and the extractive reasoner use it."""

import re
import threading
import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple

Language = Literal["en", "zh", "ja", "ko"]

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_KANA = "\u3040-\u30ff\u31f0-\u31ff"
_HANGUL = "\uac00-\ud7af\u1100-\u11ff"
CJK = f"{_HAN}{_KANA}{_HANGUL}"
_TERM = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_KANA_CHARACTER = re.compile(f"[{_KANA}]")
_HANGUL_CHARACTER = re.compile(f"[{_HANGUL}]")
_LATIN_WORD = re.compile(r"[^\W\d_]{2,}")
_CJK_RUN = re.compile(f"[{CJK}]")
_CLOSING = r"""(?:["'”’」』）】〉》)\]*_]|\[\d{1,3}\])*"""  # emphasis and footnotes close with their sentence
_SENTENCE_END = re.compile(
    rf"""
      [!?]*[。！？｡؟।][。！？｡؟।!?]*{_CLOSING}  # these need no space after them
    | [!?]+{_CLOSING}(?=[\s{CJK}]|$)
    | (?<=[\w)\]"'”’`*%°+])\.{_CLOSING}(?=\s|$)
    | \n+
    """,
    re.VERBOSE,
)
_WHOLE = re.compile(r"`[^`\n]+`|\]\([^)\s]*\)|https?://[^\s)\]>，。]*[^\s)\]>，。.,:;!?*_\"'”’]|<[A-Za-z/!][^<>\n]*>")
"""Code, addresses and tags: no sentence ends inside."""
_NEVER_LAST = frozenset([
    "e.g", "i.e", "vs", "cf", "al", "viz", "incl", "resp", "approx", "dept", "dr", "mr", "mrs", "ms", "prof", "st", "u.s",
    "u.k", "e.u", "z.b", "d.h", "bzw",
])  # fmt: skip
_LAST_BEFORE_CAPITALS = frozenset(["etc", "inc", "ltd", "co", "corp", "jr", "sr", "a.m", "p.m", "est"])
_BEFORE_NUMBERS = frozenset(["no", "nos", "fig", "figs", "eq", "sec", "ch", "vol", "art", "p", "pp", "nr", "abs", "ver"])
_LAST_WORD = re.compile(r"[\w.]*$")
_ENUMERATOR = re.compile(r"(?:^[\s#>*+-]*|(?P<word>\w*)[.:;!?]\s+)(?:\d{1,3}|[A-Za-z]|[ivx]{2,4})$")
_LONGEST_BEFORE = 40
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
        import Stemmer  # noqa: PLC0415  # who only wants to know a language goes without

        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    stem: str = stemmer.stemWord(word)
    return stem


def sentences(text: str) -> list[Span]:
    """Spans of the sentences, without the white space around them; a line end also ends a sentence.

    A full stop ends none in an abbreviation, after the number of a list item, inside of code or an address.
    """
    spans: list[Span] = []
    start = 0
    for end in _ends(_WHOLE.sub(lambda match: "x" * len(match[0]), text)):
        _add(spans, text, start, end)
        start = end
    _add(spans, text, start, len(text))
    return spans


def _ends(text: str) -> Iterator[int]:
    for match in _SENTENCE_END.finditer(text):
        if match[0][0] == "\n" or not _goes_on(text, match):
            yield match.end()


def _goes_on(text: str, end: re.Match[str]) -> bool:
    """Whether a sentence goes on after what looks like its end."""
    following = text[end.end() : end.end() + 2].strip()
    if len(end[0]) > 1 and end[0][-1] not in ".!?。！？" and following.islower():
        return True  # "Why?" he asked (or wondered!) aloud.
    if not end[0].startswith("."):
        return False
    before = text[max(0, text.rfind("\n", 0, end.start()) + 1, end.start() - _LONGEST_BEFORE) : end.start()]
    word = (_LAST_WORD.search(before) or end)[0]
    return (
        word.lower() in _NEVER_LAST
        or (word.lower() in _LAST_BEFORE_CAPITALS and following.islower())
        or (word.lower() in _BEFORE_NUMBERS and following.isdigit())
        or (len(word) == 1 and word.isupper() and following.isalpha())
        or _enumerates(before)
    )


def _enumerates(before: str) -> bool:
    """Whether a full stop belongs to the number of a list item ("Two steps: 1. Open it. 2. Close it.")."""
    match = _ENUMERATOR.search(before)
    return match is not None and (match["word"] or "").lower() not in _BEFORE_NUMBERS


def _add(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        first = start + len(piece) - len(piece.lstrip())
        spans.append(Span(first, first + len(stripped)))


def language(text: str) -> Language:
    """The language a text is most likely written in, by its script; ``en`` stands for every alphabet.

    A character of these scripts carries more than a letter does, so one weighs as much as a Latin word ("FastAPI 怎么关闭文档"
    is Chinese, "What does 税 mean?" is English).
    """
    kana, han, hangul = (len(script.findall(text)) for script in (_KANA_CHARACTER, _HAN_CHARACTER, _HANGUL_CHARACTER))
    words = len(_LATIN_WORD.findall(_CJK_RUN.sub(" ", text)))
    if kana + han + hangul < 2 or kana + han + hangul <= words:
        return "en"
    if hangul >= kana + han:
        return "ko"
    return "ja" if kana * 5 > han + kana else "zh"
