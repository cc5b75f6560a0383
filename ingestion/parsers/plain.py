"""Plain text, and every other text that has no parser of its own: paragraphs between empty lines."""

import re

from ingestion.parsed import Block, Parsed

_PARAGRAPH = re.compile(r"\S.*?(?=\n[^\S\n]*\n|\s*\Z)", re.DOTALL)


def parse(text: str) -> Parsed:
    """Parse text."""
    return Parsed(text=text, blocks=[Block("paragraph", match.start(), match.end()) for match in _PARAGRAPH.finditer(text)])
