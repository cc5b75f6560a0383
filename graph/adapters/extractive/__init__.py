"""The reasoner without a model: rules, scores, and sentences of the documents."""

from graph.adapters.extractive.reasoner import ExtractiveReasoner

__all__ = ["ExtractiveReasoner"]
