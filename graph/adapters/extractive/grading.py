"""Grades by scores."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.adapters.extractive.glossary import gloss
from graph.adapters.extractive.picking import Picker, is_foreign
from graph.confidence import NONE_BELOW, Confidence, judge
from graph.ports import ArmHits, Calibration
from graph.reasoner import Grade, GradeTask, Source, Verdict
from graph.text import language

_FAR_BEHIND = 0.5  # of the best coverage
_FAR_BEHIND_DEVIATIONS = 2.0


@dataclass(frozen=True)
class Grading:
    """What sources are worth."""

    calibration: Calibration
    picker: Picker

    async def grade(self, task: GradeTask) -> Grade:
        """Nothing is relevant where nothing supports an answer, else all that is not far behind the best."""
        wording = gloss(task.question)
        if wording and any(one.query == wording for one in task.hits):
            return self._of_the_second_search(task, wording)
        judged = judge(task.sources, task.hits, self.calibration)
        is_there = judged.level != "none" or await self._stands_out(task, judged)
        verdicts = self._verdicts(task.sources) if is_there else _all(task.sources, "irrelevant")
        if wording and judged.level != "confident" and _has_unseen(task, wording):
            if is_foreign(task.question, task.sources):
                verdicts = _all(task.sources, "partial")
            return Grade(verdicts=verdicts, sufficient=False, missing=wording, conflicts="")
        return Grade(verdicts=verdicts, sufficient=is_there, missing="", conflicts="")

    async def _stands_out(self, task: GradeTask, judged: Confidence) -> bool:
        """Whether a statement is so much nearer than its passage that the passage's scores do it no justice."""
        return judged.score < NONE_BELOW and await self.picker.stands_out(task.question, task.sources)

    def _of_the_second_search(self, task: GradeTask, wording: str) -> Grade:
        """Of what was found in the other language; what was found before keeps its verdict."""
        found = _ids(task.hits)
        fresh = [source for source in task.sources if source["passage"]["passage_id"] in found]
        before = [source for source in task.sources if source["passage"]["passage_id"] not in found]
        level = judge(fresh, task.hits, self.calibration).level
        leads = level == "confident" and (not before or is_foreign(task.question, before))
        verdicts = _all(fresh, "irrelevant" if level == "none" else "relevant" if leads else "partial")
        for source in fresh:
            if language(source["passage"]["text"]) != language(wording):
                verdicts[source["passage"]["passage_id"]] = "irrelevant"  # the first search has seen this language
        is_there = bool(before) or any(verdict != "irrelevant" for verdict in verdicts.values())
        return Grade(verdicts=verdicts, sufficient=is_there, missing="", conflicts="")

    def _verdicts(self, sources: Sequence[Source]) -> dict[str, Verdict]:
        return {source["passage"]["passage_id"]: self._verdict(source, sources) for source in sources}

    def _verdict(self, source: Source, sources: Sequence[Source]) -> Verdict:
        coverage = max(one["coverage"] for one in sources)
        cosine = max(one["cosine"] for one in sources)
        near = source["cosine"] >= cosine - _FAR_BEHIND_DEVIATIONS * self.calibration.random_std
        covers = source["coverage"] >= _FAR_BEHIND * coverage
        return "relevant" if near and covers else "partial" if near or covers else "irrelevant"


def _all(sources: Sequence[Source], verdict: Verdict) -> dict[str, Verdict]:
    return {source["passage"]["passage_id"]: verdict for source in sources}


def _ids(hits: Sequence[ArmHits]) -> set[str]:
    return {scored.passage["passage_id"] for one in hits for scored in (*one.bm25, *one.knn)}


def _has_unseen(task: GradeTask, wording: str) -> bool:
    """Whether the search came across passages in the other language, and not all of them are among the sources."""
    speaks = language(wording)
    seen = {source["passage"]["passage_id"] for source in task.sources}
    passages = [scored.passage for one in task.hits for scored in (*one.bm25, *one.knn)]
    return any(passage["passage_id"] not in seen and language(passage["text"]) == speaks for passage in passages)
