"""Terms that carry no information of their own, in questions and sentences."""

from graph.text import terms

_ENGLISH = """
a about after all also an and any are as at be because been before between but by can could did do does during for from get
give had has have how i if in into is it its just make many may me more most much must my need no not of on only or other our
out over please same shall should so some such tell than that the their them then there these they this those to under up us
use used using want was way we were what when where whether which while who whom whose why will with would you your
"""
_CHINESE = """
什么 怎么 么样 怎样 如何 哪些 哪个 哪里 哪一 为什 为何 多少 是否 可以 我们 你们 他们 它们 这个 那个 这些 那些 几个 有没 没有
一个 的是 是什 么是 请问 应该 能不 不能 需要 如果 因为 所以 以及 或者 并且 但是 使用 的 了 是 在 我 你 他 它 有 吗 呢 吧 和 与
或 也 都 就 要 会 能 被 把 对 从 到 为 等
"""
STOPWORDS = frozenset([*terms(_ENGLISH), *_CHINESE.split()])


def content_terms(text: str) -> list[str]:
    """The distinct terms of a text that carry information, in order; all terms where none does."""
    distinct = list(dict.fromkeys(terms(text)))
    return [term for term in distinct if term not in STOPWORDS] or distinct
