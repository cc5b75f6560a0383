"""What an object is by its name, where nobody said."""

import mimetypes
import os.path

_TYPES = {".md": "text/markdown", ".markdown": "text/markdown", ".csv": "text/csv", ".tsv": "text/tab-separated-values"}


def type_of(key: str) -> str:
    """The content type of a key's extension, the same on every system."""
    extension = os.path.splitext(key)[1].lower()  # noqa: PTH122  # a key is not a path
    return _TYPES.get(extension) or mimetypes.types_map.get(extension, "application/octet-stream")
