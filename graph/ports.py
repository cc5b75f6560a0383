"""The ports: what the graph, ingestion and the functions need from outside. Adapters are built in ``wiring`` only."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NotRequired, Protocol, TypedDict

from graph.filters import Condition

if TYPE_CHECKING:  # who authorizes and who takes frames needs no numpy
    import numpy as np
    from numpy.typing import NDArray

MetaValue = str | int | float | bool | list[str]
Json = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Access:
    """Who asks. It comes from the authorizer, never from a body."""

    tenant: str
    groups: frozenset[str] = frozenset()
    """Documents without groups are read by the whole tenant, others by members of one of theirs."""


class Passage(TypedDict):
    """A piece of a document's extracted text, as stored. Offsets count Unicode code points."""

    passage_id: str
    document_id: str
    version: str
    ordinal: int
    """Place in reading order, from 0."""
    title: str
    path: str
    uri: str
    start: int
    end: int
    text: str
    """The extracted text from ``start`` to ``end``."""
    heading: NotRequired[str]
    """Heading path, joined by ``" > "``."""
    page: NotRequired[int]
    meta: dict[str, MetaValue]


@dataclass(frozen=True, kw_only=True)
class Document:
    """The version of a document that passages are stored for."""

    document_id: str
    version: str
    tenant: str
    groups: frozenset[str] = frozenset()


# --- Embedder ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What cosines of one embedder look like: absolute thresholds only make sense beside it (``retrieval.py``)."""

    random_mean: float
    """Mean cosine of two unrelated passages."""
    random_std: float
    """Their standard deviation."""


class Embedder(Protocol):
    """Texts to vectors."""

    model: str
    """Name and revision; vectors of two models never meet in one index."""
    dimensions: int
    max_tokens: int
    """Tokens of one text that are read in one window."""
    calibration: Calibration

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> "NDArray[np.float32]":
        """Vectors of the texts, shape (len(texts), dimensions), each of length 1.

        Raises:
            Unavailable: the embedder does not answer.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without the special ones."""
        ...

    async def warm(self) -> None:
        """Load what a first call would have to load."""
        ...


# --- PassageIndex -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class IndexQuery:
    """One query of a wave."""

    text: str
    vector: "NDArray[np.float32] | None"
    """Shape (dimensions,); None when the embedder is down: the k-NN arm is then left out."""
    document_id: str | None = None
    """Search inside this document only."""
    exclude: frozenset[str] = frozenset()
    """Ids of passages that are not wanted (already seen)."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A passage as one arm found it."""

    passage: Passage
    score: float
    """BM25 score, or cosine."""


@dataclass(frozen=True, kw_only=True)
class ArmHits:
    """What both arms found for one query, each best first."""

    bm25: list[Scored]
    knn: list[Scored]
    ceiling: float
    """Highest BM25 score that any passage could have for the 8 rarest terms of the query; 0 for a query without terms."""
    degraded: list[Literal["bm25", "knn"]] = field(default_factory=list)
    """Arms that failed."""
    query: str = ""
    """What was asked, as the arms got it: its language says which arm can have found something."""


class PassageIndex(Protocol):
    """Passages with their vectors; one version of a document is visible, whole."""

    async def search(
        self, queries: Sequence[IndexQuery], access: Access, *, filters: Sequence[Condition] = (), size: int = 20
    ) -> list[ArmHits]:
        """Both arms of every query, in one round trip, over one state of the index.

        Raises:
            IndexUnavailable: neither arm answers.
        """
        ...

    async def neighbours(
        self, passages: Sequence[Passage], access: Access, *, before: int = 1, after: int = 1
    ) -> list[Passage]:
        """The passages around the given ones in reading order, themselves included, each once."""
        ...

    async def read(self, document_id: str, access: Access, *, after: int = -1, limit: int = 20) -> list[Passage]:
        """Visible passages of a document with ``ordinal > after``, in reading order; none if it may not be read."""
        ...

    async def get(self, passage_ids: Sequence[str], access: Access) -> list[Passage]:
        """The visible passages with these ids, in this order; missing ones are left out."""
        ...

    async def known_fields(self, access: Access) -> set[str]:
        """Names of metadata fields that visible documents have, ``path`` and ``title`` among them."""
        ...

    async def vectors(self, texts_sha256: Sequence[str], model: str) -> "dict[str, NDArray[np.float32]]":
        """Vectors already stored for these embedded texts, so that nothing is embedded twice."""
        ...

    async def stage(
        self,
        document: Document,
        passages: Sequence[Passage],
        vectors: "NDArray[np.float32]",
        *,
        texts_sha256: Sequence[str],
        model: str,
    ) -> None:
        """Store passages of a version, not visible yet. Again with the same ids: replaced."""
        ...

    async def publish(self, document: Document) -> None:
        """Make the staged version visible, whole, and drop every other version of the document, in one step.

        Raises:
            NotFound: nothing is staged of this version (any more).
        """
        ...

    async def remove(self, document_id: str) -> None:
        """Drop every version of the document. Not there: nothing happens."""
        ...

    async def check(self, model: str, dimensions: int) -> None:
        """Raise `InvalidSetting` when the index holds vectors of another model, naming both."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


# --- Table ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Item:
    """A row of the single table."""

    pk: str
    sk: str
    value: Json
    """Plain JSON."""
    expires_at: int | None = None
    """Unix seconds from which on the item is gone, also where the store has not deleted it yet."""


class Absent:
    """Condition of a put: there is no such item (an expired one counts as none)."""


@dataclass(frozen=True)
class Equals:
    """Condition of a put or delete: the stored item's value has these fields with these values."""

    fields: Mapping[str, object]


class Table(Protocol):
    """A single table: partition key, sort key, JSON value, expiry. Reads see every write that was acknowledged."""

    async def put(self, item: Item, *, condition: Absent | Equals | None = None) -> bool:
        """Store the item; False, and nothing stored, when the condition does not hold."""
        ...

    async def get(self, pk: str, sk: str) -> Item | None: ...

    async def query(
        self, pk: str, *, prefix: str = "", after: str | None = None, limit: int | None = None, descending: bool = False
    ) -> list[Item]:
        """Items of a partition whose sort key has the prefix and comes after ``after``, ordered by it (bytewise)."""
        ...

    async def delete(self, pk: str, sk: str, *, condition: Equals | None = None) -> bool:
        """Delete the item; False when the condition does not hold. Not there: True."""
        ...

    async def close(self) -> None: ...


# --- Bucket -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ObjectInfo:
    """An object as it is stored."""

    key: str
    version: str
    """Changes with every write of the key."""
    bytes: int
    content_type: str
    metadata: Mapping[str, str]
    """``x-amz-meta-*`` without the prefix."""
    modified_at: float
    """Unix seconds."""
    sequencer: str
    """Orders the writes and deletes of one key, by string comparison at equal length (S3's sequencer)."""


class Bucket(Protocol):
    """Objects under keys. Slashes make folders."""

    async def put(
        self, key: str, body: bytes, *, metadata: Mapping[str, str] | None = None, content_type: str | None = None
    ) -> ObjectInfo: ...

    async def get(self, key: str) -> bytes | None: ...

    async def head(self, key: str) -> ObjectInfo | None: ...

    async def delete(self, key: str) -> None:
        """Not there: nothing happens."""
        ...

    def list(self, prefix: str) -> AsyncIterator[ObjectInfo]: ...

    def uri(self, key: str) -> str:
        """Where a person finds the object: what citations carry."""
        ...
