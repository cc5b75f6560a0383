"""Whether a picked statement answers what was asked, as far as rules can tell: retrieval alone knows only the subject."""

import re
from collections.abc import Sequence

from graph.adapters.extractive.asking import holds, kinds, without_kinds
from graph.adapters.extractive.candidates import Candidate
from graph.adapters.extractive.glossary import alternatives, names, spaced
from graph.stopwords import STOPWORDS, content_terms
from graph.text import CJK, terms

_COSINE_WEIGHT = 0.05
_ENOUGH = 0.35
"""Of ``carried + 0.05 · deviations of the cosine``: where retrieval is sure, 91 % of XQuAD's English and 90 % of its Chinese
questions get here with their best statement; with the paragraph that answers them taken away, 30 and 41 %."""
_FEWEST_DIGITS = 3  # of a number that a question may consist of: "404?", not "2+2?"
_AGGREGATE = re.compile(
    r"\b(?:total|sum|average|mean|median|overall|altogether|most|least|fewest|highest|lowest|largest|smallest|biggest|best|worst"
    r"|how many|how much|how often|count|number of|rank(?:ed|ing)?|top \d+|per (?:month|year|quarter|customer|country))\b"
    r"|总[共计和额数]|合计|平均|最[多少高低大小]|一共|多少|几个|排名|统计",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    r"\b(?:which|who|what)\b.{0,60}\b(?:the most|the least|fewest|highest|lowest|largest|smallest|biggest|longest|shortest"
    r"|cheapest|oldest|newest)\b|(?:哪|谁).{0,20}最",
    re.IGNORECASE,
)
_RECORD = re.compile(r"[\w ]{1,40}: [^;\n]+; [\w ]{1,40}: [^;\n]+;")
_IDENTIFIER = re.compile(r"(?<!\w)(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]+(?!\w)|(?<!\w)\d{3,}(?!\w)")


def asks_something(question: str) -> bool:
    """Whether there is a word or a number in it that one could look up."""
    found = [term for term in terms(question) if term not in STOPWORDS]
    return any(_carries(term) for term in found)


def _carries(term: str) -> bool:
    return len(term) >= _FEWEST_DIGITS if term.isdecimal() else len(term) > 1 or bool(re.match(f"[{CJK}]", term))


def vouches(question: str, picked: Sequence[Candidate], deviations: float) -> bool:
    """Whether the best of the picked statements, given first, answers the question by all that rules can see.

    Args:
        question: standing alone.
        picked: best first.
        deviations: by how many deviations the best one's cosine exceeds that of two unrelated passages.
    """
    best = picked[0]
    said = "\n".join(one.words for one in picked)
    return (
        best.carried + _COSINE_WEIGHT * deviations >= _ENOUGH
        and all(holds(kind, question, said if len(kinds(question)) > 1 else best.words) for kind in kinds(question))
        and not _counts_records(question, best)
        and not _lack_a_name(question, picked)
        and not _tells_only_names(question, best)
    )


def _counts_records(question: str, best: Candidate) -> bool:
    """Whether the question is about many rows, of which one says little; one that it names by a code answers for itself."""
    if best.statement.kind != "row":
        return False
    named = [code for code in _IDENTIFIER.findall(question) if code.casefold() in best.words.casefold()]
    asked = _AGGREGATE if _RECORD.match(best.words) else _SUPERLATIVE
    return bool(asked.search(question)) and not named


def _lack_a_name(question: str, picked: Sequence[Candidate]) -> bool:
    """Whether no passage mentions somebody, something or some place that the question names."""
    passages = [one.source["passage"] for one in picked]
    text = "\n".join("\n".join((one["title"], one.get("heading", ""), one["path"], one["text"])) for one in passages)
    known = set(terms(text))
    return any(not any(set(terms(called)) <= known or called in text for called in calls) for calls in names(question))


def _tells_only_names(question: str, best: Candidate) -> bool:
    """Whether a statement speaks of what the question names, and of nothing else that it asks ("Who *runs* the Base Dock?").

    The kind of thing that is asked for needs no word ("What *colour* is it?"); a row of a table has to have some word, for a
    heading above a table says of any of its rows the same.
    """
    named = {term for calls in names(question) for term in terms(calls[0])} | set(terms(best.source["passage"]["title"]))
    rest = [term for term in content_terms(spaced(without_kinds(question))) if term not in named and not term.isdecimal()]
    own = set(terms(best.plain))
    said = own if best.statement.kind == "row" else own | set(terms(best.context))
    if not rest:
        return best.statement.kind == "row" and not own & set(content_terms(question))
    alike = alternatives(question)
    words = [word for term in rest for word in alike.get(term, ())]
    return not said & set(rest) and not any(set(terms(word)) <= said for word in words)
