"""What routes are given."""

from typing import Annotated, cast

from fastapi import Depends, Query, Request

from functions.identity import LOCAL, Caller
from functions.services import Services


def _services(request: Request) -> Services:
    return cast("Services", request.app.state.services)


def _caller() -> Caller:
    return LOCAL


TheServices = Annotated[Services, Depends(_services)]
TheCaller = Annotated[Caller, Depends(_caller)]
Limit = Annotated[int, Query(ge=1, le=100)]
Cursor = Annotated[str | None, Query(description="`next_cursor` of the page before")]
