"""How sure retrieval can be, and on what that rests."""

import pytest

from graph.confidence import Confidence, evidence, judge
from graph.ports import ArmHits, Calibration, Scored
from graph.reasoner import Source
from graph.thresholds import CONFIDENT_FROM, NONE_BELOW
from tests.standins.passages import passage, source

CALIBRATION = Calibration(random_mean=0.83, random_std=0.02)
OTHER_MODEL = Calibration(random_mean=0.10, random_std=0.10)
QUESTION = "How long do refunds abroad take?"
TEXT = "Refunds abroad take thirty days."


def found(coverage: float, cosine: float, *, text: str = TEXT) -> Source:
    return {**source(1, text), "coverage": coverage, "cosine": cosine}


def hits(*cosines: float, query: str = QUESTION, bm25_is_down: bool = False) -> ArmHits:
    knn = [Scored(passage=passage(f"{number}"), score=cosine) for number, cosine in enumerate(cosines)]
    return ArmHits(bm25=[], knn=knn, ceiling=20.0, query=query, degraded=["bm25"] if bm25_is_down else [])


def judged(one: Source, *cosines: float, query: str = QUESTION, calibration: Calibration = CALIBRATION) -> Confidence:
    return judge([one], [hits(*cosines, query=query)], calibration)


FLAT = (0.86, *[0.855] * 19)
PEAKED = (0.91, *[0.855] * 19)


def test_a_passage_with_the_questions_words_and_the_nearest_vector_is_enough() -> None:
    assert judged(found(0.5, 0.91), *PEAKED).level == "confident"


def test_nothing_found_is_nothing() -> None:
    assert judge([], [hits()], CALIBRATION) == Confidence("none", 0.0)


def test_few_of_the_words_and_a_vector_like_any_other_is_nothing() -> None:
    assert judged(found(0.1, 0.86), *FLAT).level == "none"


def test_a_vector_that_stands_out_makes_up_for_missing_words_but_not_for_all() -> None:
    assert judged(found(0.12, 0.91), *PEAKED).level == "unsure"


def test_words_alone_are_enough_where_the_vectors_are_down() -> None:
    down = ArmHits(bm25=[], knn=[], ceiling=20.0, query=QUESTION, degraded=["knn"])
    assert judge([found(0.6, 0.0)], [down], CALIBRATION).level == "confident"
    assert judge([found(0.1, 0.0)], [down], CALIBRATION).level == "none"


def test_vectors_alone_are_never_sure() -> None:
    assert judge([found(0.0, 0.93)], [hits(*PEAKED, bm25_is_down=True)], CALIBRATION).level == "unsure"


def test_across_languages_shared_words_say_nothing_and_less_is_said() -> None:
    assert judged(found(0.9, 0.91), *PEAKED, query="国外退款需要多长时间？").level == "unsure"
    assert judged(found(0.0, 0.80), 0.80, *[0.78] * 19, query="国外退款需要多长时间？").level == "unsure"


def test_across_languages_a_vector_like_any_other_is_nothing() -> None:
    assert judged(found(0.0, 0.78), *[0.78] * 20, query="国外退款需要多长时间？").level == "none"


@pytest.mark.parametrize("code", ["E-4711", "AB12", "v2"])
def test_a_code_that_no_source_has_is_not_answered_from_its_neighbours(code: str) -> None:
    near = found(0.6, 0.91, text="Error E-4712 means that the battery is flat; AB13 and v3 are fine.")
    assert judged(near, *PEAKED, query=f"What does {code} mean?").level == "none"
    exact = found(0.6, 0.91, text=f"{code} means that the battery is flat.")
    assert judged(exact, *PEAKED, query=f"What does {code} mean?").level == "confident"


def test_thresholds_move_with_the_embedder() -> None:
    """The same standing among unrelated passages, in the scale of another model."""
    peaked = (0.10 + 4 * 0.10, *[0.10 + 1.25 * 0.10] * 19)
    one = judged(found(0.3, 0.91), *PEAKED)
    other = judged(found(0.3, peaked[0]), *peaked, calibration=OTHER_MODEL)
    assert other.level == one.level == "confident"
    assert other.score == pytest.approx(one.score)


def test_in_an_index_of_few_passages_the_words_decide() -> None:
    assert judged(found(0.5, 0.90), 0.90, 0.80).level == "confident"
    assert judged(found(0.02, 0.84), 0.84, 0.83).level == "none"


def test_evidence_is_that_of_the_best_single_passage() -> None:
    halves = [found(0.4, 0.83), found(0.0, 0.90)]
    assert evidence(halves, 0.0, CALIBRATION) == pytest.approx(0.4)


def test_every_query_of_a_wave_must_have_found_something() -> None:
    both = judge([found(0.35, 0.91)], [hits(*PEAKED), hits(*FLAT)], CALIBRATION)
    assert both.score < judge([found(0.35, 0.91)], [hits(*PEAKED)], CALIBRATION).score


def test_levels_are_what_the_thresholds_say() -> None:
    assert NONE_BELOW < CONFIDENT_FROM
    for coverage in (0.0, NONE_BELOW, 0.3, CONFIDENT_FROM, 1.0):
        result = judge([found(coverage, 0.83)], [hits(*[0.83] * 20)], CALIBRATION)
        expected = "none" if result.score < NONE_BELOW else "confident" if result.score >= CONFIDENT_FROM else "unsure"
        assert result.level == expected
