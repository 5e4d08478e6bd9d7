"""The next record of a test: the approved lines, and what an update may rewrite of them.

A record is a register of approved lines. An update adds lines for queries that have none; which
metrics it may rewrite on the unchanged queries is decided in ``policy``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from pytest_rankcheck.baselines.change import is_looser
from pytest_rankcheck.baselines.families import Family, next_families
from pytest_rankcheck.baselines.record import TOP, Record
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries
from pytest_rankcheck.baselines.succession import looser_limits, manner_changes
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.comparison.measurement import QueryOverlap
from pytest_rankcheck.errors import BaselineError, listed, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.allowed_failures import allows_more

Documents = tuple[Sequence[str], Mapping[str, int]]
"""The top of a ranking, and the ranks of relevant documents below it."""


def next_record(
    before: Record | None,
    evaluation: Evaluation,
    gates: Mapping[Metric, str],
    watched: Iterable[Metric] = (),
    *,
    attributes: Sequence[str] = (),
    assertions: Sequence[Family] = (),
    limits: Sequence[StabilityLimits] = (),
    failures: str | None = None,
    rewritten: Set[Metric] = frozenset(),
    is_approved: bool = False,
    kept_depth: int = TOP,
    test: str = "",
    world: Mapping[str, str] | None = None,
) -> Record:
    """Return the record that follows ``before``.

    Args:
        before: the approved record; None for a test without one.
        evaluation: what was measured.
        gates: the gated metrics, and the text of the gate of each.
        watched: further metrics to record.
        attributes: the attributes by whose slices the test gates.
        assertions: which metrics and slices the test decides together.
        limits: those within which the rankings may change.
        failures: on how many queries, or which share of them, the ranker may fail.
        rewritten: the metrics whose approved lines are rewritten.
        is_approved: whether a reason covers everything that is measured: all of it is rewritten.
        kept_depth: how many documents of each ranking to keep, if nothing that decides looks
            further.
        test: the test that it belongs to.
        world: what was ranked with.

    Raises:
        BaselineError: the ranker failed on a query without a recorded line that can stay.
    """
    if before is not None and not is_approved:  # the stricter gates, slices and limits stay
        gated_before = map(Metric.parse, before.approved)
        watched = (*watched, *(metric for metric in gated_before if evaluation.fits(metric)))
        gates = {
            metric: str(before.gate(metric)) if is_looser(before.gate(metric), gate) else gate
            for metric, gate in gates.items()
        }
        present = evaluation.golden.attributes
        attributes = [*attributes, *(name for name in before.slices if name in present)]
        assertions = next_families(before.assertions, assertions)
        if before.assertions and allows_more(failures or "0", before.failures or "0"):
            failures = before.failures
        limits = before.limits if [*looser_limits(before, limits)] else limits
        kept_depth = max(kept_depth, min(before.kept_depth, TOP))  # lost answers are seen in these
    measured = Record.of(
        evaluation,
        gates,
        watched,
        before.approvals if before else (),
        attributes=attributes,
        assertions=assertions,
        limits=limits,
        failures=failures,
        kept_depth=max([kept_depth, *(each.k for each in limits)]),
        test=test,
        world=world,
    )
    if evaluation.failed:
        measured = replace(measured, queries=_with_lines_of_failed(before, evaluation, measured))
    if before is None:
        return measured
    comparison = compare(evaluation, before)
    adds = not all(before.fits(metric) for metric in gates)
    is_rewritten = is_approved or bool(rewritten) or adds
    if comparison.is_paired and not is_approved:
        queries = _next_lines(before, measured, rewritten, comparison)
    elif is_rewritten:
        queries = measured.queries
    else:  # every log has its own sessions: what was approved stays as a whole
        metrics = {
            name: replace(each, gated=name in measured.gated) if each.gate is not None else each
            for name, each in before.metrics.items()
        }
        kept = replace(before, metrics=metrics, retired=None, limits=measured.limits)
        return kept if kept == before else replace(kept, assertions=measured.assertions)
    # The world is that of the lines: of those that are rewritten, or that are reproduced.
    is_of_this_world = is_rewritten or (not before.world and queries == measured.queries)
    slices = {**before.slices, **measured.slices}
    metrics = {**measured.metrics}
    for name in before.metrics.keys() & metrics.keys():
        then, now = before.metrics[name], metrics[name]
        is_new = is_approved or _is_rewritten(name, before, measured, rewritten, comparison)
        metrics[name] = replace(
            now.with_noise_of(then, is_approved=is_approved),
            gate=now.gate or (None if is_approved else then.gate),
            averaged=now.averaged if is_new else then.averaged,
        )
    after = replace(
        measured,
        queries=queries,
        metrics=metrics,
        slices=measured.slices if is_approved else dict(sorted(slices.items())),
        world=measured.world if is_of_this_world else before.world,
        ranker=measured.ranker if is_rewritten else before.ranker,
        unknown={} if is_approved else before.unknown,
    )
    return before if not is_approved and _adds_only_what_decides(before, after) else after


def _adds_only_what_decides(before: Record, after: Record) -> bool:
    """Whether a record from before assertions were recorded would only get these.

    It is not written for that alone, so that unchanged results stay the same bytes.
    """
    if before.assertions:
        return False
    queries = replace(after.queries, clusters=before.queries.clusters)
    return replace(after, assertions=(), failures=None, queries=queries) == before


def _with_lines_of_failed(
    before: Record | None, evaluation: Evaluation, measured: Record
) -> RecordedQueries:
    """Return what was measured, with the recorded lines of the queries that failed.

    Raises:
        BaselineError: one has no such line, of the same query and metrics, measured in this way.
    """
    lost = list(evaluation.failed)
    if before is not None and not any(manner_changes(before, evaluation)):
        unchanged = set(QueryOverlap(evaluation, before).query_ids)
        if before.queries.by_line.keys() >= measured.metrics.keys():
            lost = [query_id for query_id in lost if query_id not in unchanged]
    if before is None or lost:
        raise BaselineError(
            f"the baseline cannot be written: the ranker failed on {listed(lost)}, of which it has "
            f"no line of all metrics that could stay ({quoted(evaluation.failed[lost[0]], 200)}). "
            "Run the test again once the ranker answers; rankcheck_retries asks it again"
        )
    values = {name: column.copy() for name, column in measured.queries.values.items()}
    lines = [*_kept_documents(measured)]
    for query_id in evaluation.failed:
        now, then = measured.queries.place_of[query_id], before.queries.place_of[query_id]
        lines[now] = _kept_documents(before)[then]
        for name, column in values.items():
            column[now] = before.queries.values[name][then]
    return _with_documents(replace(measured.queries, values=values), lines)


def _kept_documents(record: Record) -> Sequence[Documents]:
    """Return what a record keeps of the documents of each query: the top, and the ranks below."""
    queries = record.queries
    below = queries.below or [{}] * len(queries)
    return [*zip(queries.tops, below, strict=True)]


def _with_documents(queries: RecordedQueries, lines: Sequence[Documents]) -> RecordedQueries:
    below = [ranks for _, ranks in lines]
    return replace(queries, tops=[top for top, _ in lines], below=below if any(below) else None)


def _next_lines(
    before: Record, measured: Record, rewritten: Set[Metric], comparison: Comparison
) -> RecordedQueries:
    """Return the lines of an update without a reason: what is approved stays, or is rewritten."""
    now = measured.queries.places(comparison.query_ids)
    then = before.queries.places(comparison.query_ids)
    values = dict(measured.queries.values)
    for name in before.metrics.keys() & values.keys():
        if not _is_rewritten(name, before, measured, rewritten, comparison):
            values[name] = Metric.parse(name).kind.kept(
                values[name], now, before.queries.values[name], then
            )
    lines, earlier = [*_kept_documents(measured)], _kept_documents(before)
    # Compared rankings change only with a reason, even if a metric is better.
    if before.limits or not rewritten:
        for at, place in zip(now.tolist(), then.tolist(), strict=True):
            top, (approved, below) = lines[at][0], earlier[place]
            if tuple(top[: len(approved)]) != tuple(approved):
                top = approved[: measured.kept_depth]
            lines[at] = top, below if measured.kept_depth else {}
    return _with_documents(replace(measured.queries, values=values), lines)


def _is_rewritten(
    name: str, before: Record, measured: Record, rewritten: Set[Metric], comparison: Comparison
) -> bool:
    """Whether the values of a metric on the unchanged queries are those that were measured."""
    if measured.metrics[name].gated:
        return Metric.parse(name) in rewritten
    if before.metrics[name].gate is not None:
        return False  # no longer gated: it stays as it was approved
    if not Metric.parse(name).kind.compares(comparison):
        return True  # only what is measured now is of these queries
    # What was never gated follows the others, but no recorded mean is lowered in passing.
    return bool(rewritten) and comparison.values(name).gain >= 0
