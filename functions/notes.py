"""Notes that the agent could not write: the turn ended without it."""

from collections.abc import Mapping
from typing import Literal

from graph.turn import Outcome

Ending = Literal["cancelled", "crashed", "deadline", "internal", "shutdown"]

_ENDINGS: Mapping[Ending, Mapping[str, str]] = {
    "cancelled": {"en": "You stopped this turn before it was finished.", "zh": "你在回答完成之前停止了它。"},
    "crashed": {
        "en": "The server stopped while this turn ran. Ask again.",
        "zh": "回答过程中服务器停止了，请再问一次。",
    },
    "shutdown": {
        "en": "The server was shut down while this turn ran. Ask again.",
        "zh": "回答过程中服务器被关闭了，请再问一次。",
    },
    "deadline": {"en": "The turn took longer than it may. Ask again.", "zh": "回答超过了允许的时间，请再问一次。"},
    "internal": {
        "en": "Something went wrong on our side. Ask again; if it happens again, report the trace id.",
        "zh": "我们这边出了错。请再问一次；如果再次出现，请报告 trace id。",
    },
}
_OUTCOMES: Mapping[Outcome, Mapping[str, str]] = {
    "answered": {"en": "", "zh": ""},
    "partial": {"en": "Not all of the question could be answered.", "zh": "问题只得到了部分回答。"},
    "unanswerable": {"en": "The documents do not answer this.", "zh": "文档中没有这个问题的答案。"},
    "needs_clarification": {"en": "The answer depends on your reply.", "zh": "需要你的补充才能回答。"},
    "needs_approval": {"en": "The next step waits for your approval.", "zh": "下一步需要你的批准。"},
    "refused": {"en": "This is not a question for these documents.", "zh": "这不是这些文档能回答的问题。"},
    "cancelled": _ENDINGS["cancelled"],
    "failed": _ENDINGS["internal"],
}


def of_ending(ending: Ending, language: str) -> str:
    """Why the turn ended early, in the language of a BCP 47 tag where we speak it."""
    return _in(_ENDINGS[ending], language)


def of_outcome(outcome: Outcome, language: str) -> str:
    """A sentence for an outcome that came without one."""
    return _in(_OUTCOMES[outcome], language)


def _in(sentences: Mapping[str, str], language: str) -> str:
    return sentences.get(language.partition("-")[0].lower(), sentences["en"])
