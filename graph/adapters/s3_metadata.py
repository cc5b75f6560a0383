"""Metadata as HTTP headers can carry it: ``x-amz-meta-*`` has ASCII only, and names without capitals."""

import re
from base64 import b64encode
from collections.abc import Mapping
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from urllib.parse import unquote

_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_ENCODED_WORD = re.compile(r"=\?[^?\s]+\?[bq]\?[^?\s]*\?=", re.IGNORECASE)
_NAME_CHARACTER = re.compile(r"[a-z0-9._-]")
_WORD_BYTES = 45
"""An encoded word may have 75 characters."""


def to_headers(metadata: Mapping[str, str]) -> dict[str, str]:
    """Names percent-encoded, values by RFC 2047 (as S3 itself returns them), each only where it must be."""
    return {_name(name): _value(value) for name, value in metadata.items()}


def from_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Metadata from the headers, without their prefix."""
    return {unquote(name): _read(value) for name, value in headers.items()}


def _name(name: str) -> str:
    return "".join(c if _NAME_CHARACTER.fullmatch(c) else "".join(f"%{byte:02x}" for byte in c.encode()) for c in name)


def _value(value: str) -> str:
    if not value or (_PLAIN.fullmatch(value) and "=?" not in value):
        return value
    words, word = [], b""
    for character in value:
        if len(word) + len(character.encode()) > _WORD_BYTES:
            words.append(word)
            word = b""
        word += character.encode()
    return " ".join(f"=?UTF-8?B?{b64encode(word).decode()}?=" for word in [*words, word])


def _read(value: str) -> str:
    if not _ENCODED_WORD.search(value):
        return value
    try:
        return str(make_header(decode_header(value)))
    except (HeaderParseError, LookupError, ValueError):
        return value
