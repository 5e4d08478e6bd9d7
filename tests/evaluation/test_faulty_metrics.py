"""User-defined metrics that misbehave: they do not change other metrics, and are not trusted."""

from typing import Any

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
from pytest_rankcheck.metrics.metric_inputs import Trails, WholeRun

pytestmark = pytest.mark.usefixtures("own_metrics")

GOLDEN = GoldenSet.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}, name="web")
RUN = Run.from_dict({"q1": ["b", "a"], "q2": ["a"]})
LOG = SessionLog.from_frame(
    pd.DataFrame({"session": ["s"], "query": ["x"], "results": [["a", "b"]], "selected": [["b"]]})
)


def test_a_metric_cannot_change_the_judged_hits_of_other_metrics() -> None:
    for name in ("ranks", "grades", "retrieved", "ideal"):

        @metric(f"Writes_{name}")
        def writes(hits: JudgedHits, cutoff: int | None, name: str = name) -> np.ndarray:
            getattr(hits, name)[:] = 0
            return np.ones(len(hits.retrieved))

        evaluation = evaluate(RUN, GOLDEN)
        for asked in (f"Writes_{name}", f"Writes_{name}(judged_only=true)"):
            with pytest.raises(ValueError, match="read-only"):
                evaluation.mean(asked)
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


def test_a_value_outside_the_range_is_an_error() -> None:
    cases = ((7.0, (0.0, 1.0)), (-0.1, (0.0, 1.0)), (1.0000001, (0.0, 1.0)), (np.inf, (0, np.inf)))
    for number, (value, valid) in enumerate(cases):
        metric(f"TooHigh{number}", range=valid)(lambda hits, cutoff, v=value: np.array([0.5, v]))
        with pytest.raises(MetricError) as refusal:
            assert_at_least(evaluate(RUN, GOLDEN), f"TooHigh{number}@5", 0.4)
        assert str(refusal.value).startswith(f"TooHigh{number}@5 (the function ")
        assert str(refusal.value).endswith(
            f") returned {value:.10g} for query 'q2', but its range is {valid[0]:g} to "
            f"{valid[1]:g}; correct the function, or declare the metric with range=(lowest, highest)"
        )


def test_rounding_and_missing_values_are_within_the_range() -> None:
    for number, values in enumerate(
        (
            np.array([1.0 + 1e-10, -1e-10]),
            np.array([np.nan, np.nan]),
            np.array([1.0000001, 1.0], dtype=np.float32),
            np.array([1, 0]),
            np.array([True, False]),
        )
    ):
        metric(f"Rounded{number}")(lambda hits, cutoff, values=values: values)
        evaluate(RUN, GOLDEN).mean(f"Rounded{number}")


def test_the_query_of_a_later_block_is_named() -> None:
    golden = GoldenSet.from_dict({f"q{number}": {"a": 1} for number in range(BLOCK + 4)})
    run = Run.from_dict({query_id: ["a"] for query_id in golden.query_ids})
    metric("Later")(
        lambda hits, cutoff: np.array([1, 1, 1, 2]) if len(hits.ideal) == 4 else hits.retrieved
    )
    with pytest.raises(MetricError, match=f"returned 2 for query 'q{BLOCK + 3}'"):
        evaluate(run, golden).mean("Later")


def test_something_else_than_numbers_is_an_error() -> None:
    wrong: tuple[tuple[Any, str], ...] = (
        (pd.Series, "returned Series; return a numpy array with one number per query"),
        (lambda values: values.astype(str), "returned an array of type <U32; return numbers"),
        (
            lambda values: np.array([None, 0.5]),
            "type object; return numbers, of type float64, with NaN for a query without a value",
        ),
    )
    for number, (returned, says) in enumerate(wrong):
        metric(f"NoNumbers{number}")(lambda hits, cutoff, made=returned: made(np.array([0.5, 1.0])))
        with pytest.raises(MetricError) as refusal:
            evaluate(RUN, GOLDEN).mean(f"NoNumbers{number}")
        assert says in str(refusal.value)
        assert str(refusal.value).startswith(f"NoNumbers{number} (the function ")
