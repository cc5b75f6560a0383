"""What kind of thing a question asks for, and whether a statement holds one.

A statement may be about the right subject and say nothing of what was asked: who, when, where, how many, in what colour.
"""

import re
from collections.abc import Callable
from typing import Literal

from graph.stopwords import STOPWORDS
from graph.text import CJK, terms

Kind = Literal["number", "measure", "time", "person", "place", "colour"]

_CLAUSE = r"(?:^\W*|[,.;?!，。；]\s*|\b(?:and|but|or|so)\s+)(?:(?:by|to|from|with|of|for|in|at|since|until)\s+)?"
_ASKED: dict[Kind, re.Pattern[str]] = {
    "number": re.compile(
        r"\bhow (?:many|much|old|high|tall|deep|wide|heavy|fast|often|big|large)\b"
        r"|\bwhat (?:\w+ ){0,3}(?:percentage|number of|amount|price|cost|weight|height|length|distance|age|temperature)\b"
        r"|多少|多大|多高|多重|多快|几(?:天|年|个|次|点|月|号|人|周|小时|分钟|元|岁|种|名|位)",
        re.IGNORECASE,
    ),
    "measure": re.compile(r"\bhow (?:long|far|soon|quickly)\b|多久|多长|多远", re.IGNORECASE),
    "time": re.compile(
        rf"{_CLAUSE}when\b|\bwhen (?:is|are|was|were|does|did|will|must|should|has|had)\b"
        r"|\b(?:what|which) (?:year|day|date|time|month|century|decade)\b"
        r"|什么时候|何时|什么时间|哪一?(?:年|天|月|日)|几(?:点|月|号)",
        re.IGNORECASE,
    ),
    "person": re.compile(rf"{_CLAUSE}who(?:m|se)?\b|谁|哪位|什么人", re.IGNORECASE),
    "place": re.compile(
        rf"{_CLAUSE}where\b|\b(?:what|which) (?:city|country|place|town|building|room)\b|哪里|哪儿|何处|在哪|什么(?:地方|位置)",
        re.IGNORECASE,
    ),
    "colour": re.compile(r"\b(?:what|which)\b.{0,20}\bcolou?rs?\b|(?:什么|哪种)颜色|颜色是", re.IGNORECASE),
}
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_NUMERALS = (
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred thousand million"
    " billion half quarter dozen once twice no none nothing nobody never free unlimited always"
)
_NUMBER_WORD = re.compile(
    rf"\b(?:{'|'.join(_NUMERALS.split())})\b|[一二两三四五六七八九十百千万亿半几][{CJK}]|每|免费", re.IGNORECASE
)
_MEASURE = re.compile(
    rf"(?:\d|\b(?:an?|{'|'.join(_NUMERALS.split())})\b).{{0,12}}\b(?:seconds?|minutes?|min|hours?|h|days?|nights?|weeks?|months?|years?|decades?"
    r"|centur(?:y|ies)|metres?|meters?|miles?|feet|foot|inch(?:es)?|km|kilomet(?:er|re)s?|cm|m)\b"
    r"|[\d一二两三四五六七八九十百千万半几数].{0,4}(?:秒|分钟|小时|时|天|日|晚|周|星期|个月|月|年|世纪|米|公里|里|厘米)"
    r"|\b(?:until|since|forever|immediately|always|from .{1,30} to)\b|立即|随时|直到|永久|从.{1,20}到",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tues|wednes|thurs|fri|satur|sun)[a-z]*\b"
    r"|\b(?:second|minute|hour|day|night|week|month|quarter|year|decade|centur|season|spring|summer|autumn|winter|noon|midnight"
    r"|morning|afternoon|evening|before|after|until|during|once|every|always|never|immediately|as soon)\w*"
    r"|[年月日天周时点刻季]|星期|世纪|以?[前后]|随时|立即",
    re.IGNORECASE,
)
_ROLES = (
    "head manager director officer lead leader team desk staff people person department agent owner colleague deputy approver"
    " customer employee member user developer maintainer administrator admin president king queen emperor company everybody"
    " everyone nobody anyone somebody you we they he she your our government police army court council minister"
)
_ROLE = re.compile(
    rf"\b(?:{'|'.join(_ROLES.split())})s?\b|人|员|[主总]管|学生|·|经理|总监|客服|财务|部门|家|者|师|[院校市部队会]长|父|母|[她他你您我]",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?<![.?!]\s)(?<!^)(?<!\|\s)\b[A-Z][\w'’-]+|\b[A-Z][\w'’.-]+(?=\s+(?:[a-z]{1,3}\s+)?[A-Z])|(?<=\|\s)[A-Z][\w'’-]+",
    re.MULTILINE,
)
_PLACE = re.compile(
    r"\b(?:in|at|on|near|from|to|into|between|under|over|behind|inside|outside|beside|along|through|across|via|here|there"
    r"|everywhere|nowhere|anywhere|abroad|home)\b|[在于到从省市县国区州城镇村路街楼层室地处边里内外旁]",
    re.IGNORECASE,
)
_COLOUR = re.compile(
    r"\b(?:black|white|red|green|blue|yellow|orange|purple|violet|pink|brown|gr[ae]y|silver|gold(?:en)?|amber|beige|turquoise"
    r"|transparent|colourless|colorless)\b|[黑白红绿蓝黄橙紫粉棕灰银金]色?|透明",
    re.IGNORECASE,
)

_LEANS_BACK = re.compile(
    r"\W*(?:they|it|its|their|these|those|this|that|he|she|his|her|such|but|however|otherwise|then|also|and|or|so|later ones?"
    r"|after that|before that|in that case|if so|if not|until then)\b"
    r"|\W*(?:它们?|他们?|她们?|这|那|其|该|此|但|否则|然后|因此)",
    re.IGNORECASE,
)


def kinds(question: str) -> list[Kind]:
    """The kinds of thing that a question asks for by its form, the first of them where it has several parts."""
    return [kind for kind, asked in _ASKED.items() if asked.search(question)]


def lacks(question: str, text: str) -> bool:
    """Whether a text holds nothing of some kind that is asked for."""
    return not all(holds(kind, question, text) for kind in kinds(question))


def leans_back(sentence: str) -> bool:
    """Whether a sentence begins with what only the one before it explains."""
    return bool(_LEANS_BACK.match(sentence))


def without_kinds(question: str) -> str:
    """The question without the words that say what kind of thing it asks for."""
    for asked in _ASKED.values():
        question = asked.sub(" ", question)
    return question


def holds(kind: Kind, question: str, text: str) -> bool:
    """Whether a text holds something of this kind that the question does not bring itself."""
    return _HOLDS[kind](question, text)


def _number(question: str, text: str) -> bool:
    return bool(set(_DIGITS.findall(text)) - set(_DIGITS.findall(question))) or bool(_NUMBER_WORD.search(text))


def _names(question: str, text: str) -> bool:
    asked = set(terms(question))
    return any(not set(terms(name)) <= asked | STOPWORDS for name in _NAME.findall(text))


_HOLDS: dict[Kind, Callable[[str, str], bool]] = {
    "number": _number,
    "measure": lambda _, text: bool(_MEASURE.search(text)),
    "time": lambda _, text: bool(_TIME.search(text)),
    "person": lambda question, text: bool(_ROLE.search(text)) or _names(question, text),
    "place": lambda question, text: bool(_PLACE.search(text)) or _names(question, text),
    "colour": lambda _, text: bool(_COLOUR.search(text)),
}
