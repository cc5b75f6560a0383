"""BM25 over the postings that FTS5 keeps.

FTS5's own ``bm25()`` counts passages of other tenants and versions that are not visible yet, and gives no weight to a term
that half of the passages have, which in an index of one small document is nearly every term. So the scores are computed here,
with Lucene's idf, ``log(1 + (N - df + 0.5) / (df + 0.5))``, over the passages that the caller may see.
"""

import sqlite3
from collections.abc import Sequence

import numpy as np

from graph.adapters.sqlite_index.memory import Floats, Generation, Mask
from graph.stopwords import STOPWORDS

_K1 = 1.2
_B = 0.75
_CEILING_TERMS = 8  # more would make long questions incomparable with short ones
_LONGEST_QUERY = 400


def scores(connection: sqlite3.Connection, generation: Generation, terms: Sequence[str], seen: Mask) -> tuple[Floats, float]:
    """The score of each slot, and the highest that any passage could have for the query's 8 rarest terms.

    ``seen`` are the passages that count for the statistics. Stopwords count for nothing beside other terms: a question in
    English would find Chinese passages by an "of" in them.
    """
    total = np.zeros(len(generation.rows), np.float32)
    passages = int(seen.sum())
    average = float(generation.lengths[seen].mean()) if passages else 1.0
    norms = _K1 * (1 - _B + _B * generation.lengths / max(average, 1.0))
    weights = []
    distinct = list(dict.fromkeys(terms))
    for term in ([term for term in distinct if term not in STOPWORDS] or distinct)[:_LONGEST_QUERY]:
        slots, counts = generation.postings(connection, term)
        having = int(seen[slots].sum())
        weights.append(float(np.log1p((passages - having + 0.5) / (having + 0.5))) * (_K1 + 1))
        total[slots] += weights[-1] * counts / (counts + norms[slots])
    return total, sum(sorted(weights)[-_CEILING_TERMS:])
