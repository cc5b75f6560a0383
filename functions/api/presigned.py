"""Uploads and downloads that go past us, where the bucket can sign for them."""

from collections.abc import Mapping
from typing import Protocol, TypedDict, runtime_checkable


class Form(TypedDict):
    """A form that uploads one object."""

    url: str
    fields: dict[str, str]
    expires_in: int
    """Seconds."""


@runtime_checkable
class Signing(Protocol):
    """A bucket that lets others in, to one object and for a while; a folder cannot."""

    async def presign_post(self, key: str, *, size_bytes: int, content_type: str, metadata: Mapping[str, str]) -> Form:
        """A form that uploads exactly this."""
        ...

    async def presign_get(self, key: str) -> str:
        """A URL that downloads the object."""
        ...
