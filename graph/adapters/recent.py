"""Vectors of what was embedded last: questions and sentences come back within a turn and between turns."""

import threading
from collections import OrderedDict
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["query", "passage"]
_REMEMBERED = 4096


class Recent:
    """The last vectors, of any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[tuple[Kind, str], NDArray[np.float32]] = OrderedDict()

    def get(self, text: tuple[Kind, str]) -> NDArray[np.float32] | None:
        """The vector of a text as what it was read; None where that was too long ago."""
        with self._lock:
            if text in self._vectors:
                self._vectors.move_to_end(text)
            return self._vectors.get(text)

    def add(self, text: tuple[Kind, str], vector: NDArray[np.float32]) -> None:
        """Remember a vector in place of the oldest."""
        with self._lock:
            self._vectors[text] = vector
            if len(self._vectors) > _REMEMBERED:
                self._vectors.popitem(last=False)
