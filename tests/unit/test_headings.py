"""Which headings words of a passage stand under."""

import pytest

from graph.citations import ground
from graph.headings import heading_at
from graph.ports import Passage
from tests.standins.library import HashEmbedder
from tests.standins.passages import passage, source

LEAVE = (
    "### Carrying over\n\nFive days.\n\n### Selling\n\nThree days.\n\n"
    "## Sick leave\n\n```sh\n# no heading\n```\n\nA doctor's note."
)


def under(text: str, heading: str, *, title: str = "Leave") -> Passage:
    return Passage(**{**passage(text, title=title), "heading": heading})


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("Five days", "Annual leave > Carrying over"),
        ("Three days", "Annual leave > Selling"),
        ("no heading", "Sick leave"),
        ("A doctor's note", "Sick leave"),
    ],
)
def test_words_stand_under_the_nearest_heading_and_those_above_it(words: str, path: str) -> None:
    assert heading_at(under(LEAVE, "Annual leave > Carrying over"), LEAVE.index(words)) == path


def test_a_passage_that_begins_inside_of_a_section_stands_under_it_until_the_next_one() -> None:
    text = "It lapses in March.\n\n### Selling\n\nThree days.\n\n## Sick leave\n\nA note."
    one = under(text, "Annual leave > Carrying over")
    paths = [heading_at(one, text.index(words)) for words in ("It", "Three", "A note")]
    assert paths == ["Annual leave > Carrying over", "Annual leave > Selling", "Sick leave"]


def test_a_heading_that_says_the_title_again_is_left_out() -> None:
    text = "# Leave\n\nFor staff.\n\n## Sick *leave* {#sick}\n\nA note."
    assert heading_at(passage(text, title="Leave"), text.index("For")) == ""
    assert heading_at(passage(text, title="Leave"), text.index("A note")) == "Sick leave"


async def test_a_citation_names_the_heading_of_its_quote_and_not_that_of_its_passage() -> None:
    one = source(1, LEAVE, title="Leave")
    one["passage"] = under(LEAVE, "Annual leave > Carrying over")
    [citation] = (await ground("Three days [1].", [one], HashEmbedder())).citations
    assert (citation["quote"], citation["heading"]) == ("Three days.", "Annual leave > Selling")
