"""Numbers among the keys of a ranking are ids too, also where few documents are judged."""

from __future__ import annotations

import pytest

from pytest_rankcheck import GoldenSet, Run, evaluate


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
