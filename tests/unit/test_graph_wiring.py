"""The agent that the settings name, over real embedded stores, without a model."""

from pathlib import Path

from graph.ports import Access
from graph.settings import Settings
from graph.turn import Ask, Finished
from graph.wiring import Wiring
from ingestion.handler import consume

ACCESS = Access(tenant="default")
TEXT = b"# Refunds\n\nRefunds abroad take fourteen days. They need the original receipt.\n\n# Lunch\n\nLunch costs six euros.\n"


async def _filled(home: Path) -> Wiring:
    wiring = Wiring(Settings.read({}, home=home))
    stored = await wiring.bucket.put("uploads/default/refunds.md", TEXT)
    item = {"key": stored.key, "size": stored.bytes, "sequencer": stored.sequencer}
    await consume({"Records": [{"eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "s3": {"object": item}}]}, wiring)
    return wiring


async def _turn(wiring: Wiring, question: str, turn_id: str) -> Finished:
    agent = await wiring.agent()
    asked = Ask(turn_id=turn_id, thread="t", question=question, access=ACCESS, seconds=20)
    *_, last = [event async for event in agent.run(asked)]
    assert isinstance(last, Finished)
    return last


async def test_without_a_key_documents_are_answered_from_and_the_note_says_how(tmp_path: Path) -> None:
    wiring = await _filled(tmp_path)
    turn = await _turn(wiring, "How long do refunds abroad take?", "one")
    assert turn.outcome in ("answered", "partial")
    assert turn.citations[0]["quote"] in TEXT.decode()
    assert "fourteen days" in turn.answer
    assert "language model" in (turn.note or "")
    await wiring.close()


async def test_one_agent_serves_a_process_and_conversations_outlive_it(tmp_path: Path) -> None:
    wiring = await _filled(tmp_path)
    assert await wiring.agent() is await wiring.agent()
    await _turn(wiring, "How long do refunds abroad take?", "one")
    await wiring.close()
    again = Wiring(Settings.read({}, home=tmp_path))
    turn = await _turn(again, "And what do they need?", "two")
    assert turn.standalone_question != "And what do they need?"
    assert "receipt" in turn.answer
    await again.close()


async def test_closing_what_was_never_opened_is_fine(tmp_path: Path) -> None:
    await Wiring(Settings.read({}, home=tmp_path)).close()
