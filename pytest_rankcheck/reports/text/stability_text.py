"""The text of rankings that differ from the baseline: how many, and which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rankcheck.baselines.ranking_check import RankingCheck
from pytest_rankcheck.behaviour.ranking_stability import RankingStability
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.reports.text.wording import (
    documents_once,
    golden_name,
    number_text,
    query_in,
)

_WORST = 5
_TOP = 5


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


def stability_lines(stability: RankingStability, evaluation: Evaluation) -> Iterator[str]:
    """Yield how many rankings changed, the limits that are broken, and the worst queries."""
    limits = stability.limits
    yield f"{changes_text(stability)}"
    beyond = plural(len(stability.beyond), "query", "queries")
    too_many = "; too many changed" if stability.too_many else ""
    yield f"allowed: {limits}; {beyond} beyond{too_many}"
    worst = stability.beyond or stability.changed
    yield "worst queries"
    for agreement in worst[:_WORST]:
        values = ", ".join(agreement.exceeded(limits)) or f"RBO {agreement.rbo:.3f}"
        yield f"  {query_in(evaluation.golden, agreement.query_id)}   {values}"
        for start, ranking in (
            ("    before  ", agreement.before),
            ("    now     ", agreement.now),
        ):
            line, query_id = start + _shown(ranking), agreement.query_id
            place = documents_once(evaluation.golden.name, query_id, ranking, [line], start)
            yield from place if ranking else [line]
    if len(worst) > _WORST:
        yield f"  and {plural(len(worst) - _WORST, 'query', 'queries')} more"


def _shown(ranking: Sequence[str]) -> str:
    shown = "  ".join(quoted(doc_id, 40) for doc_id in ranking[:_TOP]) or "nothing"
    return f"{shown}  ..." if len(ranking) > _TOP else shown
