"""The model in memory: tokenizer, word vectors, and the network as an onnxruntime session."""

import hashlib
import logging
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime

from graph.adapters.e5.tokenizer import Tokenizer
from graph.adapters.e5.weights import BEGIN, END, POSITIONS, WIDTH, Floats, Weights, path, revision, unpacked

Kind = Literal["query", "passage"]
_log = logging.getLogger(__name__)
_WINDOW_TOKENS = POSITIONS - 2
_QUERY_WINDOWS = 2  # somebody waits, and the rest of so long a question says little more


class Model:
    """Texts to vectors, one at a time. Its methods may run in several threads."""

    def __init__(self, cache: Path) -> None:
        weights = Weights(path())
        self.tokenizer = Tokenizer(weights.vocabulary())
        self._words = weights.blocks("emb.word", WIDTH)
        self._session = _session(weights, cache)

    def vector(self, text: str, kind: Kind) -> Floats:
        """The vector of a text, shape (384,), of length 1.

        A longer text is read in windows; its vector is their mean, weighted by their tokens.
        """
        ids = self.tokenizer.ids(f"{kind}: {text}")
        if kind == "query":
            ids = ids[: _QUERY_WINDOWS * _WINDOW_TOKENS]
        total = np.zeros(WIDTH, np.float32)
        for start in range(0, max(len(ids), 1), _WINDOW_TOKENS):
            window = ids[start : start + _WINDOW_TOKENS]
            total += max(len(window), 1) * self._mean([BEGIN, *window, END])
        return np.asarray(total / np.linalg.norm(total), np.float32)

    def _mean(self, ids: Sequence[int]) -> Floats:
        blocks = self._words[ids]
        words = unpacked(blocks["scale"], blocks["halves"])
        mean: Floats = self._session.run(None, {"x": words[None]})[0][0]
        return mean


def _session(weights: Weights, cache: Path) -> Any:
    """The network, built once a machine: several processes may be the first at the same time."""
    file = cache / f"e5-small-int8-{_fingerprint()}.onnx"
    if file.is_file():
        try:
            return _open(file.read_bytes())
        except Exception:  # noqa: BLE001  # onnxruntime has many; a graph that does not load is built anew
            _log.warning("%s does not load and is built anew", file)
    from graph.adapters.e5 import network  # noqa: PLC0415  # onnx is needed to build only

    graph = network.build(weights)
    try:
        _keep(file, graph)
    except OSError as error:
        _log.warning("the embedder's graph cannot be kept and will be built at every start: %s", error)
    return _open(graph)


def _open(graph: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # texts run side by side instead
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _fingerprint() -> str:
    """Changes with everything that the graph is made of."""
    here = Path(__file__).parent
    made_of = revision().encode() + (here / "network.py").read_bytes() + (here / "smoothing.npz").read_bytes()
    return hashlib.sha256(made_of).hexdigest()[:16]


def _keep(file: Path, graph: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=file.parent, suffix=".unfinished")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(graph)
        Path(unfinished).replace(file)
    finally:
        with suppress(FileNotFoundError):
            Path(unfinished).unlink()
