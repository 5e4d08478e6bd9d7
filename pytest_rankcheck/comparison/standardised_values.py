"""Values at the baseline's mix: each slice counts as much as it did before.

If phones rise from 30% to 45% of the sessions and are harder, the mean falls although nothing
changed on any device. Direct standardisation gives each slice now the share that it had before: sum
over slices of p0_s (m1_s - m0_s), by weighting each value now with p0_s / p1_s (Kitagawa,
Components of a difference between two rates, JASA 50, 1955; Fleiss, Levin and Paik, Statistical
Methods for Rates and Proportions, 2003, section 19.3). The rest of the difference is mix. The
weights are taken as given, so the spread between slices stays in the standard error, which is
therefore slightly too large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray, PlaceArray
from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired
from pytest_rankcheck.comparison.unpaired_values import Unpaired
from pytest_rankcheck.errors import ConfigurationError, listed, quoted
from pytest_rankcheck.evaluation.recorded_precision import SLACK

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison
    from pytest_rankcheck.comparison.measurement import Measured
    from pytest_rankcheck.metrics.metric_names import Metric


MOST_MISSING = 0.05
"""If slices with more than this share of the baseline are gone, its mix cannot be restored."""


class Standardised(NamedTuple):
    """The values of a metric at the baseline's mix of an attribute."""

    values: ComparedValues
    """The weighted values, without the slices that only one side has."""
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
        ConfigurationError: the baseline does not record the slices of the attribute, or a query is
            in several of them.
        GoldenSetError: no query has the attribute.
    """
    evaluation, other = comparison.evaluation, comparison.other
    now = comparison.slice_places(attribute)
    if sum(map(len, now.values())) > len(evaluation.query_ids):
        raise ConfigurationError(
            f"standardise={attribute}: '{quoted(attribute)}' has several values in one query or "
            "session, so its slices overlap and have no mix; standardise by an attribute with one "
            "value each"
        )
    values = comparison.values(metric)
    counts, places = other.slice_counts(attribute), other.slice_places(attribute)
    known: Mapping[str, object] = counts if values.is_paired else places
    if not known:
        what = (
            "how many queries each slice had" if values.is_paired else "the slices of its sessions"
        )
        raise ConfigurationError(
            f"standardise={attribute}: the baseline does not record {what}; record it with "
            f"by='{quoted(attribute)}'"
        )
    names = tuple(dict.fromkeys((*now, *known)))
    own = _slice_of(values.query_ids, evaluation.query_ids, now, names)
    if isinstance(values, Paired):
        sizes = _sizes(other, metric, places) if places else counts
        wanted = np.array([sizes.get(name, 0) for name in names], dtype=np.float64)
        total = float(wanted.sum())
        kept, weights, is_there = _at_mix(own, values.weights, wanted)
        part: ComparedValues = replace(values.at(kept.tolist()), weights=weights)
    else:
        assert isinstance(values, Unpaired)
        then = _slice_of(values.before_ids, other.query_ids, places, names)
        wanted = np.bincount(then[then >= 0], minlength=len(names)).astype(np.float64)
        total = len(then)
        kept, weights, is_there = _at_mix(own, None, wanted)
        part = values.at(np.flatnonzero((then >= 0) & is_there[then]), kept, weights)
    is_gone = (wanted > 0) & ~is_there
    share = float(wanted[is_gone].sum() / max(1, total))
    return Standardised(part, tuple(compress(names, is_gone)), share)


def _sizes(
    measured: Measured, metric: Metric, places: Mapping[str, Sequence[int]]
) -> Mapping[str, float]:
    """Return the weight of the queries of each slice in the mean of a metric."""
    values, weights = measured.values(metric), measured.weights_of(metric)
    counting = np.where(np.isnan(values), 0.0, 1.0 if weights is None else weights)
    return {name: float(counting[np.asarray(its, np.intp)].sum()) for name, its in places.items()}


def _at_mix(
    slices: IntArray, weights: FloatArray | None, wanted: FloatArray
) -> tuple[PlaceArray, FloatArray, BoolArray]:
    """Return weights that give each slice now the size that it had before.

    Args:
        slices: the number of the slice of each value now; -1 without one.
        weights: how much each value counts; None: all count the same.
        wanted: the size of each slice before.

    Returns:
        The values that have a weight, their weights with a mean of 1, and the slices on both sides.
    """
    if weights is None:
        weights = np.ones(len(slices))
    shares = np.where(slices >= 0, weights, 0.0)
    sizes = np.bincount(np.maximum(slices, 0), weights=shares, minlength=len(wanted))
    ratios = np.divide(wanted, sizes, out=np.zeros(len(wanted)), where=sizes > 0)
    scaled = shares * ratios[slices]
    kept = np.flatnonzero(scaled > 0)
    scaled = scaled[kept]
    if len(kept):
        scaled = scaled / scaled.mean()
    return kept, scaled, sizes > 0


def refuse_outcomes(comparison: Comparison, metric: Metric, attribute: str) -> None:
    """Refuse slices that record the outcome of sessions: at the earlier mix, no mean can fall.

    Raises:
        ConfigurationError: all sessions of each slice have the same value, but slices differ.
    """
    if comparison.is_paired:
        return
    values, means = comparison.evaluation.values(metric), []
    for places in comparison.slice_places(attribute).values():
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
