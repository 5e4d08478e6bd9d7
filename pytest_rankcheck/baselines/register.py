"""The next record of a test: the approved lines, and those that an update may rewrite.

A record is a register of approved lines. An update adds lines for queries that have none; which
metrics it may rewrite on the unchanged queries is decided in ``policy``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from pytest_rankcheck.baselines.change import is_looser
from pytest_rankcheck.baselines.families import Family, next_families
from pytest_rankcheck.baselines.metric_check import Assertion, MetricAssertion
from pytest_rankcheck.baselines.record import TOP, Record
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries
from pytest_rankcheck.baselines.succession import looser_limits, manner_changes
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.comparison.measurement import QueryOverlap
from pytest_rankcheck.errors import BaselineError, listed, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.configured_gates import ConfiguredGates
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.allowed_failures import allows_more


@dataclass(frozen=True, slots=True)
class Defaults:
    """What is gated and recorded unless a test says otherwise."""

    watched: tuple[str, ...] = ()
    """Metrics to record, gated or not."""
    gates: ConfiguredGates = field(default_factory=ConfiguredGates)
    slices: tuple[str, ...] = ()
    """Attributes whose slices are gated."""
    kept_depth: int = TOP
    """How many documents of each ranking to record, unless something that decides needs more."""
    inconclusive: str = "warn"
    """How an inconclusive verdict counts: ``"pass"``, ``"warn"`` or ``"fail"``."""
    failures: str | None = None
    """On how many queries, or which share of them, the ranker may fail; None: on none."""
    sealed: tuple[str, ...] = ()
    """The golden sets whose queries and documents no record may name."""

    def recorded(self, evaluation: Evaluation) -> Sequence[Metric]:
        """Return the metrics to record, gated or not, that fit an evaluation."""
        fit = filter(evaluation.fits, map(Metric.parse, self.watched))
        return [metric for metric in fit if metric.kind.is_recorded]


def next_record(
    evaluation: Evaluation,
    assertions: Sequence[Assertion],
    defaults: Defaults,
    before: Record | None,
    *,
    rewritten: Set[Metric] = frozenset(),
    is_approved: bool = False,
    test: str = "",
    world: Mapping[str, str] | None = None,
) -> Record:
    """Return the record that follows ``before``.

    Args:
        evaluation: what was measured.
        assertions: what the test asserts.
        defaults: what else is recorded.
        before: the approved record; None for a test without one.
        rewritten: the metrics whose approved lines are rewritten.
        is_approved: whether a reason covers everything that is measured: all of it is rewritten.
        test: the test that it belongs to.
        world: what was ranked with.

    Raises:
        BaselineError: the ranker failed on a query without a recorded line to keep.
    """
    measured = replace(
        _measured(evaluation, assertions, defaults, None if is_approved else before),
        test=test,
        world=dict(sorted((world or {}).items())),
        approvals=before.approvals if before else (),
    )
    if evaluation.failed:
        measured = replace(measured, queries=_with_lines_of_failed(before, evaluation, measured))
    if before is None:
        return measured
    if is_approved:
        metrics = {**measured.metrics}
        for name in before.metrics.keys() & metrics.keys():
            metrics[name] = metrics[name].with_noise_of(before.metrics[name], is_approved=True)
        return replace(measured, metrics=metrics)
    after = _updated(before, measured, rewritten, compare(evaluation, before))
    return before if _adds_only_what_decides(before, after) else after


def _measured(
    evaluation: Evaluation,
    assertions: Sequence[Assertion],
    defaults: Defaults,
    before: Record | None,
) -> Record:
    """Return the record of what is measured, under what decides; of a record, what is stricter."""
    of_metrics = [each for each in assertions if isinstance(each, MetricAssertion)]
    gates = {metric: gate.text for each in of_metrics for metric, gate in each.gates.items()}
    attributes = [name for each in of_metrics for name in each.attributes]
    limits = tuple(sorted({e for e in assertions if isinstance(e, StabilityLimits)}, key=str))
    families: Sequence[Family] = [each.family for each in of_metrics]
    watched, failures = [*defaults.recorded(evaluation)], defaults.failures
    kept_depth = defaults.kept_depth
    if before is not None:
        watched += filter(evaluation.fits, map(Metric.parse, before.approved))
        attributes += filter(evaluation.golden.attributes.__contains__, before.slices)
        limits = before.limits if [*looser_limits(before, limits)] else limits
        families = next_families(before.assertions, families)
        if before.assertions and allows_more(failures or "0", before.failures or "0"):
            failures = before.failures
        kept_depth = max(kept_depth, min(before.kept_depth, TOP))  # lost answers are seen in these
    kept_depth = max([kept_depth, *(each.k for each in limits)])
    return replace(
        Record.of(evaluation, gates, watched, attributes=attributes, kept_depth=kept_depth),
        assertions=tuple(families),
        failures=None if failures == "0" else failures,
        limits=limits,
    )


def _updated(
    before: Record, measured: Record, rewritten: Set[Metric], comparison: Comparison
) -> Record:
    """Return the record with what was measured where it has no line, or one that is raised."""
    is_rewritten = bool(rewritten) or not before.metrics.keys() >= {*measured.gated}
    if not comparison.is_paired and not is_rewritten:
        return _kept_log(before, measured)
    metrics, queries = {**measured.metrics}, measured.queries
    shared = before.metrics.keys() & metrics.keys()
    new = {n for n in shared if _is_rewritten(n, before, measured, rewritten, comparison)}
    if comparison.is_paired:
        # Compared rankings change only with a reason, even if a metric is better.
        ranked = comparison.query_ids if before.limits or not rewritten else ()
        queries = _with_earlier(measured, before, shared - new, comparison.query_ids, ranked)
    for name in shared:
        then, now = before.metrics[name], metrics[name]
        gate = then.gate if is_looser(then.gate, now.gate) else now.gate
        averaged = now.averaged if name in new else then.averaged
        now = now.with_noise_of(then, is_approved=False)
        metrics[name] = replace(now, gate=gate, averaged=averaged)
    slices = {
        attribute: {value: len(members[value]) for value in values if value in members}
        for attribute, values in sorted({**before.slices, **measured.slices}.items())
        for members in (queries.members.get(attribute, {}),)
    }
    # The world belongs to the lines, rewritten or reproduced.
    is_of_this_world = is_rewritten or (not before.world and queries == measured.queries)
    return replace(
        measured,
        queries=queries,
        metrics=metrics,
        slices=slices,
        world=measured.world if is_of_this_world else before.world,
        ranker=measured.ranker if is_rewritten else before.ranker,
        unknown=before.unknown,
    )


def _kept_log(before: Record, measured: Record) -> Record:
    """Return the record of a log: every log has its own sessions, so it stays as a whole."""
    metrics = {
        name: replace(each, gated=name in measured.gated) if each.gate is not None else each
        for name, each in before.metrics.items()
    }
    same = replace(before, metrics=metrics, retired=None, limits=measured.limits)
    return same if same == before else replace(same, assertions=measured.assertions)


def _adds_only_what_decides(before: Record, after: Record) -> bool:
    """Whether a record that predates recorded assertions would only gain these.

    It is not written for that alone, so that unchanged results keep the same bytes.
    """
    queries = replace(after.queries, clusters=before.queries.clusters)
    then = replace(after, assertions=(), failures=None, queries=queries)
    return not before.assertions and then == before


def _with_lines_of_failed(
    before: Record | None, evaluation: Evaluation, measured: Record
) -> RecordedQueries:
    """Return what was measured, with the recorded lines of the queries that failed.

    Raises:
        BaselineError: a failed query has no recorded line that is comparable and complete.
    """
    lost = list(evaluation.failed)
    if before is not None and not any(manner_changes(before, evaluation)):
        unchanged = set(QueryOverlap(evaluation, before).query_ids)
        if before.queries.by_line.keys() >= measured.metrics.keys():
            lost = [query_id for query_id in lost if query_id not in unchanged]
    if before is None or lost:
        raise BaselineError(
            f"the baseline cannot be written: the ranker failed on {listed(lost)}, for which "
            "there are no earlier values of all metrics to keep "
            f"({quoted(evaluation.failed[lost[0]], 200)}). "
            "Run the test again once the ranker answers; rankcheck_retries asks it again"
        )
    failed = tuple(evaluation.failed)
    return _with_earlier(measured, before, measured.metrics, failed, failed)


def _with_earlier(
    measured: Record,
    before: Record,
    metrics: Iterable[str],
    query_ids: Sequence[str],
    ranked: Sequence[str],
) -> RecordedQueries:
    """Return the measured lines, with some metrics and rankings from an earlier record.

    Args:
        measured: what was measured.
        before: the earlier record.
        metrics: the metrics whose earlier values stay.
        query_ids: the queries for which they stay.
        ranked: the queries whose earlier rankings stay.
    """
    queries, earlier = measured.queries, before.queries
    now, then = queries.places(query_ids), earlier.places(query_ids)
    values = dict(queries.values)
    for name in metrics:
        kept = Metric.parse(name).kind.kept
        values[name] = kept(values[name], now, earlier.values[name], then)
    tops, below = [*queries.tops], [*(queries.below or [{}] * len(queries))]
    for query_id in ranked:
        at, place = queries.place_of[query_id], earlier.place_of[query_id]
        approved = earlier.tops[place]
        if tuple(tops[at][: len(approved)]) != tuple(approved):
            tops[at] = approved[: measured.kept_depth]
        below[at] = earlier.below[place] if earlier.below and measured.kept_depth else {}
    # An attribute that no query has any more keeps its recorded labels.
    gone = before.slices.keys() - measured.slices.keys()
    slices = [dict(labels) for labels in queries.slices or [{}] * len(queries)]
    for at, place in zip(now.tolist(), then.tolist(), strict=True) if gone else ():
        labels = earlier.slices[place] if earlier.slices else {}
        kept_labels = {attribute: labels[attribute] for attribute in gone & labels.keys()}
        slices[at] = dict(sorted({**slices[at], **kept_labels}.items()))
    return replace(
        queries,
        values=values,
        tops=tops,
        below=below if any(below) else None,
        slices=slices if any(slices) else None,
    )


def _is_rewritten(
    name: str, before: Record, measured: Record, rewritten: Set[Metric], comparison: Comparison
) -> bool:
    """Whether the measured values of a metric replace the recorded ones on unchanged queries."""
    if measured.metrics[name].gated:
        return Metric.parse(name) in rewritten
    if before.metrics[name].gate is not None:
        return False  # no longer gated: the approved values stay
    if not Metric.parse(name).kind.compares(comparison):
        return True  # only the values measured now are about these queries
    # A metric that was never gated follows the others, but no recorded mean is lowered unnoticed.
    return bool(rewritten) and comparison.values(name).gain >= 0
