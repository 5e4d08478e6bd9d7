"""How sure a verdict is: the interval, p, the effect, and what these queries could have shown."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.golden.query_weights import effective_size
from pytest_rankcheck.reports.text.wording import change, counted
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.sign_flip import SignFlip, sign_flip_test

__all__ = ["evidence_lines", "tie_lines"]

_DECIDES = "; the verdict depends on the order, so break the ties in the ranker"
_FEW = 0.05
"""A smallest possible p above this is worth a remark."""


def evidence_lines(verdict: Verdict, pairs: ComparedValues) -> Iterator[str]:
    """Yield what the differences of the queries say; nothing where no query changed.

    Differences are positive where the metric rose; where lower is better, that is worse.
    """
    if not pairs.metric.definition.is_mean_of_values or pairs.is_same:
        return
    found = pairs.differences
    yield f"  {_interval(pairs, found)}{_tested(pairs)}"
    yield from _units(pairs)
    yield from _decided(verdict)
    yield from tie_lines(verdict)
    if not math.isnan(pairs.noise):
        yield f"  run to run it varies by {pairs.noise:.4f} (standard deviation of the mean)"
    detectable = found.smallest_detectable(verdict.alpha)
    if not math.isnan(detectable):
        verb = "detects" if found.count == 1 else "detect"
        of_what = "such clusters" if _has_clusters(pairs) else None
        such = (
            f"{found.count:,} {of_what}"
            if of_what
            else counted(found.count, pairs.metric.unit, "such ")
        )
        yield (
            f"  effect {found.effect:+.2f} standard deviations; {such} {verb} a fall of "
            f"{detectable:.4f} four times in five{_needed(verdict, found)}"
        )


def _tested(pairs: ComparedValues) -> str:
    if not isinstance(pairs, Paired):
        return f"p {_p(pairs.p_of_fall())} (Welch's t-test of two samples)"
    test = sign_flip_test(pairs.contributions)
    return f"p {_p(test.p)} (paired sign-flip test){_few(test)}"


def _units(pairs: ComparedValues) -> Iterator[str]:
    """Yield how many independent units there are, where they are not the queries."""
    if not isinstance(pairs, Paired):
        return
    if pairs.clusters is not None:
        count = len(set(pairs.clusters.tolist()))
        yield f"  of {count:,} clusters that are kept together (sessions, users)"
    if pairs.weights is not None:
        size = effective_size(pairs.weights.tolist())
        yield (
            f"  weighted: {counted(len(pairs.query_ids), pairs.metric.unit)} tell as much as "
            f"{size:,.1f} of equal weight"
        )


def _has_clusters(pairs: ComparedValues) -> bool:
    return isinstance(pairs, Paired) and pairs.clusters is not None


def tie_lines(verdict: Verdict) -> Iterator[str]:
    """Yield what the order of tied scores decides, where it decides anything."""
    ties = verdict.ties
    if ties is None:
        return
    scope = f"their top {verdict.metric.cutoff}" if verdict.metric.cutoff else "their rankings"
    queries = plural(ties.queries, "query has", "queries have")
    yield (
        f"  {queries} tied scores in {scope}: over the orders of ties {verdict.metric} is "
        f"{ties.least:.4f} to {ties.greatest:.4f}{_DECIDES if ties.decides else ''}"
    )


def _decided(verdict: Verdict) -> Iterator[str]:
    """Yield the gate, and the p that it went by, where it is one that tests."""
    decisions = [one for one in (verdict.overall, *verdict.slices) if not math.isnan(one.p)]
    if not decisions:
        return
    least = min(decisions, key=lambda decision: decision.p)
    where = f" in {quoted(least.label)}" if least.label else ""
    corrected = f" (Holm, {len(decisions)} decisions)" if len(decisions) > 1 else ""
    yield f"  decided by {verdict.gate}: the fall{where} has p {_p(least.p)}{corrected}"


def _interval(pairs: ComparedValues, found: Differences) -> str:
    low, high = found.interval()
    if math.isnan(low):
        return ""
    if not pairs.metric.higher_is_better:
        low, high = -high, -low
    return f"95% interval of the difference [{change(low)}, {change(high)}], "


def _p(p: float) -> str:
    return f"= {p:.4f}" if p >= 0.0001 else "< 0.0001"


def _few(test: SignFlip) -> str:
    if test.smallest_p <= _FEW:
        return ""
    queries = plural(test.changed, "changed query", "changed queries")
    return f"; of {queries} it cannot be below {test.smallest_p:.4g}"


def _needed(verdict: Verdict, found: Differences) -> str:
    if verdict.margin is None:
        return ""
    needed = found.needed(verdict.margin, verdict.alpha)
    if math.isnan(needed) or needed <= found.count:
        return ""
    return f"; to tell a fall of {verdict.margin:g}, {needed:,.0f} would be needed"
