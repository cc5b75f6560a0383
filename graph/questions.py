"""What can be said about a question without a model: whether it leans on the conversation, whether one search is enough."""

import re

from graph.text import sentences, terms

_ANAPHORA = re.compile(
    r"\b(?:it|its|they|them|their|theirs|that|this|these|those|he|him|his|she|her|hers|there|same|above|previous|former"
    r"|latter|others?|instead|too|also|again|else)\b|^(?:and|or|but|so|then|what about|how about|why)\b"
    r"|[它他她这那其]|该|上述|前面|刚才|之前|还有|也是|^(?:那|和|或|如果|要是)|呢[？?]?$",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"[;；]|\b(?:compare[ds]?|comparison|differen(?:t|ce|ces)|differs?|versus|vs|both|between|respectively|each|than)\b"
    r"|\b(?:summar(?:y|i[sz]e)|overview|list|all|every|everything)\b"
    r"|区别|不同|差异|比较|相比|对比|分别|之间|各自|总结|概括|概述|综述|列出|所有|全部|哪些|以及",
    re.IGNORECASE,
)
_ASKING = re.compile(r"\b(?:who|whom|whose|which|what|when|where|why|how)\b", re.IGNORECASE)
_ASKING_CHINESE = re.compile(r"什么|怎么|怎样|如何|为什么|谁|哪|多少|几|吗|何时")
_LONGEST = 40  # terms: a longer question has more than one thing in it
_SHORTEST = 3  # terms: a shorter one, in a conversation, leaves out what the conversation is about


def leans_on_history(question: str) -> bool:
    """Whether a question may mean what only the conversation tells: wrongly yes costs a plan, wrongly no the answer."""
    return bool(_ANAPHORA.search(question.strip())) or len(terms(question)) <= _SHORTEST


def one_search_is_enough(question: str) -> bool:
    """Whether a question, by its form, is one clause about one thing."""
    asking = max(len(_ASKING.findall(question)), len(_ASKING_CHINESE.findall(question)))
    return asking <= 1 and len(sentences(question)) == 1 and len(terms(question)) <= _LONGEST and not _SEVERAL.search(question)


def folded(query: str) -> str:
    """A query as it is compared with others."""
    return " ".join(query.casefold().split()).rstrip("?？.。!！ ")
