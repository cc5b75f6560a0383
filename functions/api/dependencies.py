"""What routes are given."""

from typing import Annotated, cast

from fastapi import Depends, Query, Request

from functions.api.callers import Identify
from functions.identity import Caller
from functions.services import Services


def _services(request: Request) -> Services:
    return cast("Services", request.app.state.services)


async def identify(request: Request) -> Caller:
    """Who calls.

    Raises:
        Unauthorized, Forbidden, Unavailable
    """
    known: Caller | None = getattr(request.state, "caller", None)
    if known is None:
        asked: Identify = request.app.state.identify
        known = request.state.caller = await asked(request)
    return known


TheServices = Annotated[Services, Depends(_services)]
TheCaller = Annotated[Caller, Depends(identify)]
Limit = Annotated[int, Query(ge=1, le=100)]
Cursor = Annotated[str | None, Query(description="`next_cursor` of the page before")]
