"""The text about rankings that differ from the baseline: how many, and by how much."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.baselines.check import RankingCheck
from pytest_rankcheck.behaviour.ranking_stability import RankingStability
from pytest_rankcheck.errors import listed, plural
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.reports.text.wording import golden_name, number_text


def stability_note(check: RankingCheck, evaluation: Evaluation) -> str:
    """Return in one line how the rankings differ from the baseline."""
    where = f"{golden_name(evaluation)} ({plural(len(evaluation.query_ids), 'query', 'queries')})"
    stability = check.stability
    changes = "new" if stability is None else changes_text(stability)
    return "; ".join((f"{where}: {changes}", *(approval.text for approval in check.approvals)))


def changes_text(stability: RankingStability) -> str:
    """Return in one line how many rankings changed, and by how much."""
    if not stability.changed:
        return "all rankings are the same as in the baseline"
    changed, mean = len(stability.changed), number_text(stability.mean_rbo)
    text = (
        f"{changed:,} of {len(stability.agreements):,} rankings changed; RBO of the top "
        f"{stability.limits.k}: mean {mean}, lowest {number_text(stability.least_rbo)}"
    )
    if not stability.beyond or stability.is_broken:
        return text
    verb = "is" if len(stability.beyond) == 1 else "are"
    queries = listed([agreement.query_id for agreement in stability.beyond])
    return (
        f"{text}; {plural(len(stability.beyond), 'query', 'queries')} {verb} beyond the limits, "
        f"{stability.limits.allowed_queries:,} allowed: {queries}"
    )


def stability_facts(stability: RankingStability) -> Iterator[str]:
    """Yield how many rankings changed, and the limits that are broken."""
    yield changes_text(stability)
    beyond = plural(len(stability.beyond), "query", "queries")
    too_many = "; too many changed" if stability.too_many else ""
    yield f"allowed: {stability.limits}; {beyond} beyond{too_many}"
