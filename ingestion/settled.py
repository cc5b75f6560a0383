"""What became of a change: for whoever watches over files."""

from graph.documents import DocumentRecord
from graph.tracing import Trace
from ingestion.events import Change


class Settled:
    """A change, and the document's record if it had to be written."""

    def __init__(self, change: Change) -> None:
        self.change = change
        self.trace = Trace.continuing({"x-amzn-trace-id": change.trace})
        self.record: DocumentRecord | None = None
        self.error: Exception | None = None

    def facts(self) -> dict[str, object]:
        """For the span: nothing of what the file says, nor of its name."""
        if self.record is None:
            return {}
        return {
            "footnote.document_id": self.record["document_id"],
            "footnote.status": self.record["status"],
            "footnote.bytes": self.record["bytes"],
            "footnote.passages": self.record["passages"],
        }
