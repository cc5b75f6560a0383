"""Where documents lie in the bucket, and which paths they may have."""

import unicodedata

from graph.errors import BadName

_UPLOADS = "uploads/"


def key_of(tenant: str, path: str) -> str:
    """The key of the object that holds a document."""
    return f"{_UPLOADS}{tenant}/{path}"


def place_of(key: str) -> tuple[str, str] | None:
    """Tenant and path of the document under a key; None where the key belongs to no document."""
    tenant, slash, path = key.removeprefix(_UPLOADS).partition("/")
    if not key.startswith(_UPLOADS) or not tenant or not slash or not path or path.endswith("/"):
        return None  # consoles make empty "folder/" objects
    return tenant, path


def is_hidden(path: str) -> bool:
    """Whether a part of the path starts with a dot, as sidecars and unfinished uploads do."""
    return any(part.startswith(".") and part not in (".", "..") for part in path.split("/"))


def check_path(path: str) -> None:
    """See that a document may have this path. A backslash is an ordinary character.

    Raises:
        BadName: with what to change.
    """
    parts = path.split("/")
    if not path or path.startswith("/") or "" in parts:
        raise BadName("the name must be a path such as folder/file.md: not absolute, no part of it empty")
    if any(part.startswith(".") for part in parts):
        raise BadName("no part of the name may start with a dot; rename it")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in path):
        raise BadName("the name holds control characters or is not valid Unicode; rename it")
    if any(len(part.encode()) > 255 for part in parts) or len(path.encode()) > 1024:
        raise BadName("the name is too long: 255 bytes for one part, 1,024 in all; shorten it")
