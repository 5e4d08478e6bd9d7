"""``check_metric``: metrics that break a law, and the reports on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pytest_rankcheck import JudgedHits, Metric, MetricError, Parameter, check_metric, metric
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics import number

pytestmark = pytest.mark.usefixtures("own_metrics")


def gains(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """The grades of the top k, each divided by its rank."""
    counted = (hits.grades > 0) & (hits.ranks <= (cutoff or np.inf))
    return np.where(counted, hits.grades / hits.ranks, 0.0).sum(axis=1)


def registered(function: Callable[..., object] = gains, **declared: object) -> None:
    declared = {"range": (0, np.inf), **declared}
    metric("Mine", **declared)(function)  # type: ignore[arg-type]


def test_a_metric_that_declares_nothing_passes_and_its_laws_are_listed() -> None:
    registered()
    report = check_metric("Mine@10").raise_if_broken()
    assert report.ok
    assert (report.metric, report.checked) == ("Mine@10", "Mine@4")
    assert report["monotone"].declared is None
    assert report["monotone"].holds is True
    assert report["normalised"].holds is False
    assert report.seen_graded == pytest.approx(1)
    assert report.changes[:3] == pytest.approx((4 * 1 / 2, 4 * 1 / 6, 4 * 1 / 12))
    assert str(report).splitlines()[0] == (
        "Mine@10 on all rankings of five documents with the grades 0, 1, 2, 3, 4, tried as Mine@4: "
        "all laws are as declared"
    )
    assert "  monotone: yes (not declared)" in str(report)


def test_a_true_declaration_passes() -> None:
    registered(
        monotone=True, optimal=True, identity=True, sensitive=True, stable=True, normalised=False
    )
    check_metric(Metric.parse("mine")).raise_if_broken()


def test_a_wrong_declaration_is_reported_with_rankings() -> None:
    def last_counts(hits: JudgedHits, cutoff: int | None) -> FloatArray:
        """The rank of the last relevant document, as a share of the ranking."""
        return np.where(hits.grades > 0, hits.ranks, 0.0).max(axis=1, initial=0.0) / 10

    registered(last_counts, range=(0, 1), monotone=True, sensitive=False, stable=False)
    with pytest.raises(AssertionError) as failure:
        check_metric("Mine").raise_if_broken()
    text = str(failure.value)
    assert text == (
        "Mine on all rankings of five documents with the grades 0, 1, 2, 3, 4: 1 law of 14 not as "
        "declared\n"
        "  monotone: declared to hold, but it does not\n"
        "    Moving a document up past one with a lower grade never makes the value worse.\n"
        "    the document of grade 4 moves up from rank 2 past one of grade 0, and the value gets "
        "worse\n"
        "      grades by rank 0 4 0 0 0  scores 0.2\n"
        "      grades by rank 4 0 0 0 0  scores 0.1\n"
        "  correct the metric, or what @metric declares"
    )


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"monotone": False}, "monotone: declared not to hold, but it always does"),
        ({"normalised": True}, "the ideal ranking does not reach inf"),
        (
            {"identity": "binary"},
            "declared to hold on binary judgments only, but it always does",
        ),
        ({"all_best": True}, "all_best: declared to hold, but it does not"),
        ({"robust_1": True}, "changes the value by 50% of what the best ranking"),
        (
            {"cutoff_local": lambda parameters: parameters["cutoff"] is not None},
            "cutoff_local: declared not to hold, but",
        ),
        ({"range": (0, 5)}, "in_range: every metric must keep this law, but this one does not"),
        ({"higher_is_better": False, "monotone": True}, "and the value gets worse"),
        ({"higher_is_better": False, "optimal": True}, "a ranking is better than the ideal one"),
        ({"higher_is_better": False, "empty_worst": True}, "an empty ranking is better than"),
        ({"higher_is_better": False, "none_worst": True}, "with no relevant document is better"),
    ],
)
def test_each_wrong_declaration_is_found(declared: dict, says: str) -> None:
    registered(**declared)
    with pytest.raises(AssertionError) as failure:
        check_metric("Mine").raise_if_broken()
    assert says in str(failure.value)


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


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (
            lambda hits, cutoff: 0.5,
            "for a block of 3,125 queries with 5 judged documents each, it returned the shape ()",
        ),
        (lambda hits, cutoff: hits.retrieved.astype("f4"), "it returned float32"),
        (lambda hits, cutoff: hits.grades, "it returned the shape (3125, 5)"),
        (lambda hits, cutoff: [0.0] * len(hits.ranks), "it returned list; return a numpy array"),
        (lambda hits, cutoff: None, "it returned NoneType; return a numpy array"),
        (writes, "it modifies its arguments, which other metrics use too: copy them first"),
        (looks_at_others, "a query has a different value alone"),
        (
            counts_the_padding,
            "a different value in wider matrices, with more NaN at the end of each row",
        ),
        (forgets_nothing_judged, "with 0 judged documents each: zero-size array to reduction"),
        (divides_by_zero, "it returned infinity"),
    ],
)
def test_a_wrong_form_is_the_only_finding(function: Callable[..., object], says: str) -> None:
    registered(function, monotone=True)
    report = check_metric("Mine")
    assert [result.law for result in report] == ["form"]
    assert says in str(report)
    with pytest.raises(AssertionError, match="form: every metric must keep this law"):
        report.raise_if_broken()


def test_a_metric_that_looks_one_rank_below_its_cutoff_is_found() -> None:
    def peeking(hits: JudgedHits, cutoff: int | None) -> FloatArray:
        return gains(hits, cutoff and cutoff + 1)

    registered(peeking, cutoff_local=True, cutoff_beyond=True)
    report = check_metric("Mine@3")
    assert [result.law for result in report.broken] == ["cutoff_local"]
    assert "at a cutoff of 1, a document below it changes the value" in str(report)


def test_values_of_any_size_are_compared() -> None:
    def revenue(hits: JudgedHits, cutoff: int | None) -> FloatArray:
        return gains(hits, cutoff) * 1e-12

    registered(revenue, monotone=True, identity=True, sensitive=True)
    check_metric("Mine", scale=(0, 10, 1e6)).raise_if_broken()


def test_a_declaration_takes_the_parameters_and_the_cutoff() -> None:
    def power(hits: JudgedHits, cutoff: int | None, *, s: float) -> FloatArray:
        counted = (hits.grades > 0) & (hits.ranks <= (cutoff or np.inf))
        return np.where(counted, hits.grades / hits.ranks**s, 0.0).sum(axis=1)

    weight = Parameter("s", default=1, check=number(at_least=0), allowed="a number")
    registered(power, parameters=(weight,), identity=lambda p: p["s"] > 0 or p["cutoff"] == 1)
    for name in ("Mine", "Mine(s=0)", "Mine(s=0)@1", "Mine(s=2)@3"):
        check_metric(name).raise_if_broken()


@pytest.mark.parametrize(
    ("name", "scale", "says"),
    [
        ("nDGC", None, "did you mean 'nDCG'"),
        pytest.param(
            "ir_measures:Compat(p=0.8)",
            None,
            "check_metric cannot check ir_measures:Compat(p=0.8)",
            marks=pytest.mark.oracle,
        ),
        ("ERR(max_grade=2)", None, "cannot be tried on the grades 0, 1, 2, 3, 4: ERR"),
        ("ERR(stop=identity)", None, "give check_metric a scale of valid grades"),
        ("nDCG", (1,), "give at least two different finite grades"),
        ("nDCG", (0, float("nan")), "give at least two different finite grades"),
        ("nDCG", range(9), "scale has 9 grades; give at most 6"),
        ("nDCG(gain={1:2})", (0, 1, 2), "the gain mapping has no entry for the grade 2"),
    ],
)
def test_an_unsuitable_metric_or_scale_is_an_error(name: str, scale: object, says: str) -> None:
    with pytest.raises(MetricError) as failure:
        check_metric(name, scale=scale)  # type: ignore[arg-type]
    assert says in str(failure.value)


def test_an_unknown_law_is_refused_when_it_is_declared() -> None:
    with pytest.raises(MetricError, match="Mine: unknown law 'monoton'; did you mean 'monotone'"):
        registered(monoton=True)
