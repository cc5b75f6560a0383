"""Groq's models, with rules behind them: nothing that Groq does ends in a crash of the turn."""

from graph.adapters.groq.reasoner import GroqReasoner
from graph.adapters.groq.requests import Patience

__all__ = ["GroqReasoner", "Patience"]
