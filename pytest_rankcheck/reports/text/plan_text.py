"""How many queries are needed, for ``--rankcheck-plan``."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.comparison.query_planning import Plan, plan_of, spread_of
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.reports.findings import Note, Topic

__all__ = ["plan_notes"]

_MARGINS = (0.005, 0.01, 0.02, 0.05)


def plan_notes(baseline: Baseline) -> Iterator[Note]:
    """Yield, for each gated metric, how many queries detect falls of several sizes."""
    evaluation = baseline.evaluation
    if evaluation is None:
        return
    for check in baseline.checks:
        pairs = check.verdict.overall.pairs if check.verdict else None
        spread = spread_of(evaluation.values(check.metric), pairs.gains if pairs else None)
        queries = plural(spread.queries, "query", "queries")
        about = (
            f"golden set '{quoted(baseline.golden_name)}' ({queries}), {check.metric}: standard "
            f"deviation {spread.deviation:.4f}, {spread.source}"
        )
        yield Note(Topic.PLAN, about)
        if not spread.deviation > 0:
            continue
        margin = check.verdict.margin if check.verdict else None
        margins = (margin / 2, margin, 2 * margin) if margin else _MARGINS
        for line in _rows(plan_of(check.metric, spread, margins)):
            yield Note(Topic.PLAN, f"  {check.metric}: {line}")


def _rows(plan: Plan) -> Iterator[str]:
    """Yield one line for each margin."""
    for margin, row in zip(plan.margins, plan.queries, strict=True):
        counts = ", ".join(
            f"{count:,} for {power:.0%}" for count, power in zip(row, plan.powers, strict=True)
        )
        yield f"a fall of {margin:g}: {counts}"
