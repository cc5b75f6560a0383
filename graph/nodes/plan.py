"""``plan``: what to search for."""

from langgraph.runtime import Runtime

from graph.confidence import judge
from graph.errors import ModelUnavailable
from graph.nodes.begin import first_query
from graph.nodes.bounds import spent_bound
from graph.nodes.observed import observed
from graph.nodes.sources import numbered
from graph.nodes.tasks import history_of
from graph.questions import folded, leans_on_history, one_search_is_enough
from graph.reasoner import Plan, PlanTask
from graph.state import Deps, State, Update
from graph.tools import SPECS
from graph.tools.search import Search
from graph.tools.toolbox import Finding
from graph.turn import Planned, Step

_MOST_STEPS = 5


@observed(progress=0.1)
async def plan(state: State, runtime: Runtime[Deps]) -> Update:
    """Make the question stand alone and lay out the steps; on a replan, only steps that look for something new."""
    deps = runtime.context
    again = bool(state["tried"])
    made = None if again else await _obvious(state, deps)
    made = _tidy(made or await _reasoned(state, deps), state, again=again)
    runtime.stream_writer(Planned(**made))
    return Update(plan=made, rounds=state["rounds"] + again)


async def _obvious(state: State, deps: Deps) -> Plan | None:
    """The plan of a question that one search answers: the search that `begin` started, if it found something."""
    question = state["question"]
    if not one_search_is_enough(question) or (state["history"] and leans_on_history(question)):
        return None
    [finding] = await deps.toolbox.run([Search(query=first_query(state))])
    if not isinstance(finding, Finding) or finding.hits is None:
        return None
    judged = judge(numbered(finding.found), [finding.hits], deps.retriever.embedder.calibration)
    return lookup(question) if judged.level != "none" else None


async def _reasoned(state: State, deps: Deps) -> Plan:
    task = PlanTask(
        question=state["question"],
        history=history_of(state, deps),
        summary=state["summary"],
        tools=SPECS,
        missing=state["grade"]["missing"],
        tried=state["tried"],
        found=state["sources"],
    )
    if spent_bound(deps, reserve_calls=1):
        return lookup(state["question"])
    try:
        return await deps.reasoner.plan(task, deps.budget)
    except ModelUnavailable:
        deps.budget.fallbacks.append("rule:plan")
        return lookup(state["question"])


def lookup(question: str) -> Plan:
    """One search with the question as it is."""
    return Plan(intent="lookup", question=question, steps=[_step(question)])


def _step(query: str) -> Step:
    return Step(tool="search", query=query[:1_000], purpose="", depends_on=[])


def _tidy(made: Plan, state: State, *, again: bool) -> Plan:
    """The plan with only what can be run: known tools, queries not made yet, dependencies on earlier steps."""
    known = {spec["name"] for spec in SPECS}
    tried = set(state["tried"])
    steps: list[Step] = []
    place: dict[int, int] = {}
    for number, step in enumerate(made["steps"], start=1):
        query = step["query"].strip()[:1_000]
        if step["tool"] not in known or not query or folded(query) in tried or len(steps) == _MOST_STEPS:
            continue
        tried.add(folded(query))
        place[number] = len(steps) + 1
        depends_on = [place[earlier] for earlier in step["depends_on"] if earlier in place and earlier != number]
        steps.append({**step, "query": query, "depends_on": depends_on})
    question = state["plan"]["question"] if again and not state["clarified"] else made["question"].strip() or state["question"]
    if not steps and not again:
        steps = [_step(question)]
    return Plan(intent=made["intent"], question=question, steps=steps)
