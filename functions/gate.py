"""Who may come in, and as whom. One gate for the laptop's server and for API Gateway's WebSocket."""

from typing import TYPE_CHECKING

from functions.errors import Unauthorized
from functions.identity import LOCAL, Caller
from functions.tickets import Tickets

if TYPE_CHECKING:
    from functions.tokens import Tokens


class Gate:
    """With ``tokens`` callers prove who they are; without there is one local user."""

    def __init__(self, tokens: "Tokens | None", tickets: Tickets) -> None:
        self._tokens = tokens
        self.tickets = tickets

    async def request(self, authorization: str | None) -> Caller:
        """Who sends an HTTP request with this ``Authorization``.

        Raises:
            Unauthorized, Forbidden, Unavailable
        """
        if self._tokens is None:
            return LOCAL
        if authorization is None:
            raise Unauthorized("send Authorization: Bearer and a token")
        return await self._tokens.caller(authorization)

    async def socket(self, authorization: str | None, ticket: str | None) -> Caller:
        """Who opens a WebSocket; a ticket counts where there is no token.

        Raises:
            Unauthorized, Forbidden, Unavailable
        """
        if ticket is None or (authorization is not None and self._tokens is not None):
            return await self.request(authorization)
        return await self.tickets.take(ticket)
