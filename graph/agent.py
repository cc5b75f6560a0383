"""The door of the graph: a question in, events out. Callers see no LangGraph."""

from collections.abc import AsyncIterator

from graph.turn import Ask, Event, Resume


class Agent:
    """Runs turns. One object serves a process; many turns run in it at once, one per thread."""

    def run(self, ask: Ask) -> AsyncIterator[Event]:
        """Events of a turn, the last of them `Finished`; never raises but for cancellation."""
        raise NotImplementedError

    def resume(self, resume: Resume) -> AsyncIterator[Event]:
        """Go on with a turn that waits.

        Raises:
            NotWaiting: the thread waits for nothing under this interrupt id.
        """
        raise NotImplementedError

    async def forget(self, thread: str) -> None:
        """Delete all that is remembered of a conversation."""
        raise NotImplementedError
