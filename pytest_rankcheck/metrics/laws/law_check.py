"""The check of a metric: every law, on all rankings of five documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.laws.cutoff_laws import cutoff_beyond, cutoff_local
from pytest_rankcheck.metrics.laws.form_law import form
from pytest_rankcheck.metrics.laws.growth_law import stable
from pytest_rankcheck.metrics.laws.law_cases import Cases, Subject
from pytest_rankcheck.metrics.laws.law_report import LawReport, LawResult
from pytest_rankcheck.metrics.laws.order_laws import identity, monotone, normalised, optimal
from pytest_rankcheck.metrics.laws.range_laws import all_best, empty_worst, in_range, none_worst
from pytest_rankcheck.metrics.laws.swap_laws import changes_by_rank, robust_1, sensitive, share_seen
from pytest_rankcheck.metrics.laws.trial_rankings import all_rankings
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.metrics.metric_registry import judged_definitions

__all__ = ["DOCUMENTS", "LAWS", "REQUIRED", "check_metric", "tried_as", "usual_scale"]

Law = Callable[[Subject], Cases | None]

REQUIRED: tuple[Law, ...] = (form, in_range)
"""What every metric must keep; it is not declared."""

LAWS: tuple[Law, ...] = (
    monotone,
    optimal,
    identity,
    normalised,
    sensitive,
    robust_1,
    stable,
    empty_worst,
    none_worst,
    all_best,
    cutoff_local,
    cutoff_beyond,
)
"""What is declared of a metric, in the order of the manual."""

DOCUMENTS = 5
"""How many documents are ranked in all orders."""

_SCALE = (0.0, 1.0, 2.0, 3.0, 4.0)


def check_metric(metric: MetricLike, *, scale: Sequence[float] | None = None) -> LawReport:
    """Try every law on all rankings of five judged documents, and hold it against what is declared.

    Every choice of five grades from the scale is tried, in every order: all grades different,
    ties, binary judgments, all relevant and none. A metric with a cutoff above 4 is tried at 4, so
    that there is a document below it.

    Args:
        metric: a name such as ``"nDCG@10"``, a ``Metric``, or the name of your own.
        scale: the grades to try, at least two; without it 0 to 4, or the grades that a parameter
            names.

    Raises:
        MetricError: no such metric, not one over judged hits, or one that the scale does not fit.
    """
    parsed = Metric.parse(metric)
    if parsed.definition.foreign or parsed.name not in judged_definitions():
        raise MetricError(
            f"the laws are about metrics over judged hits, and {parsed} is not one: it is not "
            "computed from the ranks and grades of one query"
        )
    tried = tried_as(parsed)
    grades = _checked_scale(scale) if scale is not None else usual_scale(parsed)
    subject = Subject(tried, all_rankings(grades, DOCUMENTS))
    try:
        results = tuple(_results(subject))
        usable = not results[0].broken
        seen = share_seen(subject) if usable else (np.nan, np.nan)
        changes = changes_by_rank(subject) if usable else np.full(DOCUMENTS - 1, np.nan)
    except MetricError as refusal:
        told = ", ".join(f"{grade:g}" for grade in grades)
        raise MetricError(
            f"{tried} cannot be tried on the grades {told}: {refusal}; give check_metric a scale "
            "of grades that fit, such as scale=(0, 0.5, 1)"
        ) from None
    return LawReport(
        str(parsed), str(tried), tuple(grades), results, *seen, tuple(changes.tolist())
    )


def tried_as(metric: Metric) -> Metric:
    """Return the metric with a cutoff that five documents reach beyond."""
    cutoff = metric.cutoff
    return metric if cutoff is None else replace(metric, cutoff=min(cutoff, DOCUMENTS - 1))


def usual_scale(metric: Metric) -> tuple[float, ...]:
    """Return the grades that a metric is tried on: 0 to 4, or those that its parameters name."""
    parameters = dict(metric.parameters)
    for value in parameters.values():
        if isinstance(value, tuple):
            named = sorted({float(grade) for grade, _ in value if grade > 0})
            places = np.linspace(0, len(named) - 1, min(len(named), len(_SCALE) - 1)).round()
            return (0.0, *(named[int(place)] for place in places))
    rel = parameters.get("rel")
    if isinstance(rel, (int, float)) and not 0 < rel <= _SCALE[-1]:
        return (0, 1, 2, rel, rel + 1) if rel > 0 else (rel - 1, rel, rel + 1, rel + 2, rel + 3)
    return _SCALE


def _checked_scale(scale: Sequence[float]) -> tuple[float, ...]:
    grades = sorted({float(grade) for grade in scale})
    if len(grades) < 2 or not all(map(isfinite, grades)):
        raise MetricError(
            f"scale={quoted(tuple(scale))}: a scale is at least two different numbers, the grades"
        )
    if len(grades) > len(_SCALE) + 1:
        raise MetricError(
            f"scale has {len(grades)} grades; with at most {len(_SCALE) + 1} all rankings of "
            f"{DOCUMENTS} documents can be tried"
        )
    return tuple(grades)


def _results(subject: Subject) -> list[LawResult]:
    """Return what holds; of a metric whose form is wrong, only that."""
    results = [_result(law, subject, declared=True) for law in REQUIRED[:1]]
    if results[0].broken:
        return results
    results += [_result(law, subject, declared=True) for law in REQUIRED[1:]]
    metric = subject.metric
    results += [_result(law, subject, metric.declared(law.__name__)) for law in LAWS]
    return results


def _result(law: Law, subject: Subject, declared: object) -> LawResult:
    cases = law(subject)
    sentence = (law.__doc__ or "").partition("\n")[0]
    if cases is None:
        return LawResult(law.__name__, sentence, declared, None)  # type: ignore[arg-type]
    return LawResult(
        law.__name__,
        sentence,
        declared,  # type: ignore[arg-type]
        cases.holds,
        cases.counter_example(),
    )
