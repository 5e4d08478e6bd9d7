"""Queries without judgments, and judged queries that a run lacks: both means are said once."""

import re
import warnings

import pytest

from pytest_rankcheck import (
    Conventions,
    Evaluation,
    GoldenSet,
    MetricWarning,
    Run,
    evaluate,
    evaluate_part,
)

JUDGED = {f"q{n}": {"a": 1} for n in range(4)}
SET = GoldenSet.from_dict({**JUDGED, **{f"u{n}": {} for n in range(4)}}, name="web")
WHOLE = Run.from_dict({query_id: ["b", "a"] for query_id in SET.query_ids}, name="bm25")
PART = Run.from_dict({query_id: ["b", "a"] for query_id in ("q0", "q1", "q2", "u0")}, name="bm25")


def test_both_means_are_said_once_and_shown() -> None:
    for run, golden, mean, words, lacking in (
        (WHOLE, SET, "0.2500", "4 judged", "4: u0, u1, u2 and 1 more"),
        (PART, SET.subset(list(JUDGED)), "0.3750", "3 judged and ranked", "1: q3"),
        (PART, SET, "0.1875", "3 judged and ranked", "5: q3, u0, u1 and 2 more"),
    ):
        evaluation = evaluate(run, golden)
        assert f"count as if nothing were found ({lacking}); judge" in repr(evaluation)
        both = f"RR {mean}; 0.5000 over the {words} queries"
        with pytest.warns(MetricWarning, match=re.escape(both)) as warned:
            assert list(evaluation.table(["RR", "P@1", "nDCG@10"])) == ["RR", "P@1", "nDCG@10"]
        (only,) = warned
        assert only.filename == __file__
        assert f"({lacking})" in str(only.message)
        assert both in repr(evaluation)
        merged = Evaluation.merge([evaluate_part(run, golden)], golden)
        with pytest.warns(MetricWarning, match=re.escape(both)):
            merged.mean("RR")


def test_one_value_of_the_whole_run_has_none_over_the_other_queries() -> None:
    golden = GoldenSet.from_frame(SET.judgments, SET.queries, documents={"a": {}, "b": {}})
    evaluation = evaluate(PART, golden)
    assert evaluation.mean("CatalogCoverage@1") == 0.5
    assert "CatalogCoverage" not in repr(evaluation)


def test_nothing_is_said_where_both_means_are_equal() -> None:
    whole = SET.subset(list(JUDGED))
    excluded = Conventions(no_relevant="exclude")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for evaluation in (evaluate(WHOLE, whole), evaluate(WHOLE, SET, conventions=excluded)):
            assert evaluation.mean("RR") == 0.5
            assert "over the" not in repr(evaluation)
