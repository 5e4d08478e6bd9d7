"""Verdicts on replayed logs: inconclusive if the propensity or unseen documents decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.comparison.unseen_documents import unseen_between, without_unseen
from pytest_rankcheck.gates.explanations import ReplayEvidence, RulingUnder
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["with_replay_evidence"]

Verdicts = Mapping[Metric, Verdict]


def with_replay_evidence(
    comparison: Comparison,
    verdicts: Verdicts,
    reweighted: Callable[[Mapping[str, float]], Verdicts],
    ruling_on: Callable[[Paired], str],
) -> Verdicts:
    """Return the verdicts with what a replay knows; unchanged for other golden sets.

    Args:
        comparison: what was compared.
        verdicts: the verdict on each metric.
        reweighted: returns the verdicts if weights were multiplied by these factors, by query id.
        ruling_on: returns what the gate of a metric decides on other values of it.
    """
    golden = comparison.evaluation.golden
    replay = golden.replay
    if replay is None:
        return verdicts
    others = {}
    if golden.corrects_positions:
        for propensity in replay.alternatives:
            pairs = zip(golden.weights_under(propensity), golden.weights or (), strict=True)
            factors = [other / weight for other, weight in pairs]
            others[propensity] = reweighted(dict(zip(golden.query_ids, factors, strict=True)))
    complete = {}
    for metric, verdict in verdicts.items():
        values = verdict.overall.pairs
        assert isinstance(values, Paired)
        unseen = unseen_between(comparison.evaluation, comparison.other, values)
        under = tuple(_under(propensity, other[metric]) for propensity, other in others.items())
        without = ""
        if verdict.regressed and unseen.now > replay.max_unseen:
            condensed = without_unseen(comparison.evaluation, values)
            without = "" if condensed is None else ruling_on(condensed)
        evidence = ReplayEvidence(
            verdict.ruling, unseen.k, unseen.now, unseen.before, replay.max_unseen, without, under
        )
        complete[metric] = _decided(verdict, evidence)
    return complete


def _under(propensity: str, verdict: Verdict) -> RulingUnder:
    pairs = verdict.overall.pairs
    return RulingUnder(propensity, pairs.mean_before, pairs.mean_after, verdict.ruling)


def _decided(verdict: Verdict, evidence: ReplayEvidence) -> Verdict:
    """Return a verdict with the evidence; if that leaves it open, all its decisions are."""
    verdict = replace(verdict, replay=evidence)
    return verdict.left_open() if evidence.leaves_open else verdict
