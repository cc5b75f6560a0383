"""What the stand-in says when nothing is scripted: made from the sources in the prompt and the schema of the request."""

import re
from collections.abc import Mapping
from typing import Any

_SOURCE = re.compile(r'<source number="(\d+)"[^>]*>\n(.*?)\n</source>', re.DOTALL)
_QUESTION = re.compile(r"<question>(.*?)</question>", re.DOTALL)
_SENTENCE = re.compile(r'<sentence number="(\d+)">')
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
_NO_SENTENCE = ("#", "|", "`")
_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def text_answer(prompt: str, sentences: int = 3) -> str:
    """Sentences of the sources that share most words with the question, in reading order, each with its marker."""
    wanted = _words(question_of(prompt))
    ranked = [
        (len(wanted & _words(sentence)), number, sentence)
        for number, text in sources_of(prompt).items()
        for sentence in filter(None, (_BULLET.sub("", piece).strip() for piece in _END.split(text)))
        if not sentence.startswith(_NO_SENTENCE)
    ]
    best = sorted(ranked, key=lambda one: -one[0])[:sentences]
    kept = [one for one in ranked if one in best and one[0] > 0]
    return " ".join(f"{_unmarked(sentence)} [{number}]." for _, number, sentence in kept) or "<nothing/>"


def json_answer(name: str, schema: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """An object of the schema: plans a lookup, finds all sources relevant and all sentences supported."""
    known: dict[str, Any] = {
        "intent": "lookup",
        "question": question_of(prompt),
        "tool": "search",
        "query": question_of(prompt),
        "purpose": "find what the documents say about it",
        "depends_on": [],
        "relevant": list(sources_of(prompt)),
        "partial": [],
        "sufficient": True,
        "claims": [{"sentence": int(number), "verdict": "supported"} for number in _SENTENCE.findall(prompt)],
        "ambiguity": None,
    }
    made = _made(schema, known)
    assert isinstance(made, dict), name
    return made


def _made(schema: Mapping[str, Any], known: Mapping[str, Any], name: str = "") -> Any:
    if name in known:
        return known[name]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _made(schema["anyOf"][0], known)
    if schema["type"] == "object":
        return {key: _made(value, known, key) for key, value in schema["properties"].items()}
    if schema["type"] == "array":
        return [_made(schema["items"], known)]
    return {"boolean": True, "integer": 1, "number": 1.0, "string": ""}[schema["type"]]


def sources_of(prompt: str) -> dict[int, str]:
    """Text of each fenced source by number."""
    return {int(number): text for number, text in _SOURCE.findall(prompt)}


def question_of(prompt: str) -> str:
    """The fenced question."""
    found = _QUESTION.findall(prompt)
    return str(found[-1]) if found else "?"


def _words(text: str) -> set[str]:
    cjk = "".join(_CJK.findall(text))
    pairs = {cjk[at : at + 2] for at in range(len(cjk) - 1)}
    return {word.casefold()[:6] for word in _WORD.findall(text) if len(word) > 2} | pairs


def _unmarked(sentence: str) -> str:
    return sentence.rstrip(".!?。！？ ")
