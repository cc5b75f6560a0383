"""Files that are no text, known by their first bytes: what they are, and what to do about it."""

from ingestion.failures import FileFailure

_SOON = "Save it as Markdown, text or HTML and upload that."
_OCR = "If it shows text, run OCR first and upload the text."
_UNPACK = "Unpack it and upload the files in it."
_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF-", "a PDF", _SOON),
    (b"{\\rtf", "an RTF document", _SOON),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or encrypted Office file", f"Remove its password. {_SOON}"),
    (b"\x89PNG", "a picture", _OCR),
    (b"\xff\xd8\xff", "a picture", _OCR),
    (b"GIF8", "a picture", _OCR),
    (b"II*\0", "a picture", _OCR),
    (b"MM\0*", "a picture", _OCR),
    (b"\x1f\x8b", "a compressed file", _UNPACK),
    (b"BZh", "a compressed file", _UNPACK),
    (b"\xfd7zXZ", "a compressed file", _UNPACK),
    (b"7z\xbc\xaf", "an archive", _UNPACK),
    (b"Rar!", "an archive", _UNPACK),
    (b"SQLite format 3\0", "a database", "Export its tables as CSV and upload those."),
    (b"PAR1", "a Parquet file", "Export it as CSV and upload that."),
)
_ZIPPED = (
    (b"word/", "a Word document", _SOON),
    (b"ppt/", "a presentation", _SOON),
    (b"xl/", "a spreadsheet", "Save each sheet as CSV and upload those."),
    (b"mimetypeapplication/vnd.oasis", "an OpenDocument file", _SOON),
    (b"mimetypeapplication/epub", "an e-book", _SOON),
)
_MAILS = (".eml", ".msg", ".mbox")


def refuse(body: bytes, path: str) -> None:
    """Refuse what has no parser.

    Raises:
        FileFailure: it is known what the file is, and it is not read.
    """
    for magic, what, remedy in _KINDS:
        if body.startswith(magic):
            raise _unsupported(what, remedy)
    if b"%PDF-" in body[:1024]:
        raise _unsupported("a PDF", _SOON)
    if body.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        what, remedy = next(((what, remedy) for mark, what, remedy in _ZIPPED if mark in body), ("an archive", _UNPACK))
        raise _unsupported(what, remedy)
    if path.lower().endswith(_MAILS):
        raise _unsupported("a mail", "Save its text and its attachments as files and upload those.")


def _unsupported(what: str, remedy: str) -> FileFailure:
    return FileFailure("unsupported_format", f"This is {what}, which is not read yet.", remedy)
