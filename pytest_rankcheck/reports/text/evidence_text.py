"""The evidence for a verdict in words: interval, power, ties, mixes, replays."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.explanation.gate_numbers import Evidence, GateNumbers
from pytest_rankcheck.gates.verdict import ReplayEvidence, TieEffect
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.text.wording import change


def fall_word(metric: Metric) -> str:
    """Return the word for a change for the worse: "fall", or "rise" if lower is better."""
    return "fall" if metric.higher_is_better else "rise"


def fell_word(*metrics: Metric) -> str:
    """Return the verb for values that got worse: "fell", or "rose" if lower is better."""
    words = {"fell" if metric.higher_is_better else "rose" for metric in metrics}
    return words.pop() if len(words) == 1 else "got worse"


def evidence_lines(verdict: GateNumbers) -> Iterator[str]:
    """Yield the evidence in the differences per query.

    A positive difference means that the metric rose, even for metrics where lower is better.
    """
    evidence = verdict.evidence
    if evidence is None:
        return
    if evidence.is_same:
        yield from _ruled_out(verdict, evidence)
        return
    leading, p = verdict.leading, f"p {p_text(evidence.p)} ({evidence.test})"
    if leading.interval is not None:
        low, high = map(change, leading.interval)
        p = f"95% interval of the difference [{low}, {high}], {p}"
    yield p
    yield from _units(verdict, evidence)
    yield from _decided(verdict, evidence)
    yield from _ruled_out(verdict, evidence)
    if verdict.ties is not None:
        yield ties_text(verdict.metric, verdict.ties, has_slices=bool(verdict.slices))
    if evidence.noise is not None:
        yield evidence.noise.share_text(evidence.noise_share)
    yield from _power(verdict, evidence)


def _power(verdict: GateNumbers, evidence: Evidence) -> Iterator[str]:
    """Yield the effect, and the smallest fall detected with a power of 80%, if they are known."""
    units, fall = _counted_units(verdict, evidence), fall_word(verdict.metric)
    if evidence.detectable > evidence.range:
        yield f"with {units}, power is below 80% for any possible {fall}"
    elif not math.isnan(evidence.detectable):
        share = "70% to 80%" if evidence.is_coarse else "about 80%"
        yield (
            f"effect {verdict.leading.effect:+.2f} standard deviations; with {units}, power is "
            f"{share} for a {fall} of {evidence.detectable:.4f} (one-sided t-test, alpha "
            f"{verdict.alpha:g})"
        )


def _units(verdict: GateNumbers, evidence: Evidence) -> Iterator[str]:
    """Yield the number of independent units if it differs from the number of queries."""
    if evidence.of_clusters:
        units = _counted_units(verdict, evidence)
        yield f"in {units} (such as sessions or users), each one independent unit"
    if evidence.effective_size is not None:
        queries = verdict.metric.kind.counted(verdict.leading.queries)
        size = f"{evidence.effective_size:,.1f}"
        yield f"weighted: the effective sample size of {queries} is {size}"


def ties_text(metric: Metric, ties: TieEffect, *, has_slices: bool) -> str:
    """Return how much the order of tied scores changes the mean."""
    scope = f"their top {metric.cutoff}" if metric.cutoff else "their rankings"
    queries = plural(ties.queries, "query has", "queries have")
    means = f"{ties.lowest:.4f} to {ties.highest:.4f}"
    if ties.decides:
        means += "; the verdict depends on the order, so break the ties in the ranker"
    return (
        f"{queries} tied scores in {scope}: depending on how ties are ordered, "
        f"{metric}{' of all queries' if has_slices else ''} ranges from {means}"
    )


def _decided(verdict: GateNumbers, evidence: Evidence) -> Iterator[str]:
    """Yield the gate and the p value it used, if it is a statistical test.

    If the test may block more often than stated, the next line says by how much
    (docs/reference/calibration.md).
    """
    least = verdict.least
    if least is None:
        return
    where = f" in {quoted(least.label)}" if least.label else ""
    corrected = f" (Holm, {verdict.decisions} decisions)" if verdict.decisions > 1 else ""
    fall = f"{fall_word(verdict.metric)}{where}{corrected}"
    yield f"decided by {verdict.gate}: p {p_text(least.p)} for the {fall}"
    if math.isinf(evidence.range):
        yield (
            "for a metric without a known range, such as a duration, this test blocks up to twice "
            "as many innocent changes as alpha says"
        )


def _ruled_out(verdict: GateNumbers, evidence: Evidence) -> Iterator[str]:
    """Yield how far the mean may have fallen, if the margin is not ruled out."""
    if verdict.margin is not None and evidence.bound <= -verdict.margin:
        units, fall = _counted_units(verdict, evidence), fall_word(verdict.metric)
        level = f"{100 * (1 - verdict.alpha):g}%"
        size = f" of {-evidence.bound:.4f}" if math.isfinite(evidence.bound) else ""
        yield f"with {units}, a {fall}{size} is not ruled out (one-sided {level} bound)"


def _counted_units(verdict: GateNumbers, evidence: Evidence) -> str:
    if evidence.of_clusters:
        return plural(evidence.units, "cluster")
    return verdict.metric.kind.counted(evidence.units)


def p_text(p: float) -> str:
    """Return ``= 0.0312``, or ``< 0.0001`` for a smaller p."""
    return f"= {p:.4f}" if p >= 0.0001 else "< 0.0001"


def mix_lines(verdict: GateNumbers) -> Iterator[str]:
    """Yield ``+0.0210 at the baseline's mix of device; -0.0510 from the mix``, by attribute."""
    for attribute, at_mix, mix in verdict.mixes:
        of = f"at the baseline's mix of {quoted(attribute, 60)}"
        yield f"{change(at_mix)} {of}; {change(mix)} from the mix"


def open_reason(evidence: ReplayEvidence) -> str:
    """Return why a replay with ``leaves_open`` decides nothing."""
    is_now = evidence.unseen_now > evidence.max_unseen
    return _unseen(evidence, "new" if is_now else "previous")


def replay_lines(evidence: ReplayEvidence) -> Iterator[str]:
    """Yield how many documents at the top were never shown."""
    for which, share in (("new", evidence.unseen_now), ("previous", evidence.unseen_before)):
        if share:
            remark = "counts as not relevant"
            if which == "new" and evidence.without_unseen == "regressed":
                remark += ", but without these documents it is regressed as well"
            elif share > evidence.max_unseen:
                remark += (
                    f", which is more than max_unseen={evidence.max_unseen:g}: judge these "
                    "documents, or replay a log that shows them"
                )
            yield f"{_unseen(evidence, which)} and {remark}"


def _unseen(evidence: ReplayEvidence, which: str) -> str:
    share = evidence.unseen_now if which == "new" else evidence.unseen_before
    return f"{share:.0%} of the {which} top {evidence.k} was never shown to anyone"
