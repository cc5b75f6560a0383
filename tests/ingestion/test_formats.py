"""Formats: what becomes of the bytes of a file."""

from pathlib import Path

import pytest

from ingestion import parsers
from ingestion.failures import FileFailure
from ingestion.parsed import Parsed

RULES = "报销规则：出差每天不超过三百元，需要发票。"


def parse(body: str | bytes, path: str = "page.md", content_type: str = "") -> Parsed:
    return parsers.parse(body.encode() if isinstance(body, str) else body, path=path, content_type=content_type)


def kinds(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind, parsed.text[block.start : block.end].strip()) for block in parsed.blocks]


# --- Encodings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        *((encoding, RULES + "\nabc 1") for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")),
        *((encoding, RULES + "\nabc 1") for encoding in ("utf-32-le", "utf-32-be", "gb18030", "gbk")),
        ("gb18030", "a,b,名称\n1,2,北京\n"),
        ("big5", "報銷規則：出差每天不超過三百元。"),
        ("cp932", "経費規定：一日三千円まで。"),
        ("euc_jp", "経費規定：一日三千円まで。こんにちは"),
        ("iso2022_jp", "経費規定 abc"),
        ("euc_kr", "안녕하세요. 경비 규정입니다."),
        ("cp1252", "Der Bär läuft über die Straße: 20 €, “naïve”."),
        ("cp1252", "café"),
        ("cp1250", "Zażółć gęślą jaźń. Łódź jest piękna."),
        ("cp1251", "Привет, как дела? Сегодня хорошая погода."),
        ("koi8_r", "Привет, как дела? Сегодня хорошая погода."),
    ],
)
def test_text_of_any_encoding_is_read(encoding: str, text: str) -> None:
    assert parse(text.encode(encoding), "rules.txt").text.strip() == text.strip()


def test_a_broken_byte_does_not_turn_utf8_into_mojibake() -> None:
    parsed = parse(RULES.encode() * 20 + b"\xff" + RULES.encode(), "rules.txt")

    assert parsed.text.count(RULES) == 21
    assert parsed.warnings == ["1 characters could not be decoded and are shown as \ufffd."]


def test_line_ends_become_newlines_and_control_characters_go() -> None:
    assert parse(b"one\r\ntwo\rthree\x0cfour\x00\x07", "a.txt").text == "one\ntwo\nthree\nfour"


# --- What is no text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        (b"", "a.md", "empty"),
        (b" \n\t\n", "a.txt", "no_text"),
        (b"---\ntitle: x\n---\n", "a.md", "no_text"),
        (b"<html><script>x()</script></html>", "a.html", "no_text"),
        (b"%PDF-1.7\n", "a.md", "unsupported_format"),
        (b"PK\x03\x04....word/document.xml", "a.docx", "unsupported_format"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc", "unsupported_format"),
        (b"\x89PNG\r\n\x1a\n", "a.png", "unsupported_format"),
        (b"From: a@example.com\n\nHello", "a.eml", "unsupported_format"),
        (bytes(range(256)) * 8, "a.bin", "unsupported_format"),
        (b"\x00\x01\x02\x03" * 100, "a.txt", "unsupported_format"),
    ],
)
def test_what_cannot_be_read_fails_with_a_code_and_a_remedy(body: bytes, path: str, code: str) -> None:
    with pytest.raises(FileFailure) as failure:
        parse(body, path)

    assert failure.value.error["code"] == code
    assert failure.value.error["message"]
    assert failure.value.error["remedy"]


# --- Which format -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "path", "content_type", "name"),
    [
        ("<!DOCTYPE html><p>x", "a.txt", "", "html"),
        ("\n<!-- c --><html lang=en>", "a.md", "", "html"),
        ("<div>markdown may start so</div>", "a.md", "", "markdown"),
        ("# x", "a.MD", "", "markdown"),
        ("a,b\n1,2\n", "a.csv", "", "csv"),
        ("day,bid,ask\n" + "1,2,3\n" * 8, "a.txt", "", "csv"),
        ("One, two, three\nlittle lines, of, text\nbut not, really\na table\nat, all\n", "a.txt", "", "text"),
        ("x", "page", "text/html; charset=utf-8", "html"),
        ("x", "page", "text/markdown", "markdown"),
        ("x", "a.docx", "", "text"),
        ("x", "README", "application/octet-stream", "text"),
    ],
)
def test_content_decides_then_the_extension_then_the_type(head: str, path: str, content_type: str, name: str) -> None:
    assert parsers.choose(head, path, content_type).name == name


# --- Markdown ---------------------------------------------------------------------------------------------------------


def test_the_source_of_markdown_is_its_text() -> None:
    source = "# Title { #title }\n\nSome *words* and `code`.\n\n```python\nx = 1\n```\n\n| a |\n|---|\n| 1 |\n"

    parsed = parse(source)

    assert parsed.text == source
    assert [kind for kind, _ in kinds(parsed)] == ["heading", "paragraph", "code", "table"]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("# About `OAuth2` with *scopes* { #about }", "About OAuth2 with scopes"),
        ("# [Linked](https://example.com) title ##", "Linked title"),
        ("Setext title\n=====", "Setext title"),
        ("## Only a second level", "Only a second level"),
        ("## Second\n\n# First", "First"),
        ("# snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("# <abbr title='x'>HTML</abbr> & 中文标题 {#id .class}", "HTML & 中文标题"),
        ("no heading", ""),
    ],
)
def test_titles_and_headings_are_words_without_markup(source: str, title: str) -> None:
    assert parse(source).title == title


def test_a_heading_inside_of_code_is_none() -> None:
    parsed = parse("# Real\n\n```console\n# not a heading\n```\n\n    # nor this\n")

    assert [block.title for block in parsed.blocks if block.kind == "heading"] == ["Real"]


def test_front_matter_becomes_typed_metadata_and_is_no_text() -> None:
    parsed = parse(
        "---\ntitle: The rules\nyear: 2024\nversion: 2.10\nratio: 0.5\ndraft: true\ndate: 2024-03-01\n"
        "time: 12:30\ntags: [travel, 报销]\ngroups: hr, legal\nnested:\n  a: b\n---\n# Heading\n"
    )

    assert parsed.text == "# Heading\n"
    assert parsed.title == "The rules"
    assert parsed.groups == ["hr", "legal"]
    assert parsed.meta == {
        "year": 2024,
        "version": "2.10",
        "ratio": 0.5,
        "draft": True,
        "date": "2024-03-01",
        "time": "12:30",
        "tags": ["travel", "报销"],
    }


@pytest.mark.parametrize("front", ["---\n: : :\n\t[\n---\n", "---\n- a\n- b\n---\n", "---\na: &a [*a]\n---\n"])
def test_broken_front_matter_costs_nothing_but_itself(front: str) -> None:
    parsed = parse(front + "text")

    assert parsed.text == "text"
    assert parsed.meta == {}


# --- HTML -------------------------------------------------------------------------------------------------------------

PAGE = """<!doctype html><html><head><title>Rules | ACME</title><style>p{}</style></head><body>
<header><nav><a href=/>Home</a><a href=/about>About us</a></nav></header>
<main><h1>Travel <em>rules</em></h1><p>Up to  <b>300</b>&nbsp;€
a day.<br>With a receipt.</p>
<h2>Abroad</h2><ul><li>Asia</li><li><p>Europe</p></li></ul>
<table><caption>Limits</caption><tr><th>City</th><th>Limit</th></tr><tr><td>Berlin</td><td>150 €</td></tr>
<tr><td>Tokyo</td><td>220 €</td></tr></table>
<table><tr><th>Valid from</th><td>2024</td></tr></table>
<pre>GET /rules
  200 OK</pre></main>
<aside>Advertisement</aside><footer>© ACME</footer><script>alert(1)</script></body></html>"""


def test_a_page_becomes_its_text_without_what_surrounds_it() -> None:
    parsed = parse(PAGE, "page.html")

    assert parsed.title == "Travel rules"
    assert kinds(parsed) == [
        ("heading", "Travel rules"),
        ("paragraph", "Up to 300 € a day.\nWith a receipt."),
        ("heading", "Abroad"),
        ("item", "- Asia"),
        ("item", "- Europe"),
        ("paragraph", "Limits"),
        ("table", "City: Berlin; Limit: 150 €\nCity: Tokyo; Limit: 220 €"),
        ("table", "Valid from: 2024"),
        ("code", "GET /rules\n  200 OK"),
    ]


def test_a_page_without_a_main_part_or_inside_of_a_form_is_read() -> None:
    assert parse("<html><body><form><p>All of it.</p></form></body></html>", "a.html").text == "All of it."
    assert parse("<html><body><p>Just text</p><footer>imprint</footer></body></html>", "a.html").text == "Just text"


def test_a_table_that_lays_out_the_page_is_read_part_by_part() -> None:
    page = "<html><table><tr><td><table><tr><td>in</td></tr></table></td><td><h2>Side</h2><p>text</p></td></tr></table>"

    assert [text for _, text in kinds(parse(page, "a.html"))] == ["in", "Side", "text"]


def test_pages_may_nest_deeper_than_python_recurses() -> None:
    assert parse("<html>" + "<div>" * 3000 + "deep", "a.html").text == "deep"


def test_a_page_says_by_meta_tags_what_filters_may_match() -> None:
    named = {"viewport": "width=device-width", "Department": "People", "groups": "hr"}
    page = "<html>" + "".join(f'<meta name="{name}" content="{content}">' for name, content in named.items()) + "<p>text"
    parsed = parse(page, "a.html")
    assert parsed.meta == {"department": "People"}
    assert parsed.groups == ["hr"]


def test_the_title_of_a_page_without_headings_is_its_title_element() -> None:
    assert parse("<html><title>Named</title><p>text</p>", "a.html").title == "Named"


# --- CSV --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_every_row_carries_the_names_of_its_columns(delimiter: str) -> None:
    rows = [["order", "customer", "amount"], ["1001", "王丽", "20"], ["1002", "Jo", ""]]

    parsed = parse("\r\n".join(delimiter.join(row) for row in rows), "orders.csv")

    assert parsed.text == "order: 1001; customer: 王丽; amount: 20\norder: 1002; customer: Jo"


def test_quoted_cells_keep_delimiters_and_lose_line_ends() -> None:
    assert parse('a,b\n"x, y","line\none"\n', "a.csv").text == "a: x, y; b: line one"


def test_a_caption_above_the_header_is_no_header() -> None:
    assert parse("Stanley Cups,,\nTeam,Location,Cups\nBlues,STL,1\n", "a.csv").text == (
        "Stanley Cups\n\nTeam: Blues; Location: STL; Cups: 1"
    )


def test_ragged_rows_lose_nothing() -> None:
    assert parse("a,b\n1\n1,2,3\n", "a.csv").text == "a: 1\na: 1; b: 2; column 3: 3"


def test_a_quote_that_is_never_closed_does_not_swallow_the_table() -> None:
    rows = "".join(f'{number},"inch: 5",x\n' if number else '0,5" wide,x\n' for number in range(3))
    broken = 'id,size,note\n1,"never closed,x\n' + "".join(f"{number},small,x\n" for number in range(2, 2000))

    assert "id: 1999; size: small; note: x" in parse(broken, "a.csv").text
    assert "id: 0" in parse("id,size,note\n" + rows, "a.csv").text


def test_a_header_alone_is_text() -> None:
    assert parse("a,b,c\n", "a.csv").text == "a; b; c"


# --- Real files -------------------------------------------------------------------------------------------------------

EXPECTED = {
    "Big5__ude_1.txt": "維基大典（Wikipedia）者，網路為礎",
    "GB2312__chromium_gb18030_with_no_encoding_specified.html.xml": "中国制造的领军者3名",
    "UTF-16LE_nobom-utf16le.txt": "DateTime: 07/19/2015 21:00:15.469; Bid: 1.083",
    "csv-too-many-columns.csv": "column 5: e",
    "stanley-cups-utf-16.csv": "Team: Blues; Location: STL; Stanley Cups: 1",
    "test_mskanji.csv": "名前: 髙橋淳; 年齢: 35; 住所: 名古屋",
    "testHTML_charset_utf16le.html": "This is a sample text",
    "test_wikipedia.html": "Founders: Bill Gates Paul Allen",
    "book-war-and-peace-1225p.txt": "Genoa and Lucca are now just family estates",
    "fake-email.txt": "Subject: Test",
    "empty.txt": "empty",
    "fake-text-all-whitespace.txt": "no_text",
    "test.pdf": "unsupported_format",
    "test.xlsx": "unsupported_format",
    "word_sample.docx": "unsupported_format",
    "test.pptx": "unsupported_format",
    "testWORD_protected_passtika.docx": "unsupported_format",
    "attachment_pdf.eml": "unsupported_format",
    "droste.zip": "unsupported_format",
}


@pytest.mark.data
@pytest.mark.parametrize(("name", "expected"), EXPECTED.items())
def test_awkward_real_files_give_their_text_or_a_reason(shared_data: Path, name: str, expected: str) -> None:
    body = (shared_data / "files" / name).read_bytes()
    try:
        parsed = parse(body, name)
    except FileFailure as failure:
        assert failure.error["code"] == expected  # noqa: PT017  # either outcome is one that is expected of some file
        return
    assert expected in parsed.text
    assert "\ufffd" not in parsed.text


@pytest.mark.data
def test_no_real_file_ends_in_anything_but_text_or_a_reason(shared_data: Path) -> None:
    for file in sorted((shared_data / "files").iterdir()):
        try:
            assert parse(file.read_bytes(), file.name).text.strip()
        except FileFailure as failure:
            assert failure.error["remedy"]  # noqa: PT017  # as above


@pytest.mark.data
def test_a_wikipedia_page_loses_its_navigation(shared_data: Path) -> None:
    parsed = parse((shared_data / "files" / "test_wikipedia.html").read_bytes(), "page.html")

    assert parsed.title == "Microsoft"
    assert "Jump to navigation" not in parsed.text
    assert "Toggle the table of contents" not in parsed.text
