"""The sentences of an answer, taken apart and put together again."""

from graph.claims import claims_of, without


def test_sentences_stand_as_in_the_answer_with_the_markers_after_them() -> None:
    answer = "Refunds take 14 days [1]. Keep the receipt! [2][3] Ask finance first.\n\n- Lunch costs six euros. [4]"
    assert claims_of(answer) == [
        "Refunds take 14 days [1].",
        "Keep the receipt! [2][3]",
        "Ask finance first.",
        "Lunch costs six euros. [4]",
    ]


def test_code_claims_nothing() -> None:
    assert claims_of("Set it like this [1]:\n```python\napp = FastAPI(docs_url=None)\nrun the app now\n```") == [
        "Set it like this [1]:"
    ]


def test_what_is_refuted_leaves_no_trace() -> None:
    answer = "Refunds take 14 days [1]. They are free [1]. Keep the receipt [2]."
    assert without(answer, ["They are free [1]."]) == "Refunds take 14 days [1]. Keep the receipt [2]."
    assert without(answer, ["Refunds take 14 days [1]."]) == "They are free [1]. Keep the receipt [2]."
    assert without(answer, ["Keep the receipt [2]."]) == "Refunds take 14 days [1]. They are free [1]."


def test_a_bullet_goes_with_its_sentence() -> None:
    answer = "It depends:\n\n- Abroad it takes 14 days [1].\n- At home it is free [2].\n- Ask finance [3]."
    assert without(answer, ["At home it is free [2]."]) == "It depends:\n\n- Abroad it takes 14 days [1].\n- Ask finance [3]."


def test_nothing_refuted_changes_nothing() -> None:
    assert without("  as it was \n", []) == "  as it was \n"
