"""Grades by scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.adapters.extractive.choosing import Pick
from graph.adapters.extractive.glossary import gloss
from graph.adapters.extractive.picking import Picker, is_foreign
from graph.adapters.extractive.planning import asks_to_act, is_out_of_scope
from graph.confidence import Confidence, judge
from graph.ports import Calibration
from graph.reasoner import Grade, GradeTask, Source, Verdict
from graph.text import language
from graph.thresholds import NONE_BELOW

_FAR_BEHIND = 0.5  # of the best coverage
_FAR_BEHIND_DEVIATIONS = 2.0


@dataclass(frozen=True)
class Grading:
    """What sources are worth."""

    calibration: Calibration
    picker: Picker

    async def grade(self, task: GradeTask) -> Grade:
        """Nothing is relevant where nothing supports an answer, else all that is not far behind the best.

        It is sufficient where what would be picked says what was asked, in the language of the question: across languages
        rules see too little. Retrieval knows the subject alone.
        """
        if is_out_of_scope(task.question):
            return Grade(verdicts=_all(task.sources, "irrelevant"), sufficient=False, missing="", conflicts="")
        wording = gloss(task.question)
        if wording and any(one.query == wording for one in task.hits):
            return await self._of_the_second_search(task, wording)
        judged = judge(task.sources, task.hits, self.calibration)
        verdicts = _all(task.sources, "relevant") if judged.level == "confident" else self._verdicts(task.sources)
        vouched = await self._vouched(task, verdicts)
        if vouched is None and judged.level == "none" and not await self._stands_out(task, judged):
            verdicts = _all(task.sources, "irrelevant")
        if wording and not _speaks_like(task.question, vouched) and _has_unseen(task, wording):
            if is_foreign(task.question, task.sources):
                verdicts = _all(task.sources, "partial")
            return Grade(verdicts=verdicts, sufficient=False, missing=wording, conflicts="")
        return Grade(verdicts=verdicts, sufficient=_speaks_like(task.question, vouched), missing="", conflicts="")

    async def _vouched(self, task: GradeTask, verdicts: Mapping[str, Verdict]) -> Pick | None:
        """What answers the question, among what is not judged irrelevant."""
        if asks_to_act(task.question):
            return None
        useful = [source for source in task.sources if verdicts[source["passage"]["passage_id"]] != "irrelevant"]
        return await self.picker.vouched(task.question, useful)

    async def _stands_out(self, task: GradeTask, judged: Confidence) -> bool:
        """Whether a statement is so much nearer than its passage that the passage's scores do it no justice."""
        return judged.score < NONE_BELOW and await self.picker.stands_out(task.question, task.sources)

    async def _of_the_second_search(self, task: GradeTask, wording: str) -> Grade:
        """Of what speaks the other language; what speaks that of the question keeps its verdict, unless it is far behind."""
        speaks = language(wording)
        others = [source for source in task.sources if language(source["passage"]["text"]) == speaks]
        own = [source for source in task.sources if language(source["passage"]["text"]) != speaks]
        level = judge(others, task.hits, self.calibration).level
        verdicts = _all(others, "irrelevant" if level == "none" else "partial" if own else "relevant")
        nearest = max((source["cosine"] for source in own), default=0.0)
        far = [source for source in own if not self._is_near(source, nearest)]
        verdicts |= _all(far, "irrelevant")
        every = _all(own, "relevant") | verdicts
        vouched = await self._vouched(task, every)
        return Grade(verdicts=verdicts, sufficient=_speaks_like(task.question, vouched), missing="", conflicts="")

    def _is_near(self, source: Source, nearest: float) -> bool:
        return source["cosine"] >= nearest - _FAR_BEHIND_DEVIATIONS * self.calibration.random_std

    def _verdicts(self, sources: Sequence[Source]) -> dict[str, Verdict]:
        return {source["passage"]["passage_id"]: self._verdict(source, sources) for source in sources}

    def _verdict(self, source: Source, sources: Sequence[Source]) -> Verdict:
        coverage = max(one["coverage"] for one in sources)
        cosine = max(one["cosine"] for one in sources)
        near = self._is_near(source, cosine)
        covers = source["coverage"] >= _FAR_BEHIND * coverage
        return "relevant" if near and covers else "partial" if near or covers else "irrelevant"


def _speaks_like(question: str, pick: Pick | None) -> bool:
    return pick is not None and pick.candidate.language == language(question)


def _all(sources: Sequence[Source], verdict: Verdict) -> dict[str, Verdict]:
    return {source["passage"]["passage_id"]: verdict for source in sources}


def _has_unseen(task: GradeTask, wording: str) -> bool:
    """Whether the search came across passages in the other language, and not all of them are among the sources."""
    speaks = language(wording)
    seen = {source["passage"]["passage_id"] for source in task.sources}
    passages = [scored.passage for one in task.hits for scored in (*one.bm25, *one.knn)]
    return any(passage["passage_id"] not in seen and language(passage["text"]) == speaks for passage in passages)
