"""What came of a run, as the turn that clients see."""

from typing import Literal

from functions import notes
from functions.shapes import Turn, TurnUsage
from functions.turnlog import TurnRecord
from graph.turn import ErrorCode, Finished, Usage

_CODES: dict[notes.Ending, ErrorCode] = {
    "crashed": "crashed",
    "shutdown": "crashed",
    "deadline": "deadline",
    "internal": "internal",
}


def ended(ending: notes.Ending, language: str, *, code: ErrorCode | None = None, message: str | None = None) -> Finished:
    """The end of a turn that the agent did not finish."""
    note = notes.of_ending(ending, language)
    if ending == "cancelled":
        return Finished(outcome="cancelled", note=note)
    return Finished(outcome="failed", note=note, error_code=code or _CODES[ending], error_message=message or note)


def finish(record: TurnRecord, finished: Finished, *, total_ms: float, first_token_ms: float | None) -> TurnRecord:
    """The record with the end, or the pause, of its turn; times of earlier runs are added up."""
    before = record["turn"]
    turn = running(before)
    turn["outcome"] = finished.outcome
    turn["answer"] = finished.answer
    turn["citations"] = finished.citations
    turn["usage"] = _usage(finished.usage_by_node)
    turn["timings_ms"] = {"total": round(before["timings_ms"]["total"] + total_ms, 1), "by_node": finished.ms_by_node}
    first = before["timings_ms"].get("first_token", first_token_ms)
    if first is not None:
        turn["timings_ms"]["first_token"] = first
    turn["trace_id"] = finished.trace_id or before["trace_id"]
    _add_what_there_is(turn, finished, record["language"])
    interrupts: dict[str, Literal["clarification", "approval"]] = {}
    interrupts.update({one["interrupt_id"]: "clarification" for one in finished.clarifications})
    interrupts.update({one["interrupt_id"]: "approval" for one in finished.approvals})
    return {**record, "state": "waiting" if interrupts else "finished", "interrupts": interrupts, "turn": turn}


def recovered(record: TurnRecord, turn: Turn) -> TurnRecord:
    """The record of a turn that got as far as its last event."""
    interrupts: dict[str, Literal["clarification", "approval"]] = {}
    if "clarification" in turn:
        interrupts[turn["clarification"]["interrupt_id"]] = "clarification"
    if "approval" in turn:
        interrupts[turn["approval"]["interrupt_id"]] = "approval"
    return {**record, "state": "waiting" if interrupts else "finished", "interrupts": interrupts, "turn": turn}


def running(turn: Turn) -> Turn:
    """A turn as it looks while it runs again."""
    again = unanswered(
        turn_id=turn["turn_id"],
        thread_id=turn["thread_id"],
        message_id=turn["message_id"],
        question=turn["question"],
        trace_id=turn["trace_id"],
        created_at=turn["created_at"],
    )
    return {**again, "timings_ms": turn["timings_ms"]}


def unanswered(  # noqa: PLR0913  # what a turn is from its first moment on
    *, turn_id: str, thread_id: str, message_id: str, question: str, trace_id: str, created_at: str
) -> Turn:
    """A turn that has just begun."""
    return {
        "turn_id": turn_id,
        "thread_id": thread_id,
        "message_id": message_id,
        "question": question,
        "outcome": None,
        "answer": "",
        "citations": [],
        "usage": _usage({}),
        "timings_ms": {"total": 0, "by_node": {}},
        "trace_id": trace_id,
        "created_at": created_at,
    }


def _add_what_there_is(turn: Turn, finished: Finished, language: str) -> None:
    if finished.standalone_question is not None:
        turn["standalone_question"] = finished.standalone_question
    note = finished.note or notes.of_outcome(finished.outcome, language)
    if note:
        turn["note"] = note
    if finished.outcome == "failed":
        turn["error"] = {"code": finished.error_code or "internal", "message": finished.error_message or note}
    if finished.clarifications:
        turn["clarification"] = finished.clarifications[0]
    if finished.approvals:
        turn["approval"] = finished.approvals[0]


def _usage(by_node: dict[str, Usage]) -> TurnUsage:
    nodes = by_node.values()
    return {
        "calls": sum(node["calls"] for node in nodes),
        "prompt_tokens": sum(node["prompt_tokens"] for node in nodes),
        "cached_tokens": sum(node["cached_tokens"] for node in nodes),
        "completion_tokens": sum(node["completion_tokens"] for node in nodes),
        "cost_usd": round(sum(node["cost_usd"] for node in nodes), 8),
        "by_node": by_node,
    }
