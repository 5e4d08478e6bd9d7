"""What the summary says beside the table: of baselines, golden sets and runs."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.policy import Action, Settlement
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.reports.ledger import Entry
from pytest_rankcheck.reports.wording import number

__all__ = ["baseline_notes", "evaluation_notes", "watched_entries"]

_CAN_BE_RAISED = "baselines that can be raised with pytest --snapshot-update"
_WRITTEN = "baselines written; commit them"
_KEPT = "baselines kept, because something is lower inside the tolerance"
_MEASURED = "measured"
_HOPELESS = ("no-judgment", "no-relevant")
"""Findings without which a mean is misread; the others are for ``--rankcheck-lint``."""


def baseline_notes(baseline: Baseline, settlement: Settlement) -> Iterator[Entry]:
    """Yield what became of a baseline, or what could."""
    means = "; ".join(_means(baseline))
    if settlement.action is Action.LEAVE:
        verdicts = [check.verdict for check in baseline.checks if check.verdict]
        better = any(verdict.outcome is Outcome.BETTER for verdict in verdicts)
        if better and not any(check.fell for check in baseline.checks):
            yield Entry(heading=_CAN_BE_RAISED, note=f"{quoted(baseline.test_id, 200)}: {means}")
    elif settlement.action is Action.KEEP:
        advice = 'to lower it: --rankcheck-approve "reason"'
        yield Entry(heading=_KEPT, note=f"{quoted(baseline.test_id, 200)}: {means}; {advice}")
    elif settlement.writes:
        reason = (
            f' "{quoted(baseline.mode.approval)}"' if settlement.action is Action.APPROVE else ""
        )
        dropped = "".join(f"; no longer gated: {name}" for name in _dropped(baseline))
        note = f"{quoted(baseline.test_id, 200)}: {settlement.action}{reason}: {means}{dropped}"
        yield Entry(heading=_WRITTEN, note=note)


def watched_entries(baseline: Baseline) -> Iterator[Entry]:
    """Yield the metrics that a baseline records without gating them."""
    for pairs in baseline.watched():
        yield Entry(
            golden=baseline.golden_name,
            metric=str(pairs.metric),
            baseline=pairs.mean_before,
            now=pairs.mean_after,
            verdict="",
            failed=False,
        )


def evaluation_notes(evaluation: Evaluation) -> Iterator[Entry]:
    """Yield what a reader of the means must know of the golden set and the run."""
    name = quoted(evaluation.golden.name)
    for finding in evaluation.golden.lint(rules=_HOPELESS):
        yield Entry(heading=_MEASURED, note=f"golden set '{name}': {finding.message}")
    if evaluation.missing:
        count = plural(len(evaluation.missing), "judged query is", "judged queries are")
        yield Entry(
            heading=_MEASURED,
            note=f"golden set '{name}': {count} not in the run and counted as empty rankings: "
            f"{listed(evaluation.missing)}",
        )
    if evaluation.extra:
        count = plural(len(evaluation.extra), "query", "queries")
        yield Entry(
            heading=_MEASURED,
            note=f"golden set '{name}': {count} of the run without judgments, not measured: "
            f"{listed(evaluation.extra)}",
        )


def _means(baseline: Baseline) -> Iterator[str]:
    seen = set()
    for check in baseline.checks:
        if check.metric in seen:
            continue
        seen.add(check.metric)
        if check.verdict is None:
            yield f"{check.metric} new"
        else:
            pairs = check.verdict.overall.pairs
            yield f"{check.metric} {number(pairs.mean_before)} -> {number(pairs.mean_after)}"


def _dropped(baseline: Baseline) -> Iterator[str]:
    gated = {str(check.metric) for check in baseline.checks}
    record = baseline.record
    yield from (name for name in (record.gated if record else ()) if name not in gated)
