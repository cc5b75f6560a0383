"""What the agent says for itself, in the language of the question: Chinese, or English for every other."""

from collections.abc import Sequence
from typing import Literal

Key = Literal[
    "begin", "plan", "gather", "grade", "clarify", "answer", "check", "finish",
    "unanswerable", "closest", "refused", "unsupported", "missing", "rounds", "calls", "tokens", "seconds", "no_progress",
    "extractive", "extractive_wrong_key", "extractive_rate_limited", "extractive_calls", "extractive_unavailable", "unsure",
    "bm25", "knn", "embedder", "unchecked", "model_unavailable", "index_unavailable", "deadline", "crashed", "internal",
]  # fmt: skip

_ENGLISH: dict[Key, str] = {
    "begin": "Reading the question",
    "plan": "Planning the search",
    "gather": "Searching the documents",
    "grade": "Judging what was found",
    "clarify": "Asking back",
    "answer": "Writing the answer",
    "check": "Checking the answer against its sources",
    "finish": "Verifying the footnotes",
    "unanswerable": "the documents do not answer this",
    "closest": "the closest passages are in {0}",
    "refused": "this asks for something other than an answer from the documents, which is all that can be given here",
    "unsupported": "the sources do not show: {0}",
    "missing": "not found in the documents: {0}",
    "rounds": "the search ended at its limit of rounds",
    "calls": "the turn ended at its limit of model calls",
    "tokens": "the turn ended at its limit of model tokens",
    "seconds": "the turn ended at its limit of time",
    "no_progress": "searching further brought nothing new",
    "extractive": "no language model is set up, so answers are sentences of the documents",
    "extractive_wrong_key": "Groq refused the API key (GROQ_API_KEY), so answers are sentences of the documents",
    "extractive_rate_limited": "the language model is out of quota, so answers are sentences of the documents",
    "extractive_calls": "the turn made all its model calls, so answers are sentences of the documents",
    "extractive_unavailable": "the language model does not answer, so answers are sentences of the documents",
    "unsure": "these are the closest passages, and whether they answer the question is not certain",
    "bm25": "the search by words did not answer",
    "knn": "the search by meaning did not answer",
    "embedder": "the search by meaning did not answer",
    "unchecked": "the answer was not checked a second time",
    "model_unavailable": "The language model does not answer. Try again in a minute.",
    "index_unavailable": "The search index does not answer. Try again in a minute.",
    "deadline": "The turn ran out of time. Try again, or ask for less at once.",
    "crashed": "The server stopped during the turn. Ask again.",
    "internal": "Something went wrong on our side, under the id {0}.",
}
_CHINESE: dict[Key, str] = {
    "begin": "正在读取问题",
    "plan": "正在规划检索",
    "gather": "正在检索文档",
    "grade": "正在评估检索结果",
    "clarify": "需要您确认",
    "answer": "正在撰写答案",
    "check": "正在对照来源核查答案",
    "finish": "正在核对脚注",
    "unanswerable": "文档中没有这个问题的答案",
    "closest": "最接近的内容见{0}",
    "refused": "这里只能根据文档回答问题，无法处理其他请求",
    "unsupported": "来源未能证明：{0}",
    "missing": "文档中没有找到：{0}",
    "rounds": "检索已达到轮数上限",
    "calls": "本轮已达到模型调用次数上限",
    "tokens": "本轮已达到模型用量上限",
    "seconds": "本轮已达到时间上限",
    "no_progress": "继续检索没有新的发现",
    "extractive": "未配置语言模型，答案取自文档原句",
    "extractive_wrong_key": "Groq 拒绝了 API 密钥，答案取自文档原句；请检查 GROQ_API_KEY",
    "extractive_rate_limited": "语言模型额度已用完，答案取自文档原句",
    "extractive_calls": "本轮模型调用次数已用完，答案取自文档原句",
    "extractive_unavailable": "语言模型没有响应，答案取自文档原句",
    "unsure": "以下是最接近的内容，不能确定是否回答了问题",
    "bm25": "关键词检索没有响应",
    "knn": "语义检索没有响应",
    "embedder": "语义检索没有响应",
    "unchecked": "答案未经二次核查",
    "model_unavailable": "语言模型没有响应，请稍后再试。",
    "index_unavailable": "检索索引没有响应，请稍后再试。",
    "deadline": "本轮超时。请重试，或一次少问一些。",
    "crashed": "服务器在回答时停止了，请重新提问。",
    "internal": "服务内部出错，编号 {0}。",
}


def say(key: Key, language: str, *facts: str) -> str:
    """A phrase."""
    return (_CHINESE if language.startswith("zh") else _ENGLISH)[key].format(*facts)


def sentence(phrases: Sequence[str], language: str) -> str | None:
    """Phrases as one sentence; None if there are none."""
    if not phrases:
        return None
    chinese = language.startswith("zh")
    text = ("；" if chinese else "; ").join(dict.fromkeys(phrases))
    return text[0].upper() + text[1:] + ("。" if chinese else ".")
