"""Follow-up questions, made to stand alone by rule: what is new goes into the question before in place of its like."""

import re
from collections.abc import Sequence

from graph.questions import leans_on_history
from graph.reasoner import Exchange
from graph.stopwords import STOPWORDS
from graph.text import CJK, terms

_WHAT_ABOUT = re.compile(
    r"^\W*(?:and\s+|so\s+|but\s+|then\s+|ok(?:ay)?,?\s+)?(?:(?:what|how)\s+about|what\s+if\s+it(?:'s|\s+is)|and)\s+(?P<x>.+?)\W*$",
    re.IGNORECASE,
)
_WHAT_ABOUT_CHINESE = re.compile(r"^\W*(?:那么?|如果是?|要是|换成|至于)?(?P<x>.+?)(?:呢|的话呢|又如何|怎么样)[？?\s]*$")
_PREPOSITION = re.compile(r"^(?:in|for|to|from|at|with|of|on|by|about|inside|outside|within)\s+", re.IGNORECASE)
_PLACE_ADVERB = re.compile(r"\b(?:abroad|overseas|domestically|at home|internationally|locally|elsewhere)\b", re.IGNORECASE)
_AFTER_PREPOSITION = re.compile(
    r"\b(?P<p>in|for|to|from|at|with|of|on|by)\s+(?P<x>(?:the\s+|an?\s+)?[\w'’.-]+"
    r"(?:\s+(?!(?:in|for|to|from|at|with|of|on|by|and|or|cost|take|need|be|work)\b)[\w'’.-]+)?)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w.+-]+(?:\s+[A-Z][\w.+-]+)*")
_PLACED = re.compile(r"\b(?:in|for|to|from|at|of)\s+(?:the\s+)?$", re.IGNORECASE)
"""What stands before a place: "in the United Kingdom" gives way to "China" sooner than the name of a product does."""
_OPPOSITES = (
    ("国内", "国外", "海外", "境外", "境内"), ("本地", "外地"), ("线上", "线下"),
    ("个人", "公司", "企业"), ("正式员工", "实习生"),
)  # fmt: skip
_ATTRIBUTE = re.compile(rf"^(?P<x>(?:从|在|去|对)?[{CJK}\w]{{2,6}}?)(?=的)")
_PRONOUN = re.compile(r"\b(?:it|its|they|them|their|theirs|that|this|these|those|there|he|she|his|her)\b", re.IGNORECASE)
_CUT_CHINESE = (
    r"什么|怎么样?|怎样|如何|为什么|哪些|哪个|多少|多久|几天|是否|可以|需要|应该|请问|吗|呢|要|有|能|会|是|[？?，。！\s]"
)
_LONGEST_NEW = 8  # words: more than that is a question of its own
_LONGEST_TOPIC = 6
_QUOTES = re.compile(r"[\"“「『`](.+?)[\"”」』`]")


def standalone(question: str, history: Sequence[Exchange]) -> str:
    """The question with what only the conversation tells; unchanged where it leans on nothing."""
    question = question.strip()
    if not history or not leans_on_history(question):
        return question
    before = history[-1]["standalone_question"] or history[-1]["question"]
    match = _WHAT_ABOUT.match(question) or _WHAT_ABOUT_CHINESE.match(question)
    if match and len(match["x"].split()) <= _LONGEST_NEW and terms(match["x"]):
        return _exchanged(before, match["x"].strip().removesuffix("的"))
    return _with_topic(question, before)


def _exchanged(before: str, new: str) -> str:
    """The question before, with the new words in place of those of the same kind."""
    bare = _PREPOSITION.sub("", new)
    if terms(bare) and set(terms(bare)) <= set(terms(before)):
        return before
    return _exchanged_chinese(before, new) if re.search(f"[{CJK}]", before) else _exchanged_english(before, new, bare)


def _exchanged_english(before: str, new: str, bare: str) -> str:
    names = list(_NAME.finditer(before))
    if names and bare[:1].isupper():
        old = next((name for name in reversed(names) if _PLACED.search(before[: name.start()])), names[-1])
        return before[: old.start()].removesuffix("the ") + bare + before[old.end() :]
    if adverb := _PLACE_ADVERB.search(before):
        place = new if _PREPOSITION.match(new) or _PLACE_ADVERB.match(new) or not bare[:1].isupper() else f"in {bare}"
        return before[: adverb.start()] + place + before[adverb.end() :]
    phrases = list(_AFTER_PREPOSITION.finditer(before))
    if bare != new and not any(new.lower().startswith(f"{phrase['p'].lower()} ") for phrase in phrases):
        return f"{before.rstrip('?？. ')} {new}?"
    if phrases:
        last = phrases[-1]
        return before[: last.start("x")] + bare + before[last.end("x") :]
    return f"{before.rstrip('?？. ')} ({bare})?"


def _exchanged_chinese(before: str, new: str) -> str:
    for group in _OPPOSITES:
        named = next((word for word in group if word in new), None)
        old = next((word for word in group if word in before), None)
        if named and old:
            return before.replace(old, new if len(new) <= len(named) + 2 else named, 1)
    if old := _alike(before, new):
        return before.replace(old, new, 1)
    if names := list(re.finditer(r"[A-Za-z][\w.+-]*", before)) if new.isascii() else []:
        return before[: names[-1].start()] + new + before[names[-1].end() :]
    if attribute := _ATTRIBUTE.match(before):
        return new + before[attribute.end() :]
    return f"{new}的{before}"


def _alike(before: str, new: str) -> str | None:
    """Words of the same length that end in the same character, as 产假 and 年假 do."""
    for start in range(len(before) - len(new) + 1):
        old = before[start : start + len(new)]
        if len(new) > 1 and re.fullmatch(f"[{CJK}]+", old) and old[-1] == new[-1] and old != new:
            return old
    return None


def _with_topic(question: str, before: str) -> str:
    """The question with the topic of the one before: in place of a pronoun, else behind it."""
    topic = topic_of(before)
    known = set(terms(question))
    if not topic or set(terms(topic)) <= known:
        return question
    pronoun = _PRONOUN.search(question)
    if pronoun and pronoun[0].lower() in ("it", "they", "them", "that", "this"):
        return question[: pronoun.start()] + topic + question[pronoun.end() :]
    for word in ("它们", "它", "这个", "那个", "这些", "该"):
        if word in question:
            return question.replace(word, topic, 1)
    end = re.search(r"[?？。.!！\s]*$", question)
    at = end.start() if end else len(question)
    opening, closing = ("（", "）") if re.search(f"[{CJK}]", question) else (" (", ")")
    return f"{question[:at]}{opening}{topic}{closing}{question[at:]}"


def topic_of(question: str) -> str:
    """What a question is about: what it quotes, a name, or its longest run of words that carry information."""
    if quoted := _QUOTES.search(question):
        return quoted[1]
    runs = _runs(question)
    names = _NAME.findall(question)
    longest = max(runs, key=len, default="")
    if not names:
        return longest
    named = next((name for name in names if name in longest), None)
    return longest[longest.index(named) :] if named else f"{names[-1]} {longest}".strip()


def _runs(question: str) -> list[str]:
    if re.search(f"[{CJK}]", question):
        cut = re.split(
            r"什么|怎么样?|怎样|如何|为什么|哪些|哪个|多少|多久|几天|是否|可以|需要|应该|请问|吗|呢|要|有|能|会|是|[？?，。！\s]",
            question,
        )
        return [part.strip("的了在我你") for part in cut]
    runs: list[list[str]] = [[]]
    for word in re.findall(r"[\w'’.+/=-]+|[^\w\s]", question):
        if word.lower() in ("the", "a", "an"):
            continue
        if not terms(word) or set(terms(word)) <= STOPWORDS:
            runs.append([])
        else:
            runs[-1].append(word)
    return [" ".join(run[:_LONGEST_TOPIC]) for run in runs]
