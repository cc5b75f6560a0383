"""What can go wrong, said once. What the outside is told of it stands in ``functions/errors.py``.

FootnoteError
├── InvalidSetting        a setting is misspelt or out of range
├── InvalidRequest        what was asked for is not allowed
│   ├── InvalidFilter     a filter that cannot be applied
│   └── BadName           a path that no document may have
├── NotFound              no such thing, or it belongs to somebody else
├── Conflict              the state does not allow it now
│   ├── ThreadBusy        a turn of this thread is running
│   ├── MessageIdReused   the same message id with another question
│   ├── TurnFinished      the turn has ended
│   ├── NotWaiting        the turn waits for nothing
│   └── InterruptIdRequired   the turn waits for several things
├── TooLarge              over a limit of size
├── RateLimited           too many turns
└── Unavailable           a part that is needed does not answer
    ├── ModelUnavailable
    └── IndexUnavailable
"""


class FootnoteError(Exception):
    """Something went wrong that we can name. The message says what, and what to do."""


class InvalidSetting(FootnoteError):
    """A setting is misspelt or out of range."""


class InvalidRequest(FootnoteError):
    """What was asked for is not allowed."""

    def __init__(self, message: str, *, pointer: str = "") -> None:
        """``pointer`` is the JSON pointer of the field that is wrong, where there is one."""
        super().__init__(message)
        self.pointer = pointer


class InvalidFilter(InvalidRequest):
    """A filter that cannot be applied."""


class BadName(InvalidRequest):
    """A path that no document may have."""


class NotFound(FootnoteError):
    """No such thing, or it belongs to somebody else."""


class Conflict(FootnoteError):
    """The state does not allow it now."""


class ThreadBusy(Conflict):
    """A turn of this thread is running."""


class MessageIdReused(Conflict):
    """The same message id came with another question."""


class TurnFinished(Conflict):
    """The turn has ended."""


class NotWaiting(Conflict):
    """The turn waits for nothing."""


class InterruptIdRequired(Conflict):
    """The turn waits for several things."""


class TooLarge(FootnoteError):
    """Over a limit of size."""


class RateLimited(FootnoteError):
    """Too many turns."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        """``retry_after_s`` is when the next turn is allowed, in seconds from now."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unavailable(FootnoteError):
    """A part that is needed does not answer."""


class ModelUnavailable(Unavailable):
    """No model answers, or none within the time that is left."""


class IndexUnavailable(Unavailable):
    """Neither arm of the index answers."""
