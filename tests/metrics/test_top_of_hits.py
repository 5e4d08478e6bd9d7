"""A metric of the top k reads only the columns of the hits that the top k can have."""

import numpy as np
import pytest

from pytest_rankcheck import Metric
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_registry import judged_definitions

NAN = np.nan


def hits_of(ranks: list[list[float]], grades: list[list[float]]) -> JudgedHits:
    best_first = np.sort(np.where(np.isnan(grades), -np.inf, grades), axis=1)[:, ::-1]
    return JudgedHits(
        ranks=np.array(ranks),
        grades=np.array(grades),
        retrieved=np.full(len(ranks), 100.0),
        ideal=np.where(np.isinf(best_first), NAN, best_first),
        max_grade=3.0,
    )


def test_columns_that_the_top_cannot_have_are_left_out() -> None:
    hits = hits_of([[1, 2, 5, 9], [2, 3, NAN, NAN]], [[3, 1, 2, 1], [1, 1, NAN, NAN]])
    # Two hits at the most are in the top 2, and they come first.
    top = hits.top(2)
    assert top.ranks.tolist() == [[1, 2], [2, 3]]
    assert top.grades.tolist() == [[3, 1], [1, 1]]
    assert np.shares_memory(top.ideal, hits.ideal)
    assert np.shares_memory(top.retrieved, hits.retrieved)
    assert top.max_grade == 3.0
    for cutoff in (None, 4, 100):
        assert hits.top(cutoff) is hits


def test_a_gap_in_a_row_keeps_all_columns() -> None:
    # Without its negative grade, the first query's second hit has rank 2, in the fourth column.
    hits = hits_of([[1, 2, 3, 4], [1, 2, 3, 4]], [[3, -1, -1, 2], [1, 1, 1, 1]]).judged_only()
    assert hits.ranks[0, 3] == 2
    assert hits.top(2) is hits
    assert hits.top(3) is hits


@pytest.mark.parametrize(
    "name", [name for name, definition in judged_definitions().items() if definition.at == "cutoff"]
)
@pytest.mark.parametrize("options", ["", "(judged_only=true)"])
@pytest.mark.parametrize("cutoff", [1, 2, 5, 11, 40])
def test_the_columns_that_are_left_out_do_not_count(
    name: str, options: str, cutoff: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = Metric.parse(f"{name}{options}@{cutoff}")
    random = np.random.default_rng(cutoff)
    ranks = np.sort(random.permuted(np.tile(np.arange(1.0, 61), (50, 1)), axis=1)[:, :30], axis=1)
    grades = random.integers(-1, 4, (50, 30)).astype(float)
    beyond = np.arange(30) >= random.integers(0, 31, (50, 1))
    hits = hits_of(np.where(beyond, NAN, ranks).tolist(), np.where(beyond, NAN, grades).tolist())
    values = metric.compute(hits)
    monkeypatch.setattr(JudgedHits, "top", lambda self, cutoff: self)
    assert np.array_equal(values, metric.compute(hits), equal_nan=True)
