"""``check_metric``: metrics that break a law, and the reports on them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_rankcheck import JudgedHits, MetricError, check_metric, metric
from pytest_rankcheck.array_types import FloatArray

pytestmark = pytest.mark.usefixtures("own_metrics")


def gains(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """The grades of the top k, each divided by its rank."""
    counted = (hits.grades > 0) & (hits.ranks <= (cutoff or np.inf))
    return np.where(counted, hits.grades / hits.ranks, 0.0).sum(axis=1)


def registered(function: Callable[..., object] = gains, **declared: object) -> None:
    declared = {"range": (0, np.inf), **declared}
    metric("Mine", **declared)(function)  # type: ignore[arg-type]


def test_a_report_lists_the_laws_and_the_swaps_seen() -> None:
    registered()
    report = check_metric("Mine@10").raise_if_broken()
    assert not report.fault
    assert (report.metric, report.checked) == ("Mine@10", "Mine@4")
    assert report["monotone"].holds is True
    assert report["normalised"].holds is False
    assert report.seen_graded == pytest.approx(1)
    assert report.changes[:3] == pytest.approx((4 * 1 / 2, 4 * 1 / 6, 4 * 1 / 12))
    lines = str(report).splitlines()
    assert lines[:2] == [
        "Mine@10 on all rankings of five documents with the grades 0, 1, 2, 3, 4, tried as Mine@4",
        "  monotone: yes",
    ]
    assert "    the ideal ranking, and this one" in lines


def last_counts(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """The rank of the last relevant document, as a share of the ranking."""
    return np.where(hits.grades > 0, hits.ranks, 0.0).max(axis=1, initial=0.0) / 10


def test_a_law_that_does_not_hold_is_shown_with_rankings() -> None:
    registered(last_counts, range=(0, 1))
    report = check_metric("Mine")
    assert report["monotone"].holds is False
    assert report["monotone"].counter_example == (
        "a swap at rank 1\n"
        "  grades by rank 0 4 0 0 0  scores 0.2\n"
        "  grades by rank 4 0 0 0 0  scores 0.1"
    )
    assert report["cutoff_local"].holds is report["sensitive"].holds is False
    assert report["identity"].counter_example == (
        "the ideal ranking, and this one\n"
        "  grades by rank 4 0 0 0 0  scores 0.1\n"
        "  grades by rank 0 0 0 0 4  scores 0.5"
    )
    metric("Lower", range=(0, np.inf), higher_is_better=False)(gains)
    for name, law in (("Lower", "monotone"), ("NumRet", "sensitive"), ("RR", "robust")):
        assert check_metric(name)[law].counter_example


def test_a_value_outside_the_range_is_a_fault() -> None:
    registered(range=(0, 5))
    report = check_metric("Mine@10")
    message = (
        "Mine@10 on all rankings of five documents with the grades 0, 1, 2, 3, 4, tried as Mine@4: "
        "a value is outside the range 0 to 5\n  grades by rank 4 3  scores 5.5"
    )
    assert report.fault
    assert str(report) == message
    with pytest.raises(AssertionError) as failure:
        report.raise_if_broken()
    assert str(failure.value) == message


def writes(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    hits.grades[np.isnan(hits.grades)] = 0
    return hits.grades.sum(axis=1)


def looks_at_others(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    found = gains(hits, cutoff)
    return found / max(found.max(initial=0), 1)


def counts_the_padding(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    return gains(hits, cutoff) / (1 + hits.ranks.shape[1])


def forgets_nothing_judged(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    return hits.grades.max(axis=1)


def divides_by_zero(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    with np.errstate(divide="ignore"):
        return 1 / gains(hits, cutoff)


def test_a_function_that_cannot_be_used_is_a_fault() -> None:
    faulty: tuple[tuple[Callable[..., object], str], ...] = (
        (
            lambda hits, cutoff: 0.5,
            "3,125 queries with 5 judged documents each, it returned float;",
        ),
        (lambda hits, cutoff: hits.retrieved.astype("f4"), "it returned float32"),
        (lambda hits, cutoff: hits.grades, "it returned the shape (3125, 5)"),
        (lambda hits, cutoff: None, "it returned NoneType; return a numpy array"),
        (writes, "with 5 judged documents each: assignment destination is read-only"),
        (looks_at_others, "a query has a different value alone"),
        (counts_the_padding, "in wider matrices, with more NaN at the end of each row"),
        (forgets_nothing_judged, "with 0 judged documents each: zero-size array to reduction"),
        (divides_by_zero, "it returned infinity"),
    )
    for number, (function, says) in enumerate(faulty):
        metric(f"Mine{number}", range=(0, np.inf))(function)  # type: ignore[arg-type]
        report = check_metric(f"Mine{number}")
        assert not report.results
        assert says in report.fault


def test_a_metric_that_looks_one_rank_below_its_cutoff_is_found() -> None:
    def peeking(hits: JudgedHits, cutoff: int | None) -> FloatArray:
        return gains(hits, cutoff and cutoff + 1)

    registered(peeking)
    law = check_metric("Mine@3")["cutoff_local"]
    assert law.holds is False


def test_values_of_any_size_are_compared() -> None:
    def revenue(hits: JudgedHits, cutoff: int | None) -> FloatArray:
        return gains(hits, cutoff) * 1e-12

    registered(revenue)
    report = check_metric("Mine", scale=(0, 10, 1e6)).raise_if_broken()
    assert report["monotone"].holds is report["identity"].holds is True


def test_an_unsuitable_metric_or_scale_is_an_error() -> None:
    refused: tuple[tuple[str, Any, str], ...] = (
        ("nDGC", None, "did you mean 'nDCG'"),
        ("SuccessRate", None, "check_metric cannot check SuccessRate"),
        ("ERR(max_grade=2)", None, "cannot be tried on the grades 0, 1, 2, 3, 4: ERR"),
        ("ERR(stop=identity)", None, "give check_metric a scale of valid grades"),
        ("nDCG", (0, float("nan")), "give two to 6 different finite grades"),
        ("nDCG", range(9), "give two to 6 different finite grades"),
    )
    for name, scale, says in refused:
        with pytest.raises(MetricError) as failure:
            check_metric(name, scale=scale)
        assert says in str(failure.value)
