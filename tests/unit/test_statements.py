"""Passages cut into what answers can quote."""

from graph.statements import pieces, statements


def said(text: str) -> list[str]:
    return [text[one.start : one.end] for one in statements(text)]


def test_sentences_end_at_full_stops_of_both_scripts() -> None:
    assert said("One is here. Two is e.g. there!\n\n第一句。第二句？") == [
        "One is here.",
        "Two is e.g. there!",
        "第一句。",
        "第二句？",
    ]


def test_a_line_that_an_editor_wrapped_is_read_on() -> None:
    text = "The allowance for meals on a journey abroad is paid\nfor every day that begins away from home.\nIt is taxed."
    assert said(text) == [text.removesuffix("\nIt is taxed."), "It is taxed."]


def test_punctuation_within_code_and_links_ends_no_sentence() -> None:
    text = "Ask [here](https://a.example/q?category=x) or run `what? now. yes` at once. Done."
    assert said(text) == [text.removesuffix(" Done."), "Done."]


def test_a_short_list_is_one_statement_with_the_sentence_before_it() -> None:
    text = "You can configure both:\n\n* Swagger UI\n    * Disable it with `docs_url=None`.\n* ReDoc"
    assert said(text) == [text]


def test_an_item_of_a_long_list_stands_alone_and_knows_its_list() -> None:
    items = [f"* Item {number} {'is described in a good many words ' * 3}" for number in range(9)]
    text = "These are the items:\n\n" + "\n".join(items)
    found = statements(text)
    assert len(found) == 9
    assert {text[one.lead.start : one.lead.end] for one in found if one.lead} == {"These are the items:"}


def test_code_stands_with_the_sentence_that_leads_up_to_it_even_with_tags_between() -> None:
    text = 'Install it with:\n\n<div class="termy">\n\n```console\n$ pip install it\n```\n\n</div>\n\nThen go on.'
    assert said(text) == [text[: text.index("\n\n</div>")], "Then go on."]


def test_what_leads_up_to_an_include_says_nothing() -> None:
    assert said("Set it as follows:\n\n{* ../../docs_src/a.py hl[3] *}\n\nNow it is set.") == ["Now it is set."]


def test_rows_of_a_table_know_its_header() -> None:
    text = "| name | price |\n|---|---|\n| tea | 4 |\n| cake | 6 |"
    found = statements(text)
    assert [text[one.start : one.end] for one in found] == ["| tea | 4 |", "| cake | 6 |"]
    assert all(one.lead and text[one.lead.start : one.lead.end] == "| name | price |" for one in found)


def test_a_row_with_named_cells_is_one_statement() -> None:
    text = "Order: 7; Status: sent. Left on Monday.; Total: 9.50\nOrder: 8; Status: open"
    assert said(text) == text.split("\n")


def test_headings_images_and_rules_are_no_statements_but_headings_are_known() -> None:
    text = "## Docs URLs { #docs-urls }\n\n![a picture](a.png)\n\n---\n\nServed at `/docs`."
    [one] = statements(text)
    assert (text[one.start : one.end], one.heading) == ("Served at `/docs`.", "Docs URLs")


def test_a_passage_cut_inside_of_code_is_not_turned_inside_out() -> None:
    text = "    return x\n```\n\nThis is prose about it.\n\n```python\nfoo()\n```"
    found = statements(text)
    assert [one.kind for one in found] == ["code", "paragraph", "code"]
    assert found[0].fence == "```"


def test_pieces_are_apart_and_in_order() -> None:
    text = "Lead:\n\n* one. Two.\n* three\n\n```\ncode()\n```\n\nEnd."
    spans = pieces(text)
    assert [text[a:b] for a, b in spans] == ["Lead:", "one.", "Two.", "three", "```\ncode()\n```", "End."]
