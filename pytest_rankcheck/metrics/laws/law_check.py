"""The check of a metric: every law is tried on all rankings of five documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.laws.change_laws import (
    changes_by_rank,
    cutoff_beyond,
    cutoff_local,
    robust_1,
    sensitive,
    share_seen,
    stable,
)
from pytest_rankcheck.metrics.laws.law_report import LawReport, LawResult
from pytest_rankcheck.metrics.laws.law_trials import LawTrials, TrialSubject, all_rankings
from pytest_rankcheck.metrics.laws.order_laws import identity, monotone, normalised, optimal
from pytest_rankcheck.metrics.laws.value_laws import (
    all_best,
    empty_worst,
    form,
    in_range,
    none_worst,
)
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.metrics.metric_registry import judged_definitions

__all__ = ["DOCUMENTS", "LAWS", "REQUIRED", "check_metric", "tried_as", "usual_scale"]

Law = Callable[[TrialSubject], LawTrials | None]

REQUIRED: tuple[Law, ...] = (form, in_range)
"""The laws that every metric must keep; they are not declared."""

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
"""The laws that a metric declares, in the order of the manual."""

DOCUMENTS = 5
"""How many documents each trial ranking has."""

_SCALE = (0.0, 1.0, 2.0, 3.0, 4.0)


@checked_arguments
def check_metric(metric: MetricLike, *, scale: Sequence[float] | None = None) -> LawReport:
    """Try every law on all rankings of five judged documents, and compare with the declarations.

    Every sequence of five grades from the scale is tried: all grades different, ties, binary
    judgments, all documents relevant, none relevant. A metric with a cutoff above 4 is tried at 4,
    so that one document lies below the cutoff.

    Args:
        metric: a name such as ``"nDCG@10"``, a ``Metric``, or the name of your own metric.
        scale: the grades to try, from two to six; by default 0 to 4, or the grades that a
            parameter names.

    Returns:
        The result of each law, as a report.

    Raises:
        MetricError: the metric is unknown, is not computed from judged hits, or does not accept
            the grades of the scale.
    """
    parsed = Metric.parse(metric)
    if parsed.definition.ir_measures or parsed.name not in judged_definitions():
        raise MetricError(
            f"check_metric cannot check {parsed}: the laws apply only to metrics that are computed "
            "from the ranks and grades of one query"
        )
    tried = tried_as(parsed)
    grades = _checked_scale(scale) if scale is not None else usual_scale(parsed)
    subject = TrialSubject(tried, all_rankings(grades, DOCUMENTS))
    try:
        results = tuple(_results(subject))
        usable = not results[0].broken
        seen = share_seen(subject) if usable else (np.nan, np.nan)
        changes = changes_by_rank(subject) if usable else np.full(DOCUMENTS - 1, np.nan)
    except MetricError as refusal:
        listed = ", ".join(f"{grade:g}" for grade in grades)
        raise MetricError(
            f"{tried} cannot be tried on the grades {listed}: {refusal}; give check_metric a scale "
            "of valid grades, such as scale=(0, 0.5, 1)"
        ) from None
    return LawReport(
        str(parsed), str(tried), tuple(grades), results, *seen, tuple(changes.tolist())
    )


def tried_as(metric: Metric) -> Metric:
    """Return the metric with its cutoff lowered to 4, so that one of five documents is below it."""
    cutoff = metric.cutoff
    return metric if cutoff is None else replace(metric, cutoff=min(cutoff, DOCUMENTS - 1))


def usual_scale(metric: Metric) -> tuple[float, ...]:
    """Return the grades to try a metric on: 0 to 4, or those that its parameters name."""
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
            f"scale={quoted(tuple(scale))} is invalid; give at least two different finite grades"
        )
    if len(grades) > len(_SCALE) + 1:
        raise MetricError(
            f"scale has {len(grades)} grades; give at most {len(_SCALE) + 1}, so that all rankings "
            f"of {DOCUMENTS} documents can be tried"
        )
    return tuple(grades)


def _results(subject: TrialSubject) -> list[LawResult]:
    """Return the result of each law, or only that of ``form`` if the metric breaks it."""
    results = [_result(law, subject, declared=True) for law in REQUIRED[:1]]
    if results[0].broken:
        return results
    results += [_result(law, subject, declared=True) for law in REQUIRED[1:]]
    metric = subject.metric
    results += [_result(law, subject, metric.declared(law.__name__)) for law in LAWS]
    return results


def _result(law: Law, subject: TrialSubject, declared: object) -> LawResult:
    trials = law(subject)
    sentence = (law.__doc__ or "").partition("\n")[0]
    if trials is None:
        return LawResult(law.__name__, sentence, declared, None)  # type: ignore[arg-type]
    return LawResult(
        law.__name__,
        sentence,
        declared,  # type: ignore[arg-type]
        trials.holds,
        trials.counter_example(),
    )
