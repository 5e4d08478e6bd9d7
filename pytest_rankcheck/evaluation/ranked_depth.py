"""The ranked depth: a cutoff beyond it would give another metric's number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_rankcheck.errors import plural, quoted, warn_caller
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.name_grammar import parts_of

__all__ = ["beyond_depth", "cutoff_of", "warn_if_rankings_are_short"]


def beyond_depth(what: str, wanted: int, depth: int) -> str:
    """Return the message that the rankings were not asked for as many documents as are needed.

    Args:
        what: what looks that far down.
        wanted: how many documents it looks at.
        depth: how many documents of each ranking were asked for.
    """
    verb = "was" if depth == 1 else "were"
    return (
        f"{what} looks at the first {plural(wanted, 'document')} of each ranking, but only "
        f"{depth:,} {verb} asked for; rank to a depth of at least {wanted}: rankcheck_depth = "
        f"{wanted} in the configuration, depth={wanted} in rank(), or --depth {wanted} on the "
        "command line"
    )


def warn_if_rankings_are_short(
    metric: Metric,
    blocks: Sequence[JudgedHits],
    run_name: str,
    depth: int | None,
    may_go_on: Callable[[int], bool],
) -> None:
    """Warn if no ranking is as long as the metric's cutoff, and a relevant document is missing.

    A ranker that was asked for enough may return fewer documents, so then they must seem cut: at
    least half of the rankings with documents end at the same rank.

    Args:
        metric: the metric that is computed.
        blocks: the judged hits of all queries.
        run_name: what messages call the run.
        depth: how many documents of each ranking were asked for; None if that is unknown.
        may_go_on: returns whether rankings of a given length may have been cut there.
    """
    cutoff = cutoff_of(metric)
    longest = int(max((block.retrieved.max(initial=0.0) for block in blocks), default=0))
    if cutoff is None or cutoff <= longest or not longest:
        return
    ranked = at_the_end = lacking = 0
    for block in blocks:
        relevant = (block.ideal > 0).sum(axis=1)
        is_ranked = block.retrieved > 0
        ranked += int(is_ranked.sum())
        at_the_end += int((block.retrieved == longest).sum())
        lacking += int((is_ranked & ((block.grades > 0).sum(axis=1) < relevant)).sum())
    are_cut = depth is None or 2 * at_the_end >= ranked
    if not lacking or not are_cut or not may_go_on(longest):
        return
    rankings, ends = ("ranking", "ends") if at_the_end == 1 else ("rankings", "end")
    warn_caller(
        f"{metric}: no ranking of run '{quoted(run_name)}' has {plural(cutoff, 'document')}; "
        f"the longest {rankings} ({at_the_end:,} of {ranked:,}) {ends} at rank {longest:,}, so "
        f"relevant documents further down are not counted; give a run that goes further down, or a "
        f"cutoff of {longest:,}"
    )


def cutoff_of(metric: Metric) -> int | None:
    """Return the cutoff of a metric, also of one that ir_measures computes."""
    if metric.definition.ir_measures is None:
        return metric.cutoff
    cutoff = parts_of(metric.definition.ir_measures).cutoff
    return cutoff if isinstance(cutoff, int) else None
