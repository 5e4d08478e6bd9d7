"""Laws of metrics, tried on all rankings of five judged documents: ``check_metric``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Literal

import numpy as np

from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.metrics.metric_registry import judged_definitions
from pytest_rankcheck.metrics.metric_trials import DOCUMENTS, Trials, faults

_SCALE = (0.0, 1.0, 2.0, 3.0, 4.0)

Holds = bool | Literal["binary"]
"""Whether a law holds: always, not always, or whenever the judgments are binary."""


@dataclass(frozen=True, slots=True)
class LawResult:
    """One law, and whether a metric keeps it."""

    law: str
    definition: str
    """The law as one sentence."""
    holds: Holds | None
    """None: the law does not apply to this metric or this cutoff."""
    counter_example: str = ""
    """Rankings that contradict the law, as lines of text; empty if it always holds."""


@dataclass(frozen=True, slots=True)
class LawReport:
    """The laws of a metric, tried on all rankings of five documents."""

    metric: str
    """The requested metric."""
    checked: str
    """The metric that was tried: its cutoff is at most 4, so that one document lies below it."""
    scale: tuple[float, ...]
    """The grades that were tried."""
    fault: str
    """Why the function cannot be used as a metric, such as a value outside its range, or empty."""
    results: tuple[LawResult, ...] = ()
    """The laws; none if the function cannot be used."""
    seen_binary: float = nan
    """The share of swaps of neighbours with different grades that change the value, from 0 to 1,
    on binary judgments."""
    seen_graded: float = nan
    """The same share on all judgments."""
    changes: tuple[float, ...] = (nan,) * (DOCUMENTS - 1)
    """The largest change by a swap at rank 1, 2, 3 and 4."""

    def __getitem__(self, law: str) -> LawResult:
        """Return the result for a law."""
        return {result.law: result for result in self.results}[law]

    def raise_if_broken(self) -> LawReport:
        """Return the report if the function can be used as a metric.

        Raises:
            AssertionError: it cannot; the message says why, and shows rankings.
        """
        if self.fault:
            raise AssertionError(f"{self._heading}: {self.fault}")
        return self

    @property
    def _heading(self) -> str:
        at = f", tried as {self.checked}" if self.checked != self.metric else ""
        grades = ", ".join(f"{grade:g}" for grade in self.scale)
        return f"{self.metric} on all rankings of five documents with the grades {grades}{at}"

    def __str__(self) -> str:
        words = {True: "yes", False: "no", "binary": "on binary judgments", None: "-"}
        lines = [f"{self._heading}: {self.fault}"] if self.fault else [self._heading]
        for result in self.results:
            lines.append(f"  {result.law}: {words[result.holds]}")
            lines += [f"    {line}" for line in result.counter_example.splitlines()]
        return "\n".join(lines)


Broken = BoolArray | None
"""``[S]`` which trials contradict the law, or ``[n-1, S]`` after a swap at each rank; None if the
law does not apply."""


def monotone(trials: Trials) -> Broken:
    """Moving a document up past one with a lower grade never makes the value worse."""
    improved = np.diff(trials.sequences, axis=1).T > 0
    rise = trials.sign * (trials.after_swaps - trials.values)
    return np.asarray(improved & (rise < -trials.tolerance), dtype=np.bool_)


def identity(trials: Trials) -> Broken:
    """Only the ideal ranking, higher grades first, has the best value of these documents."""
    merits = np.where(np.isnan(trials.values), -np.inf, trials.sign * trials.values)
    of_group = trials.best_of_group(merits)
    k = trials.metric.cutoff
    is_ideal = (trials.sequences[:, :k] == trials.ideal[:, :k]).all(axis=1)
    is_best = np.isfinite(of_group) & (merits >= of_group - trials.tolerance)
    return np.asarray((is_best != is_ideal) & np.isfinite(of_group), dtype=np.bool_)


def normalised(trials: Trials) -> Broken:
    """The ideal ranking has the best value of the range if any document is relevant."""
    best = trials.metric.definition.range[1 if trials.sign > 0 else 0]
    rel = dict(trials.metric.parameters).get("rel")
    lowest = rel if isinstance(rel, (int, float)) else np.nextafter(0, 1)
    values = trials.compute(trials.ideal)
    misses = ~(np.abs(values - best) <= trials.tolerance)
    return np.asarray(misses & (trials.ideal[:, 0] >= lowest), dtype=np.bool_)


def sensitive(trials: Trials) -> Broken:
    """Swaps near the top change the value most: the largest change falls from rank to rank.

    With a cutoff k, only swaps inside the top k count; the law does not apply for k below 3.
    """
    n = trials.sequences.shape[1]
    k = min(trials.metric.cutoff or n, n)
    if k < 3:
        return None
    weights = np.stack([trials.best_of_group(change) for change in trials.changes[: k - 1]])
    sees = weights.max(axis=0) > trials.tolerance
    falls = (np.diff(weights, axis=0) <= trials.tolerance).all(axis=0)
    falls &= weights[0] > weights[-1] + trials.tolerance
    broken = (sees & ~falls) if sees.any() else np.ones_like(sees)
    return np.asarray(broken, dtype=np.bool_)


def robust(trials: Trials) -> Broken:
    """One swap changes the value by less than half of the best value.

    The best value is that of all rankings of these documents, measured from the worst end of the
    range or, if that is infinite, from the worst of these rankings.
    """
    merits = trials.sign * trials.values
    best, of_worst = (
        trials.best_of_group(np.where(np.isnan(merits), -np.inf, side))
        for side in (merits, -merits)
    )
    worst = trials.sign * trials.metric.definition.range[0 if trials.sign > 0 else 1]
    span = best + (of_worst if np.isinf(worst) else -worst)
    is_large = trials.changes >= span / 2 - trials.tolerance
    return np.asarray((trials.changes > trials.tolerance) & is_large, dtype=np.bool_)


def cutoff_local(trials: Trials) -> Broken:
    """Documents below the cutoff do not change the value."""
    if trials.metric.definition.at != "cutoff":
        return None
    cutoffs = range(1, trials.sequences.shape[1])
    whole = np.stack([trials.compute(trials.sequences, k) for k in cutoffs])
    cut = np.stack([trials.compute(trials.top(k), k) for k in cutoffs])
    return np.asarray(~trials.same(whole, cut).all(axis=0), dtype=np.bool_)


LAWS: tuple[Callable[[Trials], Broken], ...] = (
    monotone,
    identity,
    normalised,
    sensitive,
    robust,
    cutoff_local,
)
"""The laws in the order of the manual."""


def check_metric(metric: MetricLike, *, scale: Sequence[float] | None = None) -> LawReport:
    """Try a metric on all rankings of five judged documents: can it be used, and what does it see?

    Every sequence of five grades from the scale is tried: all grades different, ties, binary
    judgments, all documents relevant, none relevant. A metric with a cutoff above 4 is tried at 4,
    so that one document lies below the cutoff.

    Args:
        metric: a name such as ``"nDCG@10"``, a ``Metric``, or the name of your own metric.
        scale: the grades to try, from two to six; by default 0 to 4, or the grades that a
            parameter names.

    Returns:
        Whether the function can be used as a metric, which laws it keeps, and which swaps it sees.

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
    tried = parsed
    if parsed.cutoff is not None:
        tried = replace(parsed, cutoff=min(parsed.cutoff, DOCUMENTS - 1))
    grades = usual_scale(parsed) if scale is None else _checked_scale(scale)
    trials = Trials(tried, grades)
    try:
        fault = next(faults(trials), "")
        results = () if fault else tuple(_result(law, trials) for law in LAWS)
    except MetricError as refusal:
        listed = ", ".join(f"{grade:g}" for grade in grades)
        raise MetricError(
            f"{tried} cannot be tried on the grades {listed}: {refusal}; give check_metric a scale "
            "of valid grades, such as scale=(0, 0.5, 1)"
        ) from None
    report = LawReport(str(parsed), str(tried), trials.scale, fault, results)
    if fault:
        return report
    differ = np.diff(trials.sequences, axis=1).T != 0
    is_seen = trials.changes > trials.tolerance
    return replace(
        report,
        seen_binary=float(is_seen[differ & trials.binary].mean()),
        seen_graded=float(is_seen[differ].mean()),
        changes=tuple(trials.changes.max(axis=1, initial=0.0).tolist()),
    )


def usual_scale(metric: Metric) -> tuple[float, ...]:
    """Return the grades to try a metric on: 0 to 4, or those that its parameters name."""
    parameters = dict(metric.parameters)
    for value in parameters.values():
        if isinstance(value, tuple):
            named = sorted({float(grade) for grade, _ in value if grade > 0})
            count = min(len(named), len(_SCALE) - 1)
            places = np.linspace(0, len(named) - 1, count).round()
            return (0.0, *(named[int(place)] for place in places))
    rel = parameters.get("rel")
    if isinstance(rel, (int, float)) and not 0 < rel <= _SCALE[-1]:
        return (rel - 1, rel, rel + 1, rel + 2, rel + 3)
    return _SCALE


def _checked_scale(scale: Sequence[float]) -> tuple[float, ...]:
    grades = sorted({float(grade) for grade in scale})
    if not 2 <= len(grades) <= len(_SCALE) + 1 or not all(map(isfinite, grades)):
        raise MetricError(
            f"scale={quoted(tuple(scale))} is invalid; give two to {len(_SCALE) + 1} different "
            f"finite grades, so that all rankings of {DOCUMENTS} documents can be tried"
        )
    return tuple(grades)


def _result(law: Callable[[Trials], Broken], trials: Trials) -> LawResult:
    definition = (law.__doc__ or "").partition("\n")[0]
    broken = law(trials)
    if broken is None or not broken.any():
        return LawResult(law.__name__, definition, None if broken is None else True)
    of_binary = broken & trials.binary
    shown = of_binary if of_binary.any() else broken
    *swaps, row = map(int, np.unravel_index(int(np.argmax(shown)), shown.shape))
    holds: Holds = False if of_binary.any() or not trials.binary.any() else "binary"
    example = trials.example(row, swaps[0] if swaps else None)
    return LawResult(law.__name__, definition, holds, example)
