"""The one event loop of a Lambda execution environment.

Async clients belong to the loop that they were first used in, and an environment serves many invocations: a loop for
each (``asyncio.run``) would leave them dead at the second.
"""

import asyncio
from collections.abc import Coroutine
from functools import cache
from typing import TypeVar

T = TypeVar("T")


_loop = cache(asyncio.new_event_loop)


def run(work: Coroutine[object, object, T]) -> T:
    """Run to the end in this environment's loop, which is the current one from then on: Mangum looks for that."""
    asyncio.set_event_loop(_loop())
    return _loop().run_until_complete(work)
