"""``gather``: run the plan."""

from collections.abc import Mapping, Sequence

from langgraph.runtime import Runtime

from graph.confidence import judge
from graph.errors import IndexUnavailable
from graph.nodes.begin import first_query
from graph.nodes.observed import observed
from graph.nodes.sources import beside, merged, numbered, rescored
from graph.ports import ArmHits, Passage
from graph.questions import folded
from graph.reasoner import Source
from graph.retrieval import Found as FoundPassage
from graph.state import Deps, Level, State, Update
from graph.text import sentences, terms
from graph.tools.reread import Reread
from graph.tools.search import Search
from graph.tools.toolbox import Answer, Arguments, Finding
from graph.turn import Found, PassageBrief, Step

_LEVELS: tuple[Level, ...] = ("none", "unsure", "confident")
_FIRST, _AGAIN = 5, 10  # passages of a query; on a replan also those behind the ones that are known
_BYTES_PER_TOKEN = 4  # in English and in Chinese
_LONGEST_LINK = 200  # characters of an earlier step's result that a later query takes along


@observed(progress=0.25)
async def gather(state: State, runtime: Runtime[Deps]) -> Update:
    """Run every planned step whose inputs are known, side by side, until all have run."""
    deps = runtime.context
    steps = state["plan"]["steps"]
    answers: dict[int, Answer] = {}
    while ready := _ready(steps, answers):
        calls = [_call(steps[number - 1], state, answers, steps) for number in ready]
        answers.update(zip(ready, await deps.toolbox.run(calls), strict=True))
    findings = [answer for answer in answers.values() if isinstance(answer, Finding)]
    failures = [answer for answer in answers.values() if not isinstance(answer, Finding)]
    if failures and not findings and not state["sources"]:
        raise IndexUnavailable(failures[0]["message"])  # nothing to go on; the node's retry policy decides
    update = await _gathered(state, findings, steps, deps)
    runtime.stream_writer(Found(passages=[_brief(source) for source in update["sources"]]))
    return update


def _ready(steps: Sequence[Step], answers: Mapping[int, Answer]) -> list[int]:
    return [
        number
        for number, step in enumerate(steps, start=1)
        if number not in answers and all(earlier in answers for earlier in step["depends_on"])
    ]


def _call(step: Step, state: State, answers: Mapping[int, Answer], steps: Sequence[Step]) -> Arguments:
    """The step's tool with arguments; its query completed from the steps that it depends on."""
    earlier = [(steps[number - 1]["query"], answers[number]) for number in step["depends_on"]]
    found = [(query, answer.found[0]) for query, answer in earlier if isinstance(answer, Finding) and answer.found]
    links = [_link(query, best) for query, best in found]
    query = " ".join([step["query"], *links])[:1_000]
    documents = [best.passage["document_id"] for _, best in found] or [
        source["passage"]["document_id"] for source in state["sources"]
    ]
    if step["tool"] == "reread" and documents:
        return Reread(query=query, document_id=documents[0], exclude=frozenset(state["seen"]))
    same = folded(query) == folded(first_query(state))
    size = _AGAIN if state["seen"] else _FIRST
    return Search(query=first_query(state) if same else query, size=size)


def _link(query: str, best: FoundPassage) -> str:
    """The sentence of a passage that says most about the query which found it."""
    text, wanted = best.passage["text"], set(terms(query))
    spans = sentences(text)
    pick = max(spans, key=lambda span: len(wanted & set(terms(text[span.start : span.end]))), default=None)
    return text[pick.start : pick.end][:_LONGEST_LINK] if pick else ""


async def _gathered(state: State, findings: Sequence[Finding], steps: Sequence[Step], deps: Deps) -> Update:
    found = [finding.found for finding in findings]
    fresh = merged(found, frozenset(state["seen"]))
    after = max((source["number"] for source in (*state["sources"], *state["around"])), default=0)
    sources = [*rescored(state["sources"], found), *numbered(fresh, after=after)]
    around = beside(await _around(fresh, deps), sources, state["around"], after=after + len(fresh))
    new = [one.passage for one in fresh] + [one["passage"] for one in around]
    counts = await _sizes(new, deps)
    return Update(
        sizes=state["sizes"] | {passage["passage_id"]: count for passage, count in zip(new, counts, strict=True)},
        sources=sources,
        around=around,
        seen=[*state["seen"], *(one.passage["passage_id"] for one in fresh)],
        tried=[*state["tried"], *(folded(step["query"]) for step in steps)],
        hits=[finding.hits for finding in findings if finding.hits is not None],
        confidence=_confidence(findings, deps),
        news=bool(fresh),
        degraded=sorted({arm for finding in findings for arm in finding.degraded} | set(state["degraded"])),
        warnings=list(dict.fromkeys([*state["warnings"], *(text for finding in findings for text in finding.warnings)])),
    )


async def _around(fresh: Sequence[FoundPassage], deps: Deps) -> list[Passage]:
    """What stands around the best of what was found. Rules pick from what was found only."""
    if deps.reasoner.extractive or not fresh:
        return []
    try:
        return await deps.retriever.around([one.passage for one in fresh[:_FIRST]], deps.access)
    except IndexUnavailable:
        return []  # what was found is there


async def _sizes(passages: Sequence[Passage], deps: Deps) -> list[int]:
    """Tokens of each passage; about as many where no model's window has to hold them."""
    if deps.reasoner.extractive:
        return [len(passage["text"].encode("utf-8", "replace")) // _BYTES_PER_TOKEN for passage in passages]
    return await deps.retriever.sizes(passages)


def _confidence(findings: Sequence[Finding], deps: Deps) -> Level:
    """As sure as the least sure of the queries: each was asked because the answer needs it."""
    calibration, from_ = deps.retriever.embedder.calibration, deps.settings.confident_from
    levels: list[Level] = [
        judge(numbered(finding.found), _hits(finding), calibration, confident_from=from_).level if finding.found else "none"
        for finding in findings
    ]
    return min(levels, key=_LEVELS.index, default="none")


def _hits(finding: Finding) -> list[ArmHits]:
    return [finding.hits] if finding.hits is not None else []


def _brief(source: Source) -> PassageBrief:
    passage = source["passage"]
    brief = PassageBrief(document_id=passage["document_id"], title=passage["title"], score=round(source["score"], 4))
    if "page" in passage:
        brief["page"] = passage["page"]
    return brief
