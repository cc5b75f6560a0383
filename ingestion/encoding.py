"""Bytes to text, whatever the encoding."""

import codecs
import re
from collections.abc import Iterator

from charset_normalizer import from_bytes

from ingestion.failures import FileFailure

_BOMS = (  # the longer ones first: UTF-32's starts with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"), (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
_DECLARED = re.compile(rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_LEGACY = ["cp1252", "cp1250", "cp1251", "koi8_r", "gb18030", "big5", "cp932", "euc_jp", "cp949"]
_WESTERN = frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßÀÁÂÄÅÆÇÈÉÊËÍÎÑÓÔÖØÙÚÜŒœ€£§©®°·«»–—‘’“”„…•™¿¡²³½¼º\xa0")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_KOREAN = frozenset("이다는가에을의한고지하로은기사리도를시서나어자대인정그일라들해여스수제부아보안세요니있게경전만으습입것원")
_HANGUL = re.compile("[가-힣]")
_SAMPLE_BYTES = 65_536
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff]")
_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_FEW, _MOST = 4, 0.01
_USUAL = re.compile(
    r"[\t\n\r -~\xa0-\u02ff\u0370-\u052f\u0590-\u06ff\u0900-\u0e7f\u2000-\u22ff\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3"
    r"\uff00-\uff9f😀-🙏]"
)


def decode(body: bytes) -> tuple[str, list[str]]:
    r"""The text, newlines as ``\n``, and warnings about what could not be decoded.

    Raises:
        FileFailure: these bytes are no text.
    """
    text = _decode(body)
    lost = text.count("\ufffd")
    if max(lost, len(_CONTROL.findall(text))) > _FEW + len(text) * _MOST:
        raise not_text()
    warnings = [f"{lost} characters could not be decoded and are shown as \ufffd."] if lost else []
    return _CONTROL.sub("", _LINE_ENDS.sub("\n", text)), warnings


def not_text() -> FileFailure:
    """The failure of a file that is neither a known format nor text."""
    return FileFailure("unsupported_format", "This is not a text file.", "Upload it as Markdown, text, HTML or CSV.")


def _decode(body: bytes) -> str:
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(encoding, errors="replace")
    if b"\x1b$" in body and (text := _strict(body, "iso2022_jp")):
        return text
    text, zeros = _strict(body, "utf-8"), body.count(0)
    if text is not None and zeros * 10 < len(body):
        return text
    if zeros and (wide := _wide(body)):
        return wide
    text = body.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    if broken * 20 < sum(not character.isascii() for character in text) - broken:
        return text  # UTF-8 with a broken byte here and there
    return _declared(body) or body.decode(_guess(body), errors="replace")


def _strict(body: bytes, encoding: str) -> str | None:
    try:
        return body.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _wide(body: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark: the one that gives characters people write."""
    texts = [_strict(body, encoding) or "" for encoding in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")]
    usual, text = max((len(_USUAL.findall(text[:_SAMPLE_BYTES])), text) for text in texts)
    return text if usual > 0.9 * len(text[:_SAMPLE_BYTES]) else None


def _declared(body: bytes) -> str | None:
    match = _DECLARED.search(body[:2048])
    name = match[1].decode("ascii") if match else ""
    name = "gb18030" if name.lower() in ("gb2312", "gbk") else name
    return _strict(body, name) if name and not name.lower().startswith(("utf-7", "utf-16", "utf-32")) else None


def _guess(body: bytes) -> str:
    """The most likely legacy encoding, judged by the lines that are not ASCII."""
    sample = b"\n".join(_telling(body))
    runs = _HIGH_RUN.findall(sample)
    single = sum(len(run) == 1 for run in runs)
    western = _strict(sample, "cp1252")
    if western and single > 0.8 * len(runs) and _WESTERN.issuperset(c for c in western if ord(c) > 127):
        return "cp1252"  # letters stand alone between ASCII; charset-normalizer takes short texts for cp1250
    best = from_bytes(sample, cp_isolation=_LEGACY).best()
    name = best.encoding if best else "cp1252"
    return "gb18030" if name == "cp949" and not _is_korean(sample) and _strict(sample, "gb18030") else name


def _telling(body: bytes) -> Iterator[bytes]:
    size = 0
    for line in body.splitlines():
        if not line.isascii():
            yield line
            size += len(line)
        if size > _SAMPLE_BYTES:
            return


def _is_korean(sample: bytes) -> bool:
    """Whether it reads as Korean: short Chinese text in GBK also decodes as Korean, but into rare syllables."""
    syllables = _HANGUL.findall(sample.decode("cp949", errors="replace"))
    return sum(syllable in _KOREAN for syllable in syllables) > 0.2 * len(syllables)
