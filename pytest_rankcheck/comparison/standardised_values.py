"""Values at the baseline's mix: each slice counts as much as it did before.

If phones rise from 30% to 45% of the sessions and are harder, the mean falls although nothing
changed on any device. Direct standardisation gives each slice of now the share that it had before:
sum over slices of p0_s (m1_s - m0_s), by weighting each value of now with p0_s / p1_s (Kitagawa,
Components of a difference between two rates, JASA 50, 1955; Fleiss, Levin and Paik, Statistical
Methods for Rates and Proportions, 2003, section 19.3). The rest of the difference is mix. The
weights are taken as given, so the spread between slices stays in the standard error, which is
slightly too large therefore.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.comparison.unpaired_values import Unpaired
from pytest_rankcheck.errors import ConfigurationError, listed, quoted
from pytest_rankcheck.evaluation.recorded_precision import SLACK

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison
    from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["MOST_MISSING", "Standardised", "refuse_outcomes", "standardised"]

MOST_MISSING = 0.05
"""If slices with a larger share of the baseline are gone, its mix cannot be restored."""


@dataclass(frozen=True, slots=True)
class Standardised:
    """The values of a metric at the mix of an attribute that the baseline has."""

    values: ComparedValues
    """With weights; without the slices that only one side has."""
    missing: tuple[str, ...]
    """The slices of the baseline that are gone."""
    missing_share: float
    """The share of the baseline that they had, in [0, 1]."""

    def refuse_missing(self, attribute: str) -> None:
        """Refuse to decide without a large part of the baseline.

        Raises:
            ConfigurationError: naming the slices.
        """
        if self.missing_share > MOST_MISSING:
            slices = listed([f"{attribute}={value}" for value in self.missing])
            raise ConfigurationError(
                f"standardise={attribute}: the mix of the baseline cannot be restored, because "
                f"{slices} had {self.missing_share:.0%} of it and has no values now; gate without "
                "standardise, or find out where they are"
            )


def standardised(comparison: Comparison, metric: Metric, attribute: str) -> Standardised:
    """Return the values of a metric at the baseline's mix of an attribute.

    Raises:
        ConfigurationError: the baseline does not know the slices of the attribute, or a query is
            in several of them.
        GoldenSetError: no query has the attribute.
    """
    now = comparison.evaluation.slice_places(attribute)
    _refuse_overlap(attribute, now, len(comparison.evaluation.query_ids))
    values = comparison.values(metric)
    if isinstance(values, Paired):
        return _paired(comparison, values, attribute, now)
    assert isinstance(values, Unpaired)
    before = comparison.other.slice_places(attribute)
    if not before:
        raise ConfigurationError(
            f"standardise={attribute}: the baseline does not know the slices of its sessions; "
            f"record it with by='{quoted(attribute)}'"
        )
    names = tuple(dict.fromkeys((*now, *before)))
    return _unpaired(
        values,
        _slice_of(values.query_ids, comparison.evaluation.query_ids, now, names),
        _slice_of(values.before_ids, comparison.other.query_ids, before, names),
        names,
    )


def refuse_outcomes(comparison: Comparison, metric: Metric, attribute: str) -> None:
    """Refuse slices of sessions that record the outcome: with the earlier mix, no mean can fall.

    Raises:
        ConfigurationError: all sessions of each slice have the same value, but slices differ.
    """
    if comparison.is_paired:
        return
    values, means = comparison.evaluation.values(metric), []
    for places in comparison.evaluation.slice_places(attribute).values():
        own = values[np.asarray(places, np.intp)]
        own = own[~np.isnan(own)]
        if len(own) and float(np.ptp(own)) > SLACK:
            return
        means += own[:1].tolist()
    if 1 < len(means) < len(values) and float(np.ptp(means)) > SLACK:
        raise ConfigurationError(
            f"standardise={attribute}: {metric} is the same within each slice of "
            f"'{quoted(attribute)}', so the slices record the outcome, and the earlier mix "
            "hides every fall; standardise by a property of the user, such as the device"
        )


def _refuse_overlap(attribute: str, slices: Mapping[str, Sequence[int]], count: int) -> None:
    if sum(map(len, slices.values())) > count:
        raise ConfigurationError(
            f"standardise={attribute}: some have several values of '{quoted(attribute)}', so its "
            "slices overlap and have no mix; standardise by an attribute with one value each"
        )


def _slice_of(
    chosen: Sequence[str],
    query_ids: Sequence[str],
    slices: Mapping[str, Sequence[int]],
    names: Sequence[str],
) -> IntArray:
    """Return the slice of each chosen query, as its index in ``names``; -1 without one."""
    codes = np.full(len(query_ids), -1, dtype=np.int64)
    for value, places in slices.items():
        codes[np.asarray(places, np.intp)] = names.index(value)
    place_of = {query_id: place for place, query_id in enumerate(query_ids)}
    return np.asarray(codes[[place_of[query_id] for query_id in chosen]])


def _unpaired(
    values: Unpaired, now: IntArray, before: IntArray, names: Sequence[str]
) -> Standardised:
    """Return two samples, the values now weighted to the mix before."""
    sizes_now, sizes_before = (
        np.bincount(each[each >= 0], minlength=len(names)) for each in (now, before)
    )
    is_common = np.append((sizes_now > 0) & (sizes_before > 0), False)  # the last is for -1
    kept_now, kept_before = is_common[now], is_common[before]
    ratios = sizes_before / np.maximum(1, sizes_now)
    part = replace(
        values,
        query_ids=tuple(compress(values.query_ids, kept_now)),
        before_ids=tuple(compress(values.before_ids, kept_before)),
        before=values.before[kept_before],
        after=values.after[kept_now],
        clusters=None if values.clusters is None else values.clusters[kept_now],
        before_clusters=(
            None if values.before_clusters is None else values.before_clusters[kept_before]
        ),
        weights=_scaled(ratios[now[kept_now]]),
    )
    gone = np.flatnonzero((sizes_before > 0) & ~is_common[:-1])
    share = float(sizes_before[gone].sum() / max(1, len(before)))
    return Standardised(part, tuple(names[code] for code in gone.tolist()), share)


def _paired(
    comparison: Comparison, values: Paired, attribute: str, now: Mapping[str, Sequence[int]]
) -> Standardised:
    """Return paired values, each slice weighted to the share that it had in the baseline."""
    recorded = comparison.other.slice_counts(attribute)
    if not recorded:
        raise ConfigurationError(
            f"standardise={attribute}: the baseline does not know how many queries each slice "
            f"had; record it with by='{quoted(attribute)}'"
        )
    names = tuple(dict.fromkeys((*now, *recorded)))
    own = _slice_of(values.query_ids, comparison.evaluation.query_ids, now, names)
    shares = np.ones(len(own)) if values.weights is None else values.weights
    totals = np.bincount(own, weights=shares, minlength=len(names))
    wanted = np.array([recorded.get(value, 0) for value in names], dtype=np.float64)
    ratios = np.divide(wanted, totals, out=np.zeros_like(wanted), where=totals > 0)
    weights = shares * ratios[own]
    kept = np.flatnonzero(weights > 0)
    part = replace(values.at(kept.tolist()), weights=_scaled(weights[kept]))
    is_gone = (wanted > 0) & ~(totals > 0)
    missing = tuple(compress(names, is_gone))
    return Standardised(part, missing, float(wanted[is_gone].sum() / wanted.sum()))


def _scaled(weights: FloatArray) -> FloatArray:
    """Return weights with a mean of 1."""
    return weights / weights.mean() if len(weights) else weights
