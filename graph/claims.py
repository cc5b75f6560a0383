"""The sentences of an answer that claim something."""

import re

from graph.text import sentences, terms

_CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_FEWEST_TERMS = 3


def claims_of(answer: str) -> list[str]:
    """Sentences exactly as they stand in the answer, its blocks of code left out."""
    prose = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), answer)
    found = (answer[span.start : span.end] for span in sentences(prose))
    return [sentence for sentence in found if len(terms(sentence)) >= _FEWEST_TERMS]
