"""Where evidence (`graph.confidence.evidence`) begins to mean something, for multilingual-e5-small."""

NONE_BELOW = 0.235
"""Below this nothing supports an answer: 92 % of MultiHop-RAG's questions without one fall here, and 8 % of the others; of
cmrc2018's and XQuAD's questions 0 to 3 %. Higher would cost answers to short questions in everyday words."""
CONFIDENT_FROM = 0.42
"""From here on an answer is nearly always there: 79 to 94 % of cmrc2018's and XQuAD's questions get here; with its passage
taken away, and others of the same article left, 7 to 20 %; of MultiHop-RAG's and FastAPI's unanswerable questions none."""
