"""A secret of AWS's Secrets Manager, by Powertools' parameters, which ask again once what they know is old."""

import asyncio

from aws_lambda_powertools.utilities.parameters import get_secret
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

from graph.errors import Unavailable

_MAX_AGE_S = 300
"""How long after a rotation the old text may still be used."""
_NO_VALUE = ("ResourceNotFoundException", "SecretBinary")
"""What is said of a secret that nobody has put a value into: by AWS, and where an answer simply lacks it."""


class Secret:
    """A text under a name or an ARN."""

    def __init__(self, name: str, *, max_age_s: int = _MAX_AGE_S) -> None:
        self._name = name
        self._max_age_s = max_age_s
        self._known: str | None = None

    async def __call__(self) -> str:
        """The text, without the white space around it; empty while nobody has put one there.

        Raises:
            Unavailable: Secrets Manager does not give it, and never has.
        """
        try:
            max_age_s = self._max_age_s if self._known else 0  # a first key is used at once
            text = await asyncio.to_thread(get_secret, self._name, max_age=max_age_s)
        except GetParameterError as error:
            if any(sign in str(error) for sign in _NO_VALUE):
                return ""
            if self._known is None:
                raise Unavailable(f"Secrets Manager does not give {self._name}: {error}") from error
            return self._known
        self._known = (text.decode() if isinstance(text, bytes) else str(text)).strip()
        return self._known
