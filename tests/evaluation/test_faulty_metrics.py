"""User-defined metrics that misbehave: they do not change other metrics, and are not trusted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import (
    GoldenSet,
    JudgedHits,
    MetricError,
    Run,
    SessionLog,
    assert_at_least,
    evaluate,
    evaluate_sessions,
    metric,
)
from pytest_rankcheck.evaluation.run_golden_join import BLOCK
from pytest_rankcheck.metrics.session_trails import Trails
from pytest_rankcheck.metrics.whole_run import WholeRun

pytestmark = pytest.mark.usefixtures("own_metrics")

GOLDEN = GoldenSet.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}, name="web")
RUN = Run.from_dict({"q1": ["b", "a"], "q2": ["a"]})
LOG = SessionLog.from_frame(
    pd.DataFrame({"session": ["s"], "query": ["x"], "results": [["a", "b"]], "selected": [["b"]]})
)


@pytest.mark.parametrize("name", ["ranks", "grades", "retrieved", "ideal"])
def test_a_metric_cannot_change_the_judged_hits_of_other_metrics(name: str) -> None:
    @metric("Writes")
    def writes(hits: JudgedHits, cutoff: int | None) -> np.ndarray:
        getattr(hits, name)[:] = 0
        return np.ones(len(hits.retrieved))

    evaluation = evaluate(RUN, GOLDEN)
    with pytest.raises(ValueError, match="read-only"):
        evaluation.mean("Writes")
    with pytest.raises(ValueError, match="read-only"):
        evaluation.mean("Writes(judged_only=true)")
    assert evaluation.mean("nDCG@10") == evaluate(RUN, GOLDEN).mean("nDCG@10") > 0.5


def test_a_metric_cannot_change_whole_runs_and_trails() -> None:
    @metric("WritesRun", unit="run")
    def writes_run(run: WholeRun, cutoff: int | None) -> np.ndarray:
        run.documents[:] = 0
        return run.retrieved

    @metric("WritesTrails", unit="session")
    def writes_trails(trails: Trails, cutoff: int | None) -> np.ndarray:
        trails.final_rank[:] = 1
        return trails.events

    with pytest.raises(ValueError, match="read-only"):
        evaluate(RUN, GOLDEN).mean("WritesRun")
    with pytest.raises(ValueError, match="read-only"):
        evaluate_sessions(LOG).mean("WritesTrails")


def test_the_arrays_that_hits_are_made_from_stay_writable() -> None:
    grades = np.ones((1, 1))
    JudgedHits(grades, grades, np.ones(1), grades)
    grades[0] = 2


@pytest.mark.parametrize(
    ("value", "valid", "says"),
    [
        (7.0, (0.0, 1.0), "returned 7 for query 'q2', but its range is 0 to 1"),
        (-0.1, (0.0, 1.0), "returned -0.1 for query 'q2', but its range is 0 to 1"),
        (1.0000001, (0.0, 1.0), "returned 1.0000001 for query 'q2', but its range is 0 to 1"),
        (np.inf, (0.0, np.inf), "returned inf for query 'q2', but its range is 0 to inf"),
        (-np.inf, (-1.0, 1.0), "returned -inf for query 'q2', but its range is -1 to 1"),
    ],
)
def test_a_value_outside_the_range_is_an_error(
    value: float, valid: tuple[float, float], says: str
) -> None:
    metric("TooHigh", range=valid)(lambda hits, cutoff: np.array([0.5, value]))
    with pytest.raises(MetricError) as refusal:
        assert_at_least(evaluate(RUN, GOLDEN), "TooHigh@5", 0.4)
    assert str(refusal.value).startswith("TooHigh@5 (the function ")
    assert str(refusal.value).endswith(
        f") {says}; correct the function, or declare the metric with range=(lowest, highest)"
    )


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0 + 1e-10, -1e-10]),
        np.array([np.nan, 1.0]),
        np.array([np.nan, np.nan]),
        np.array([1.0000001, 1.0], dtype=np.float32),
        np.array([1, 0]),
        np.array([True, False]),
    ],
)
def test_rounding_and_missing_values_are_within_the_range(values: np.ndarray) -> None:
    metric("Rounded")(lambda hits, cutoff: values)
    evaluate(RUN, GOLDEN).mean("Rounded")


def test_a_value_outside_the_range_names_the_session() -> None:
    metric("TooLong", unit="session")(lambda trails, cutoff: np.array([3.0]))
    with pytest.raises(MetricError, match="returned 3 for session 's', but its range is 0 to 1"):
        evaluate_sessions(LOG).mean("TooLong")


def test_the_query_of_a_later_block_is_named() -> None:
    golden = GoldenSet.from_dict({f"q{number}": {"a": 1} for number in range(BLOCK + 4)})
    run = Run.from_dict({query_id: ["a"] for query_id in golden.query_ids})
    metric("Later")(
        lambda hits, cutoff: np.array([1, 1, 1, 2]) if len(hits.ideal) == 4 else hits.retrieved
    )
    with pytest.raises(MetricError, match=f"returned 2 for query 'q{BLOCK + 3}'"):
        evaluate(run, golden).mean("Later")


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (
            pd.Series,
            "returned a Series, not a numpy array; return its .to_numpy()",
        ),
        (
            lambda values: pd.DataFrame({"x": values}),
            "returned a DataFrame, not a numpy array; return its .to_numpy()",
        ),
        (lambda values: values.astype(object), "returned an array of type object; return numbers"),
        (lambda values: values.astype(str), "returned an array of type <U32; return numbers"),
        (lambda values: values.astype(complex), "returned an array of type complex128; return"),
        (
            lambda values: np.array([None, 0.5]),
            (
                "returned an array of type object; return numbers, of type float64, with NaN for a "
                "query without a value"
            ),
        ),
    ],
)
def test_something_else_than_numbers_is_an_error(
    returned: Callable[[np.ndarray], object], says: str
) -> None:
    metric("NoNumbers")(lambda hits, cutoff: returned(np.array([0.5, 1.0])))  # type: ignore[arg-type,return-value]
    with pytest.raises(MetricError) as refusal:
        evaluate(RUN, GOLDEN).mean("NoNumbers")
    assert says in str(refusal.value)
    assert str(refusal.value).startswith("NoNumbers (the function ")
