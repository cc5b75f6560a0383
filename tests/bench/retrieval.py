"""nDCG@10 of both arms, of reciprocal ranks and of the fusion on public sets with given vectors, through the real index.

``python -m tests.bench.retrieval [SET …]``. Beside each figure stands what the lab measured with the same vectors; it may be
missed by 0.01.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from graph.adapters.sqlite_index import SQLiteIndex
from graph.fusion import fuse
from tests.ranking import ARM_SIZE, E5, PublicSet

ARMS = ("BM25", "k-NN", "RRF 60", "fusion")
DATA = Path(__file__).parents[3] / "shared" / "data"
SETS = {
    "scifact": (("scifact", "", ""), (0.686, 0.655, 0.716, 0.725)),
    "cmrc2018": (("cmrc2018", "", ""), (0.940, 0.968, 0.981, 0.989)),
    "multihoprag500": (("multihoprag500", "", ""), (0.773, 0.753, 0.801, 0.808)),
    "rgb_en": (("rgb_en", "", ""), (0.507, 0.636, 0.587, 0.622)),
    "xquad en>en": (("xquad_en_zh", "en", "en"), (0.965, 0.970, 0.980, 0.984)),
    "xquad en>zh": (("xquad_en_zh", "en", "zh"), (0.089, 0.844, 0.765, 0.844)),
    "xquad en>both": (("xquad_en_zh", "en", ""), (0.600, 0.655, 0.627, 0.657)),
    "xquad zh>en": (("xquad_en_zh", "zh", "en"), (0.050, 0.812, 0.813, 0.814)),
    "xquad zh>zh": (("xquad_en_zh", "zh", "zh"), (0.902, 0.952, 0.961, 0.974)),
    "xquad zh>both": (("xquad_en_zh", "zh", ""), (0.566, 0.588, 0.600, 0.608)),
}
"""Folder, prefixes of questions and documents; BM25, k-NN, RRF and the fusion as the lab measured them."""


async def main() -> None:
    print(f"{'set':16}{''.join(f'{head:>15}' for head in ARMS)}   ours/lab")
    for name in sys.argv[1:] or SETS:
        (folder, questions, documents), lab = SETS[name]
        ours = await measured(PublicSet.read(DATA / folder, questions=questions, documents=documents))
        row = "".join(f"{f'{one:.3f}/{other:.3f}':>15}" for one, other in zip(ours, lab, strict=True))
        missed = [head for head, one, other in zip(ARMS, ours, lab, strict=True) if one < other - 0.01]
        print(f"{name:16}{row}   {' and '.join(missed)}{' missed' if missed else ''}", flush=True)


async def measured(public: PublicSet) -> tuple[float, float, float, float]:
    """nDCG@10 of BM25, k-NN, RRF and the fusion."""
    with tempfile.TemporaryDirectory() as folder:
        index = SQLiteIndex(Path(folder) / "index.sqlite")
        hits = await public.searched(index)
        await index.close()
    return (
        public.ndcg([hit.passage for hit in one.bm25] for one in hits),
        public.ndcg([hit.passage for hit in one.knn] for one in hits),
        public.ndcg([found.passage for found in fuse(one, E5, size=ARM_SIZE, fusion="rrf")] for one in hits),
        public.ndcg([found.passage for found in fuse(one, E5, size=ARM_SIZE)] for one in hits),
    )


if __name__ == "__main__":
    asyncio.run(main())
