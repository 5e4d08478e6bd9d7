"""Numbers among the keys of a ranking are ids too, also where few documents are judged."""

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, Run, RunError, evaluate


@pytest.mark.parametrize("key", [7, -7])
@pytest.mark.parametrize("others", [[], ["8"], ["x"], ["9" * 5000], ["-x"]], ids=len)
@pytest.mark.parametrize("count", [20, 2])
def test_a_judged_number_is_found_among_text(key: int, others: list[str], count: int) -> None:
    texts = {f"d{rank}": float(-rank) for rank in range(1, count + 1)}
    first, *rest = texts.items()
    ranking = dict([first, (key, -1.5), *rest])  # the second best
    golden = GoldenSet.from_dict({"q": {str(key): 1, **dict.fromkeys(others, 1)}})
    run = Run.from_dict({"q": ranking})
    assert evaluate(run, golden).mean("RR") == 0.5


def test_a_number_with_other_digits_is_another_document() -> None:
    ranking = {"a": 3.0, 7: 2.0, **{f"d{rank}": -float(rank) for rank in range(20)}}
    golden = GoldenSet.from_dict({"q": {"007": 1, "b": 1, "a": 1}})
    assert evaluate(Run.from_dict({"q": ranking}), golden).mean("NumRelRet") == 1


@pytest.mark.parametrize(
    "number", [2**63 - 1, -(2**63), 10**18, -(10**18), 10**17, 1234567890123456789, 0, -7]
)
def test_every_number_of_64_bits_matches_its_text(number: int) -> None:
    unranked = dict.fromkeys(["007", "-0", "9" * 19, "1" * 20], 1)
    golden = GoldenSet.from_dict({"q": {str(number): 1, "7": 1, **unranked}})
    frame = pd.DataFrame({"query_id": "q", "doc_id": [5, number, 7], "score": [3.0, 2.0, 1.0]})
    assert frame["doc_id"].dtype == "int64"
    # By hand: judged documents at ranks 2 and 3, so (1/2 + 2/3) / 6.
    assert evaluate(Run.from_frame(frame), golden).mean("AP") == pytest.approx((1 / 2 + 2 / 3) / 6)


def test_a_judged_document_given_as_text_and_as_a_number_is_a_duplicate() -> None:
    others = {f"x{rank}": 0.001 * rank for rank in range(20)}
    rankings = {"q": {"a": 3.0, 7: 2.5, "b": 2.2, "7": 2.0, **others}}
    golden = GoldenSet.from_dict({"q": {"7": 1}})
    assert evaluate(Run.from_dict(rankings, duplicates="close_gaps"), golden).mean("RR") == 0.5
    with pytest.raises(RunError, match="document '7' is ranked twice, at 2 and 4"):
        evaluate(Run.from_dict(rankings), golden)
