"""Causes of a difference other than rankings: slices that grow or shrink, and tied documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.explanations import MixEffect, TieEffect
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison

__all__ = ["mix_effects", "tie_effects"]


def mix_effects(
    comparison: Comparison, metric: Metric, attributes: Sequence[str]
) -> tuple[MixEffect, ...]:
    """Return how much of the difference comes from slices that grew or shrank, by attribute."""
    if not attributes or not metric.definition.is_mean_of_values:
        return ()
    from pytest_rankcheck.comparison.standardised_values import standardised

    effects = []
    for attribute in attributes:
        try:
            at_mix = standardised(comparison, metric, attribute)
        except ConfigurationError:  # overlapping slices have no mix
            continue
        whole, own = comparison.values(metric).difference, at_mix.values.difference
        if abs(whole - own) > SLACK:
            of = comparison.sides.mix_of
            effects.append(MixEffect(attribute, own, whole - own, at_mix.missing_share, of))
    return tuple(effects)


def tie_effects(
    comparison: Comparison,
    verdicts: Mapping[Metric, Verdict],
    verdicts_on: Callable[[Comparison, Iterable[Metric]], Mapping[Metric, Verdict]],
) -> Mapping[Metric, TieEffect]:
    """Return the effect of the order of tied documents on each metric that it changes.

    Args:
        comparison: what is compared.
        verdicts: the verdict on each metric.
        verdicts_on: returns the verdicts on some metrics in another comparison.
    """
    evaluation = comparison.evaluation
    if not evaluation.has_ties_at_hand:  # the summary says that ties were not checked
        return {}
    # Another library breaks ties in its own way.
    ours = [metric for metric in verdicts if not metric.definition.ir_measures]
    tied = {metric: queries for metric in ours if (queries := evaluation.tied(metric.cutoff))}
    if not tied:
        return {}
    from pytest_rankcheck.comparison.comparison import compare

    orders = [
        verdicts_on(compare(evaluation.with_ties(order), comparison.other), ours)
        for order in ("best", "worst")
    ]
    effects = {}
    for metric, queries in tied.items():
        alternatives = [verdicts[metric], *(verdicts_of[metric] for verdicts_of in orders)]
        means = [verdict.overall.pairs.mean_after for verdict in alternatives]
        if max(means) - min(means) > SLACK:
            rulings = {verdict.ruling for verdict in alternatives}
            effects[metric] = TieEffect(len(queries), min(means), max(means), len(rulings) > 1)
    return effects
