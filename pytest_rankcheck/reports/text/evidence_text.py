"""The evidence for a verdict in words: interval, power, ties, replays, groups, judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_rankcheck.comparison.unjudged_documents import Unjudged
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.explanation.evidence import Evidence, Power
from pytest_rankcheck.explanation.gate_numbers import GateNumbers
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

    If no query changed, the only evidence is how large a fall is ruled out.
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
    power = power_text(verdict.metric, evidence.power, verdict.alpha)
    if evidence.power.is_possible:
        effect = f"effect {leading.effect:+.2f} standard deviations"
        power = f"{effect}; {power}{_needed(verdict, evidence)}"
    if power:
        yield power


def power_text(metric: Metric, power: Power, alpha: float) -> str:
    """Return the smallest fall detected with a power of 80%; empty if that is unknown."""
    units, fall = _counted_units(metric, power), fall_word(metric)
    if math.isnan(power.detectable):
        return ""
    if not power.is_possible:
        return f"with {units}, power is below 80% for any possible {fall}"
    share = "70% to 80%" if power.is_coarse else "about 80%"
    return (
        f"with {units}, power is {share} for a {fall} of {power.detectable:.4f} (one-sided t-test, "
        f"alpha {alpha:g})"
    )


def _units(verdict: GateNumbers, evidence: Evidence) -> Iterator[str]:
    """Yield the number of independent units if it differs from the number of queries."""
    if evidence.clusters is not None:
        clusters = plural(evidence.clusters, "cluster")
        yield f"in {clusters} (such as sessions or users), each one independent unit"
    if evidence.effective_size is not None:
        queries = verdict.metric.kind.counted(verdict.leading.queries)
        size = f"{evidence.effective_size:,.1f}"
        yield f"weighted: the effective sample size of {queries} is {size}"
    if evidence.samples is None:
        return
    before, now = evidence.samples
    yield (
        f"{plural(before, 'cluster')} in the baseline, {now:,} now (such as users), each one "
        "independent unit"
    )


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
    if not evidence.has_range:
        yield (
            "for a metric without a known range, such as a duration, this test blocks up to twice "
            "as many innocent changes as alpha says"
        )


def _ruled_out(verdict: GateNumbers, evidence: Evidence) -> Iterator[str]:
    """Yield how far the mean may have fallen, if the margin is not ruled out."""
    margin, bound = verdict.margin, evidence.bound
    if margin is None or math.isnan(bound):
        return
    units, fall = _counted_units(verdict.metric, evidence.power), fall_word(verdict.metric)
    if bound > -margin:
        return
    if math.isinf(bound):
        yield (
            f"{units} without a change rule out no {fall}: it is unknown how far "
            f"{verdict.metric} can {fall}"
        )
    elif evidence.is_same:
        yield f"{units} without a change cannot rule out a {fall} below {-bound:.4f}"
    else:
        level = f"{100 * (1 - verdict.alpha):g}%"
        yield (
            f"a {fall} of {-bound:.4f} is not ruled out (one-sided {level} bound, which allows "
            f"for a large {fall} that was not sampled)"
        )


def _counted_units(metric: Metric, power: Power) -> str:
    if power.of_clusters:
        return plural(power.units, "cluster")
    return metric.kind.counted(power.units)


def p_text(p: float) -> str:
    """Return ``= 0.0312``, or ``< 0.0001`` for a smaller p."""
    return f"= {p:.4f}" if p >= 0.0001 else "< 0.0001"


def _needed(verdict: GateNumbers, evidence: Evidence) -> str:
    """Return how many units are needed for a fall of the margin, if there are too few."""
    if evidence.needed is None:
        return ""
    units = "clusters" if evidence.power.of_clusters else verdict.metric.kind.plural
    numbers = needed_text(evidence.needed, evidence.needed_interval, f" {units}")
    return f"; a {fall_word(verdict.metric)} of {verdict.margin:g} needs {numbers}"


def needed_text(best: float, interval: tuple[float, float] | None, units: str = "") -> str:
    """Return ``265 to 755 queries (best guess 514)``; without an interval, ``about 514 queries``.

    Args:
        best: the estimate.
        interval: its interval; None if unknown.
        units: what is counted, with a space before it.
    """
    if interval is None:
        return f"about {best:,.0f}{units}"
    low, high = interval
    return f"{low:,.0f} to {high:,.0f}{units} (best guess {best:,.0f})"


# --- what may explain a difference -------------------------------------------------------------


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


def unjudged_lines(unjudged: Unjudged) -> Iterator[str]:
    """Yield the number of unjudged documents, if any, and the bounds if known."""
    if not unjudged.documents and not unjudged.left:
        return
    yield _counts(unjudged)
    if math.isnan(unjudged.if_irrelevant):
        return
    irrelevant, grade = change(unjudged.if_irrelevant), f"grade {unjudged.grade:g}"
    bounds = [f"if all were irrelevant, the difference would be {irrelevant}"]
    if unjudged.documents:
        bounds.append(f"if the new had {grade}, {change(unjudged.if_relevant)}")
        grade = "it"
    if unjudged.left and not math.isnan(unjudged.if_left_relevant):
        bounds.append(f"if those that left had {grade}, {change(unjudged.if_left_relevant)}")
    yield f"  {'; '.join(bounds)}"


def _counts(unjudged: Unjudged) -> str:
    left = f" and {unjudged.left:,} that left it" if unjudged.left else ""
    new = plural(unjudged.documents, "new entry", "new entries")
    start = f"unjudged: {new} in the top {unjudged.k}{left}"
    judged = f"Judged@{unjudged.k} {unjudged.judged_before:.3f} -> {unjudged.judged_after:.3f}"
    return f"{start}, counted as not relevant; {judged}"
