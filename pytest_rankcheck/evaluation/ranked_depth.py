"""The ranked depth: a cutoff beyond it would give another metric's number."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from pytest_rankcheck.errors import MetricError, MetricWarning, plural, quoted
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.name_grammar import parts_of

__all__ = ["beyond_depth", "refuse_deeper_cutoff", "warn_if_rankings_are_short"]


def beyond_depth(what: str, wanted: int, depth: int) -> str:
    """Return the message that the rankings were not asked for as many documents as are needed.

    Args:
        what: what looks that far down.
        wanted: how many documents it looks at.
        depth: how many documents of each ranking were asked for.
    """
    return (
        f"{what} looks at the first {plural(wanted, 'document')} of each ranking, but only "
        f"{depth:,} were asked for; rank to a depth of at least {wanted}: rankcheck_depth = "
        f"{wanted} in the configuration, depth={wanted} in rank(), or --depth {wanted} on the "
        "command line"
    )


def refuse_deeper_cutoff(metric: Metric, depth: int | None, golden: JudgedQueries) -> None:
    """Refuse a cutoff beyond the depth that was asked for: R@500 at depth 100 would be R@100.

    A golden set whose queries have at most ``depth`` candidates each is ranked to the end.

    Raises:
        MetricError: saying how to rank deeper.
    """
    cutoff = _cutoff_of(metric)
    if depth is None or cutoff is None or cutoff <= depth:
        return
    if _most_candidates(golden) > depth:
        raise MetricError(beyond_depth(str(metric), cutoff, depth))


def warn_if_rankings_are_short(
    metric: Metric,
    blocks: Sequence[JudgedHits],
    run_name: str,
    golden: JudgedQueries,
    depth: int | None,
) -> None:
    """Warn if no ranking is as long as the metric's cutoff, and a relevant document is missing.

    A ranker that was asked for enough may return fewer documents, so then they must seem cut: at
    least half of the rankings with documents end at the same rank.

    Args:
        metric: the metric that is computed.
        blocks: the judged hits of all queries.
        run_name: what messages call the run.
        golden: the golden set.
        depth: how many documents of each ranking were asked for; None if that is unknown.
    """
    cutoff = _cutoff_of(metric)
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
    if not lacking or not are_cut or _most_candidates(golden) <= longest:
        return
    warnings.warn(
        f"{metric}: no ranking of run '{quoted(run_name)}' has {plural(cutoff, 'document')}; "
        f"the longest ({at_the_end:,} of {ranked:,}) end at rank {longest:,}, so relevant "
        f"documents further down are not counted; give a run that goes further down, or a cutoff "
        f"of {longest:,}",
        MetricWarning,
        stacklevel=5,  # where the user's code asks for a mean
    )


def _most_candidates(golden: JudgedQueries) -> float:
    """Return the largest number of candidates of a query; infinite if there are none to rerank."""
    if not golden.has_candidates:
        return math.inf
    return max(len(golden.candidates_of(query_id)) for query_id in golden.query_ids)


def _cutoff_of(metric: Metric) -> int | None:
    """Return the cutoff of a metric, also of one that ir_measures computes."""
    if metric.definition.ir_measures is None:
        return metric.cutoff
    cutoff = parts_of(metric.definition.ir_measures).cutoff
    return cutoff if isinstance(cutoff, int) else None
