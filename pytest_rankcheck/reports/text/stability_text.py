"""The text of rankings that differ from the baseline: how many, which, and how to approve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rankcheck.baselines.blocks import Block
from pytest_rankcheck.baselines.ranking_check import RankingCheck
from pytest_rankcheck.behaviour.ranking_stability import RankingStability
from pytest_rankcheck.errors import listed, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.reports.text.baseline_text import world_lines
from pytest_rankcheck.reports.text.wording import counted, golden_name, number_text, query_name

__all__ = ["stability_note", "stability_text"]

_WORST = 5
_TOP = 5


def stability_note(check: RankingCheck, evaluation: Evaluation) -> str:
    """Return in one line how the rankings differ from the baseline."""
    where = f"{golden_name(evaluation)} ({counted(len(evaluation.query_ids), 'query')})"
    stability = check.stability
    changes = "new" if stability is None else _changes_text(stability)
    return "; ".join((f"{where}: {changes}", *(approval.text for approval in check.approvals)))


def stability_text(
    check: RankingCheck, block: Block, evaluation: Evaluation, test_id: str, path: str
) -> str:
    """Return why the rankings fail their test, the worst queries, and what to do."""
    return "\n".join(_lines(check, block, evaluation, test_id, path))


def _lines(
    check: RankingCheck, block: Block, evaluation: Evaluation, test_id: str, path: str
) -> Iterator[str]:
    where = f"{golden_name(evaluation)} ({counted(len(evaluation.query_ids), 'query')})"
    update = f"pytest {test_id} --snapshot-update"
    approve = f'{update} --rankcheck-approve "why this is acceptable"'
    if block is Block.NO_RECORD:
        yield f"the rankings on {where} have no baseline"
        yield f"  expected: {path}"
        yield f"  to create it: {update}, then commit the file"
        return
    if block in (Block.INCOMPARABLE, Block.FOREIGN):
        yield f"the rankings on {where} cannot be compared with their baseline"
        yield from (f"  {difference}" for difference in check.differences)
        yield f"  baseline: {path} (unchanged)"
        yield f"  to record anew: {approve}"
        return
    if block is Block.STALE:
        yield f"{golden_name(evaluation)} changed, so the baseline of its rankings is stale"
        yield from _staleness(check)
        if check.stability is not None:
            yield f"  on the unchanged queries: {_changes_text(check.stability)}"
        yield f"  baseline: {path}"
        yield f"  to record the new queries: {update}, then commit the file"
        return
    if block is Block.DELETED:
        yield from _deleted(where, path)
        return
    if block is Block.UNAPPROVED:
        yield from _unapproved(check, where, path)
        yield f"  to approve: {approve}"
        return
    if block is Block.LOOSENED:
        yield f"the rankings on {where} pass only with looser limits"
        yield f"  the baseline was approved with {check.limits}"
    else:
        refused = "update refused: " if block is Block.REFUSED else ""
        yield f"{refused}the rankings on {where} differ from the baseline"
    yield from (f"  baseline of this branch: {problem}" for problem in check.problems)
    yield from _staleness(check)
    if check.stability is not None:
        yield from _broken(check.stability, evaluation)
    yield from world_lines(check.world)
    yield f"  baseline: {path} (unchanged)"
    yield f"  to approve: {approve}"


def _deleted(where: str, path: str) -> Iterator[str]:
    file, _, reference = path.partition(" at ")
    yield f"the rankings on {where}: this branch has deleted their baseline"
    yield f"  baseline: {path}"
    yield f"  to restore it: git checkout {reference} -- {file}"
    yield f'  if it is no longer needed: python -m pytest_rankcheck retire {file} --reason "why"'


def _unapproved(check: RankingCheck, where: str, path: str) -> Iterator[str]:
    file, _, reference = path.partition(" at ")
    yield f"the rankings on {where}: this branch changes their baseline without a reason"
    yield from (f"  {problem}" for problem in check.problems)
    yield from _staleness(check)
    if check.stability is not None:
        yield f"  {_changes_text(check.stability)}"
    yield f"  baseline: {path}"
    yield f"  to restore it: git checkout {reference} -- {file}, then update again"


def _changes_text(stability: RankingStability) -> str:
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
        f"{text}; {counted(len(stability.beyond), 'query')} {verb} beyond the limits, "
        f"{stability.limits.allowed_queries:,} allowed: {queries}"
    )


def _staleness(check: RankingCheck) -> Iterator[str]:
    if check.comparison is None:
        return
    for kind in ("changed", "added", "removed"):
        query_ids = getattr(check.comparison, kind)
        if query_ids:
            count = counted(len(query_ids), "query")
            yield f"  {count} {kind} since the baseline: {listed(query_ids)}"


def _broken(stability: RankingStability, evaluation: Evaluation) -> Iterator[str]:
    limits = stability.limits
    yield f"  {_changes_text(stability)}"
    limits_asked = [
        (f"RBO(p={limits.p:g}) at least", limits.min_rbo),
        (f"overlap@{limits.k} at least", limits.min_overlap),
        (f"Kendall@{limits.k} at most", limits.max_kendall),
        (f"tauAP@{limits.k} at least", limits.min_tau_ap),
    ]
    limits_text = ", ".join(
        f"{name} {limit:g}" for name, limit in limits_asked if limit is not None
    )
    if limits_text:
        verb = "does" if len(stability.beyond) == 1 else "do"
        queries = counted(len(stability.beyond), "query")
        allowed = f", {limits.allowed_queries:,} allowed" if limits.allowed_queries else ""
        yield f"  every query must have {limits_text}: {queries} {verb} not{allowed}"
    if limits.max_changed_queries is not None:
        most = limits.allowed_changes(len(stability.agreements))
        yield f"  at most {most:g} may change{': too many did' if stability.too_many else ''}"
    worst = stability.beyond or stability.changed
    yield "  worst queries"
    for agreement in worst[:_WORST]:
        values = ", ".join(agreement.exceeded(limits)) or f"RBO {agreement.rbo:.3f}"
        yield f"    {query_name(evaluation, agreement.query_id)}   {values}"
        yield f"      before  {_shown(agreement.before)}"
        yield f"      now     {_shown(agreement.now)}"
    if len(worst) > _WORST:
        yield f"    and {counted(len(worst) - _WORST, 'query')} more"


def _shown(ranking: Sequence[str]) -> str:
    shown = "  ".join(quoted(doc_id, 40) for doc_id in ranking[:_TOP]) or "nothing"
    return f"{shown}  ..." if len(ranking) > _TOP else shown
