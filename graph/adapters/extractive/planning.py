"""Plans by rule: follow-ups made to stand alone, comparisons taken apart, small talk answered with no search."""

import re
from collections.abc import Sequence

from graph.adapters.extractive.comparison import queries
from graph.adapters.extractive.followups import standalone, topic_of
from graph.adapters.extractive.vouching import asks_something
from graph.questions import folded, leans_on_history
from graph.reasoner import Plan, PlanTask
from graph.text import terms
from graph.turn import Intent, Step

_MOST_STEPS = 5
_SMALL_TALK = re.compile(
    r"^\W*(?:(?:hi|hello|hey|good (?:morning|evening|afternoon)|thanks?(?: you)?|thx|bye|goodbye|ok(?:ay)?|cool|great"
    r"|how are you|who are you|what are you|tell me a joke"
    r"|what(?:'s|’s| is) (?:new|up|going on|happening))"
    r"(?:\s+(?:there|all|so much|very much|a lot|today|everyone|again))*"
    r"|你好|您好|嗨|早上好|晚上好|谢谢(?:你|您)?|再见|好的|你是谁|你叫什么(?:名字)?|讲个笑话)\W*$",
    re.IGNORECASE,
)
_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|rules|prompts?)\b|\bsystem prompt\b"
    r"|(?:忽略|无视|忘记).{0,20}(?:指令|指示|规则|提示)|系统提示词",
    re.IGNORECASE,
)
_WRITING = re.compile(
    r"^\W*(?:please\s+)?(?:write|compose|sing)\b.{0,30}\b(?:poem|song|story|joke|essay)\b|^\W*写(?:一)?(?:首|个|篇)",
    re.IGNORECASE,
)
_SUMMARY = re.compile(r"\b(?:summari[sz]e|summary|overview|key points)\b|总结|概括|概述|综述|要点", re.IGNORECASE)
_ACTION = re.compile(
    r"^\W*(?:please\s+|can you\s+|could you\s+)?"
    r"(?:delete|remove|send|e-?mail|book|order|cancel|remind|upload|buy|pay|transfer)\b(?!.*\bhow\b)"
    r"|^\W*(?:请|帮我|替我)?(?:帮我|替我)?(?:删除|发送|预订|预定|取消|上传|购买|支付|转账|提醒我)",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(
    r"(?<=[?？!！。;；])\s*|[,，]?\s+and\s+(?=(?:who|what|when|where|why|how|which)\b)|[，,]\s*(?=(?:谁|什么|怎么|如何|多少|多久|哪))",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"\b(?:who|whom|whose|which|what|when|where|why|how)\b|谁|什么|怎么|如何|哪|多少|多久|几|吗", re.IGNORECASE
)
_FEWEST_TERMS = 2


def plan(task: PlanTask) -> Plan:
    """The plan of a question, or on a replan the search for what was missing."""
    question = standalone(task.question, task.history)
    if task.tried:
        return Plan(intent="lookup", question=question, steps=_steps([task.missing], task.tried))
    intent, queries = _read(question)
    return Plan(intent=intent, question=question, steps=_steps(queries, ()))


def asks_to_act(question: str) -> bool:
    """Whether it asks for something to be done, which no sentence of a document does."""
    return bool(_ACTION.search(question))


def is_out_of_scope(question: str) -> bool:
    """Whether it asks for nothing that documents could say."""
    return not asks_something(question) or any(pattern.search(question) for pattern in (_SMALL_TALK, _INJECTION, _WRITING))


def _read(question: str) -> tuple[Intent, list[str]]:
    """What kind of question it is, and the searches that it takes."""
    if is_out_of_scope(question):
        return "out_of_scope", []
    if compared := queries(question):
        return "comparison", compared
    if _ACTION.search(question):
        return "action", [question]
    if _SUMMARY.search(question):
        return "summary", [question]
    parts = [part.strip() for part in _NEXT_QUESTION.split(question) if len(terms(part)) > _FEWEST_TERMS]
    asked = [part for part in parts if _ASKING.search(part)]
    if len(asked) > 1:
        first, *others = asked
        return "multi_hop", [first, *(f"{part} ({topic_of(first)})" if leans_on_history(part) else part for part in others)]
    return "lookup", [question]


def _steps(queries: Sequence[str], tried: Sequence[str]) -> list[Step]:
    fresh = [query for query in dict.fromkeys(queries) if query.strip() and folded(query) not in set(tried)]
    return [Step(tool="search", query=query, purpose="", depends_on=[]) for query in fresh[:_MOST_STEPS]]
