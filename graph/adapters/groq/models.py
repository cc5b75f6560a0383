"""What is known of Groq's models: what they take, and what they cost."""

from typing import NamedTuple

from groq.types import CompletionUsage


class Price(NamedTuple):
    """US dollars per million tokens, as Groq lists them; a model that is not here is counted as free."""

    prompt: float
    cached: float
    completion: float


PRICES = {
    "openai/gpt-oss-120b": Price(0.15, 0.075, 0.60),
    "openai/gpt-oss-20b": Price(0.075, 0.0375, 0.30),
    "llama-3.3-70b-versatile": Price(0.59, 0.59, 0.79),
    "llama-3.1-8b-instant": Price(0.05, 0.05, 0.08),
}


def reasons(model: str) -> bool:
    """Whether the model thinks first, takes ``reasoning_effort``, and holds strictly to a JSON schema.

    Other models answer 400 to these; they get ``json_object`` and the schema in the prompt.
    """
    return model.startswith("openai/gpt-oss")


class Tokens(NamedTuple):
    """Tokens of one request."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def cost_usd(self, model: str) -> float:
        """What they cost."""
        price = PRICES.get(model, Price(0, 0, 0))
        fresh = self.prompt - self.cached
        return (fresh * price.prompt + self.cached * price.cached + self.completion * price.completion) / 1e6


def tokens_of(usage: CompletionUsage | None) -> Tokens:
    """Tokens as Groq counted them."""
    if usage is None:
        return Tokens()
    details = usage.prompt_tokens_details
    return Tokens(usage.prompt_tokens, details.cached_tokens if details else 0, usage.completion_tokens)
