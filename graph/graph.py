"""The graph, which reads like its picture."""

from typing import Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import RetryPolicy

from graph.errors import IndexUnavailable
from graph.nodes.answer import answer
from graph.nodes.begin import begin
from graph.nodes.check import check
from graph.nodes.clarify import clarify
from graph.nodes.finish import finish
from graph.nodes.gather import gather
from graph.nodes.grade import grade
from graph.nodes.plan import plan
from graph.nodes.sources import useful
from graph.settings import Settings
from graph.state import Deps, Question, State

Graph = CompiledStateGraph[State, Deps, Question, State]

# The default policy would also retry what a second try cannot mend. Models are retried where their errors are
# understood, in their adapter.
TRANSIENT = RetryPolicy(initial_interval=0.2, max_attempts=2, retry_on=IndexUnavailable)


def after_grade(state: State) -> Literal["answer", "plan", "clarify", "finish"]:
    """Enough, or no way to more: answer from what there is. Else look again, or ask."""
    if state["grade"]["sufficient"] or state["stopped"]:
        return "answer" if useful(state) else "finish"
    return "clarify" if state["grade"].get("ambiguity") and not state["clarified"] else "plan"


def after_check(state: State) -> Literal["answer", "finish"]:
    """Once more where a sentence has no support and the bounds allow it."""
    return "answer" if state["revisable"] else "finish"


def build_graph(checkpointer: BaseCheckpointSaver[str] | None = None) -> Graph:
    """The compiled graph; its dependencies come with each run, as ``context``."""
    return (
        StateGraph(State, context_schema=Deps, input_schema=Question)
        .add_node(begin)
        .add_node(plan)
        .add_node(gather, retry_policy=TRANSIENT)
        .add_node(grade)
        .add_node(clarify)
        .add_node(answer)
        .add_node(check)
        .add_node(finish)
        .add_edge(START, "begin")
        .add_edge("begin", "plan")
        .add_edge("plan", "gather")
        .add_edge("gather", "grade")
        .add_conditional_edges("grade", after_grade)
        .add_edge("clarify", "plan")
        .add_edge("answer", "check")
        .add_conditional_edges("check", after_check)
        .add_edge("finish", END)
        .compile(checkpointer=checkpointer, name="footnote")
    )


def most_steps(settings: Settings) -> int:
    """Steps of the longest turn that the bounds allow: LangGraph's own limit stands above it and is never what ends one."""
    round_steps = len(("clarify", "plan", "gather", "grade"))
    return 2 + round_steps * (settings.max_rounds + 2) + 2 * (settings.max_revisions + 1) + 8
