"""One parser per format, chosen by content first, then by extension, then by content type."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ingestion.encoding import decode
from ingestion.failures import FileFailure
from ingestion.parsed import Parsed, complete
from ingestion.parsers import delimited, hypertext, markdown, plain
from ingestion.parsers.binary import refuse

LARGEST_BYTES = 100 * 1024 * 1024
_HEAD_CHARACTERS = 8192


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of text that can be read."""

    name: str
    parse: Callable[[str], Parsed]
    extensions: tuple[str, ...]
    content_types: tuple[str, ...]
    looks: Callable[[str], bool] = lambda _head: False
    """Whether the start of a text is of this format, whatever its name says."""
    modest: bool = False
    """Content decides only where the name says nothing."""


FORMATS = (
    Format(
        name="html",
        parse=hypertext.parse,
        looks=hypertext.looks,
        extensions=(".html", ".htm", ".xhtml"),
        content_types=("text/html", "application/xhtml+xml"),
    ),
    Format(
        name="markdown",
        parse=markdown.parse,
        extensions=(".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd"),
        content_types=("text/markdown", "text/x-markdown"),
    ),
    Format(
        name="csv",
        parse=delimited.parse,
        looks=delimited.looks,
        modest=True,
        extensions=(".csv", ".tsv", ".tab"),
        content_types=("text/csv", "text/tab-separated-values"),
    ),
    Format(name="text", parse=plain.parse, extensions=(), content_types=()),
)


def parse(body: bytes, *, path: str, content_type: str = "") -> Parsed:
    """The text of a file, all of it in blocks.

    Raises:
        FileFailure: there is nothing to read in it, or nothing that can be.
    """
    if not body:
        raise FileFailure("empty", "The file has 0 bytes.", "Upload it again; the copy may have been cut off.")
    if len(body) > LARGEST_BYTES:
        raise FileFailure("too_large", f"The file has {len(body):,} bytes; {LARGEST_BYTES:,} are allowed.", "Split it.")
    refuse(body, path)
    text, warnings = decode(body)
    parsed = choose(text[:_HEAD_CHARACTERS], path, content_type).parse(text)
    if not parsed.text.strip():
        raise FileFailure("no_text", "There is no text in the file.", "Check that it is the right file.")
    blocks = complete(parsed.text, parsed.blocks)
    return replace(parsed, blocks=blocks, warnings=[*warnings, *parsed.warnings])


def choose(head: str, path: str, content_type: str = "") -> Format:
    """The format of a text."""
    name = path.lower()
    named = next((one for one in FORMATS if name.endswith(one.extensions)), None)
    looked = next((one for one in FORMATS if one.looks(head) and not (named and one.modest)), None)
    typed = next((one for one in FORMATS if content_type.partition(";")[0].strip() in one.content_types), None)
    return looked or named or typed or FORMATS[-1]
