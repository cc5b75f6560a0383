"""A stand-in for Groq: a real HTTP server that speaks its chat completions, with fixed latency and every way to fail."""

from tests.standins.groq.profiles import Profile
from tests.standins.groq.reply import Latency
from tests.standins.groq.server import StandIn

__all__ = ["Latency", "Profile", "StandIn"]
