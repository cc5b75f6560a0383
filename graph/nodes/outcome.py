"""How a turn is said to have ended."""

from collections.abc import Sequence

from graph.reasoner import Budget
from graph.state import Bound, Deps, State
from graph.turn import Outcome
from graph.wording import Key, say, sentence

_QUOTED = 3  # documents or sentences that a note names
_QUOTED_CHARACTERS = 120


def outcome_of(state: State, deps: Deps, lacking: Sequence[str]) -> Outcome:
    """Of an answer that stands on sources: ``answered`` only where nothing is known to be missing from it."""
    whole = state["grade"]["sufficient"] and not state["cut"] and not lacking
    return "answered" if whole and not _doubtful(state, deps) else "partial"


def answer_note(state: State, deps: Deps, lacking: Sequence[str], outcome: Outcome) -> str | None:
    """What there is to say beside an answer."""
    language = state["language"]
    phrases = [say("unsupported", language, _quoted(lacking, language))] if lacking else []
    if outcome == "partial" and _doubtful(state, deps):
        phrases.append(say("unsure", language))
    if outcome == "partial" and state["grade"]["missing"]:
        phrases.append(say("missing", language, state["grade"]["missing"]))
    bounds: list[Bound | None] = [state["stopped"], state["cut"]]
    phrases += [say(bound, language) for bound in bounds if bound and outcome == "partial"]
    if "unchecked" in deps.budget.fallbacks:
        phrases.append(say("unchecked", language))
    return sentence([*phrases, *_circumstances(state, deps)], language)


def nothing_note(state: State, deps: Deps, outcome: Outcome) -> str | None:
    """What there is to say where there is no answer."""
    language = state["language"]
    titles = dict.fromkeys(source["passage"]["title"] for source in state["sources"] if source["passage"]["title"])
    phrases = [say("refused" if outcome == "refused" else "unanswerable", language)]
    if titles and outcome != "refused":
        phrases.append(say("closest", language, _quoted(list(titles), language)))
    if state["stopped"] in ("calls", "tokens", "seconds"):
        phrases.append(say(state["stopped"], language))
    return sentence([*phrases, *_circumstances(state, deps)], language)


def extractive_because(budget: Budget) -> Key | None:
    """Why sentences of the documents stand in for a model's answer."""
    reasons: dict[str, Key] = {
        "extractive:no_key": "extractive",
        "extractive:wrong_key": "extractive_wrong_key",
        "extractive:rate_limited": "extractive_rate_limited",
        "extractive:calls": "extractive_calls",
        "extractive:unavailable": "extractive_unavailable",
    }
    return next((reasons[reason] for reason in budget.fallbacks if reason in reasons), None)


def _doubtful(state: State, deps: Deps) -> bool:
    """Without a model only confident retrieval and a grade that agrees vouch that an answer answers."""
    modelless = deps.reasoner.extractive or extractive_because(deps.budget)
    return bool(modelless) and (state["confidence"] != "confident" or not state["grade"]["sufficient"])


def _circumstances(state: State, deps: Deps) -> list[str]:
    language = state["language"]
    because: Key | None = "extractive" if deps.reasoner.extractive else extractive_because(deps.budget)
    phrases = [say(because, language)] if because else []
    arms: dict[str, Key] = {"bm25": "bm25", "knn": "knn", "embedder": "embedder"}
    return [
        *phrases,
        *(say(arms[arm], language) for arm in state["degraded"]),
        *(warning.rstrip(".") for warning in state["warnings"]),
    ]


def _quoted(texts: Sequence[str], language: str) -> str:
    short = [text if len(text) <= _QUOTED_CHARACTERS else f"{text[: _QUOTED_CHARACTERS - 1]}…" for text in texts[:_QUOTED]]
    chinese = language.startswith("zh")
    return ("、" if chinese else ", ").join(f"“{' '.join(text.split())}”" for text in short)
