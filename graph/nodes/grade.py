"""``grade``: whether what was found is enough."""

from langgraph.runtime import Runtime

from graph.errors import ModelUnavailable
from graph.nodes.bounds import spent_bound
from graph.nodes.observed import observed
from graph.nodes.tasks import answer_task, budgeted
from graph.questions import one_search_is_enough
from graph.reasoner import Grade, GradeTask, Verdict
from graph.state import Bound, Deps, State, Update


@observed(progress=0.4)
async def grade(state: State, runtime: Runtime[Deps]) -> Update:
    """Judge the passages, and say what is missing; no model is asked where the retrieval is confident, or found nothing."""
    deps = runtime.context
    surer = deps.reasoner.extractive and state["confidence"] == "confident"  # the same passages, now by words that hit
    if not state["news"] and not surer:
        return Update(stopped="no_progress")
    if _settled(state, deps):
        made = _by_score(state)
    else:
        if _worth_drafting(state, deps):
            deps.drafts.begin(deps.reasoner.answer(answer_task(state, deps), deps.budget))
        made = await _reasoned(state, deps)
        if not made["sufficient"] or made["conflicts"]:
            await deps.drafts.drop()
    merged = Grade(**{**made, "verdicts": state["grade"]["verdicts"] | made["verdicts"]})
    return Update(grade=merged, stopped=None if made["sufficient"] else _stopped(merged, state, deps))


def _settled(state: State, deps: Deps) -> bool:
    off_topic = state["plan"]["intent"] in ("out_of_scope", "action") and state["confidence"] == "none"
    sure = state["confidence"] == "confident" and not deps.reasoner.extractive  # rules cost no call, and see what was asked
    return sure or off_topic or spent_bound(deps, reserve_calls=1) is not None


def _worth_drafting(state: State, deps: Deps) -> bool:
    """Whether the answer may begin while the grade is made: the passages of a plain question nearly always suffice."""
    plain = len(state["plan"]["steps"]) == 1 and one_search_is_enough(state["plan"]["question"])
    return plain and not state["rounds"] and not deps.reasoner.extractive and spent_bound(deps, reserve_calls=4) is None


def _by_score(state: State) -> Grade:
    if state["confidence"] == "none":
        verdicts: dict[str, Verdict] = {source["passage"]["passage_id"]: "irrelevant" for source in state["sources"]}
        return Grade(verdicts=verdicts, sufficient=False, missing="", conflicts="")
    return Grade(verdicts={}, sufficient=True, missing="", conflicts="")


async def _reasoned(state: State, deps: Deps) -> Grade:
    task = GradeTask(question=state["plan"]["question"], sources=budgeted(state, deps), hits=state["hits"])
    try:
        return await deps.reasoner.grade(task, deps.budget)
    except ModelUnavailable:
        deps.budget.fallbacks.append("rule:grade")
        return _by_score(state)


def _stopped(made: Grade, state: State, deps: Deps) -> Bound | None:
    """What keeps a further round from being made."""
    if made.get("ambiguity") and not state["clarified"]:
        return None
    if not made["missing"]:
        return "no_progress"
    if state["rounds"] >= deps.settings.max_rounds:
        return "rounds"
    return spent_bound(deps, reserve_calls=3)  # a plan, a grade, the answer
