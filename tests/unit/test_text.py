"""Terms, sentences and languages of texts in many scripts."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.text import characters, language, sentences, terms

# --- terms ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Refunding expenses", ["refund", "expens"]),
        ("docs_url=None", ["doc", "url", "none"]),
        ("v2.10, item-4711", ["v2", "10", "item", "4711"]),
        ("报销期限", ["报销", "销期", "期限"]),
        ("税", ["税"]),
        ("关闭FastAPI文档", ["关闭", "fastapi", "文档"]),
        ("タワーの営業", ["タワ", "ワー", "ーの", "の営", "営業"]),
        ("환불 처리", ["환불", "처리"]),
        ("人々、二〇二四年", ["人々", "二〇", "〇二", "二四", "四年"]),
        ("ＡＢＣ ﬁne Straße", ["abc", "fine", "strass"]),
        ("ﾀﾜｰ", ["タワ", "ワー"]),
        ("", []),
        ("?! … 👩‍💻 _", []),
        ("\ud800a", ["a"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_the_same_word_is_the_same_term_in_any_case_and_number() -> None:
    assert terms("Policies POLICY policy's") == ["polici", "polici", "polici", "s"]


def test_characters_are_those_that_bigrams_hide_each_once() -> None:
    assert characters("报销税务报销 a 税 x") == ["报", "销", "税", "务"]


def test_terms_may_be_made_in_several_threads() -> None:
    text, expected = "running quickly through expenses " * 200, terms("running quickly through expenses " * 200)
    results: list[list[str]] = []
    threads = [threading.Thread(target=lambda: results.append(terms(text))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [expected] * 4


# --- sentences --------------------------------------------------------------------------------------------------------


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        # plain
        "One thing. | Another thing! | And a third?",
        "No end",
        "Really?! | Yes!!! | Wait... what? | Fine.",
        "It is 20%. | It is 5°. | It ends (here). | (It ends.) | Next.",
        # quotes
        'He said "Stop." | Then he left.',
        "“Why?” he asked. | “Because.” | She left.",
        "It was (who knew!) a test. | Done.",
        # numbers, versions, files
        "Version 2.10 costs 3.5 EUR. | It runs on 10.0.0.1. | See main.py. | Then 1,000.50 is left.",
        "The year was 2024. | In 2025 it changed.",
        # abbreviations
        "Use e.g. this one, i.e. that. | Dr. Smith and Mr. J. R. Doe agree. | So do we.",
        "See Fig. 3 and No. 5. | The answer is no. | We know.",
        "Apples, pears, etc. are fruit. | We sell apples, etc. | They are good.",
        "It opens at 9 a.m. on Mondays and closes at 5 p.m. | The U.S. office is closed.",
        "Acme Inc. sells drums. | It was sold to Acme Inc. | They pay.",
        "Vectors (Xiao et al. 2023) help. | See p. 7.",
        # lists in a line, headings with numbers
        "Steps: 1. Open it. | 2. Close it.",
        "## 1. Rules",
        "- a. first",
        # code, addresses, markup
        "Set `docs_url=None. Or x ? y` there. | Call `app.run()`. | Done.",
        "See https://example.com/a.b?c=d!e. | Then go on. | Is it https://example.com? | Yes.",
        "Read [the page](https://x.io/?a=b.c) first. | Then <b title='A. B'>go</b>.",
        "**Note.** | *Really?* | It is __so.__ | And on.",
        "This is known.[1] | That too.[2][3] | And this.",
        "a != b and !important or what?x=1 stay. | Done.",
        # Chinese, Japanese, Korean
        "国内出差的报销期限是三十天。|发票必须齐全！|是吗？|是。",
        "他说：“停。”|然后走了。",
        "（见第3.2节。）|然后继续。",
        "真的?|是的!|好。",
        "東京タワーは9時からです。|「休みはない。」|以上です。",
        "환불은 30일 안에 처리됩니다. | 영수증이 필요합니다.",
        "用 FastAPI 2.0 吧。|See docs. | 好的。",
        # other scripts
        "هل هذا صحيح؟ | نعم.",
        "यह पहला है। | यह दूसरा है।",
    ],
)
def test_sentences_in_a_line(text: str) -> None:
    expected = [piece.strip() for piece in text.split("|")]

    assert cut(text.replace(" |", "").replace("|", "")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title\n\nFirst line\nsecond line. Third.\n", ["# Title", "First line", "second line.", "Third."]),
        ("1. Open it.\n2. Close it.\n10. Go.", ["1. Open it.", "2. Close it.", "10. Go."]),
        ("- one\n- two\n  more", ["- one", "- two", "more"]),
        ("```python\nx = 1.  # a. b\n```", ["```python", "x = 1.", "# a.", "b", "```"]),
        ("| a | b. |\n|---|---|\n| 1. | 2 |", ["| a | b.", "|", "|---|---|", "| 1.", "| 2 |"]),
        ("  \n\t\n", []),
        ("", []),
        ("...", ["..."]),
        ("。", ["。"]),
    ],
)
def test_sentences_in_lines(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@given(st.text(alphabet=st.sampled_from('aB1 .!?。？\n`"”)](<>*_:/-\u3000中か'), max_size=60) | st.text(max_size=60))
def test_sentences_cover_everything_but_white_space_in_order(text: str) -> None:
    at = 0
    for start, end in sentences(text):
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


# --- language ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How do I disable the docs?", "en"),
        ("Wie schalte ich das ab?", "en"),
        ("FastAPI 怎么关闭文档", "zh"),
        ("如何在 FastAPI 中设置 docs_url=None 参数", "zh"),
        ("報銷期限是多久？", "zh"),
        ("東京タワーは何時からですか", "ja"),
        ("カタカナ", "ja"),
        ("환불은 언제 되나요?", "ko"),
        ("API 환불", "ko"),
        ("What does 税 mean?", "en"),
        ("What does カタカナ stand for in this text?", "en"),
        ("The word 환불 appears in the rules", "en"),
        ("", "en"),
        ("12345 ?!", "en"),
    ],
)
def test_language(text: str, expected: str) -> None:
    assert language(text) == expected
