"""How many queries a gate needs, in words: what ``--rankcheck-plan`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.comparison.query_planning import Plan, plan_of, spread_of
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.reports.gating_verdicts import slice_odds
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.evidence_text import needed_text
from pytest_rankcheck.reports.text.gate_choice_text import odds_text

__all__ = ["plan_notes"]

_MARGINS = (0.005, 0.01, 0.02, 0.05)


def plan_notes(baseline: Baseline) -> Iterator[Note]:
    """Yield, for each gated metric, how many queries detect falls of several sizes."""
    evaluation = baseline.evaluation
    if evaluation is None:
        return
    for check in baseline.checks:
        pairs = check.verdict.overall.pairs if check.verdict else None
        spread = spread_of(evaluation, check.metric, pairs)
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
        for line in _plan_rows(plan_of(check.metric, spread, margins)):
            yield Note(Topic.PLAN, f"  {check.metric}: {line}")
        if check.verdict is not None:
            slices, share = slice_odds(check.verdict)
            if slices:
                text = odds_text(check.verdict.gate, share, slices)
                yield Note(Topic.PLAN, f"  {check.metric}: {text}")


def _plan_rows(plan: Plan) -> Iterator[str]:
    """Yield one line for each margin."""
    for number, (margin, row) in enumerate(zip(plan.margins, plan.queries, strict=True)):
        intervals: Sequence[tuple[int, int] | None] = [None] * len(row)
        if plan.lowest:
            intervals = list(zip(plan.lowest[number], plan.highest[number], strict=True))
        counts = ", ".join(
            f"{needed_text(best, interval)} for {power:.0%}"
            for best, interval, power in zip(row, intervals, plan.powers, strict=True)
        )
        yield f"a fall of {margin:g}: {counts}"
