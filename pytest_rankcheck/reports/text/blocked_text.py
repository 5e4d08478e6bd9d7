"""The text of a failing comparison with a baseline: what fell, where, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_rankcheck.baselines.change import LOSS_SHARE, Change
from pytest_rankcheck.baselines.check import OF_GATES, Block, Check, RankingCheck, Verb
from pytest_rankcheck.baselines.golden_changes import slice_changes
from pytest_rankcheck.baselines.metric_check import MetricCheck
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.explanation.answered_queries import changed_rankings
from pytest_rankcheck.explanation.explained_failures import explained_state
from pytest_rankcheck.explanation.explanation import Explanation
from pytest_rankcheck.remedies import Place, Remedy, joined, merge
from pytest_rankcheck.reports.text.behaviour_text import changes_text, stability_facts
from pytest_rankcheck.reports.text.wording import golden_name, means_change, number_text

_OF_WORLD = (*OF_GATES, Block.INCOMPARABLE, Block.FOREIGN, Block.REPLACED, Block.UNCOUNTED)
"""The blocks that may come from what was ranked with."""
_NOT_KEPT = (
    *(Block.NO_RECORD, Block.METRIC_ADDED, Block.STALE),
    *(Block.DELETED, Block.UNAPPROVED, Block.BEHIND, Block.RETIRED),
)
"""The blocks for which it does not matter whether the baseline was changed."""
_START = {
    Block.REFUSED: "update refused: ",
    Block.LOOSENED: "this passes only with a looser gate: ",
}
"""What comes before the words of a gate."""

_INCOMPARABLE = "{what} cannot be compared with {its} baseline"
_HEADLINES: Mapping[Block, str] = {
    Block.NO_RECORD: "{subject} has no baseline on {where}; it is {now} now",
    Block.METRIC_ADDED: "{subject} is not in the baseline, which has {metrics}; it is {now} now",
    Block.INCOMPARABLE: _INCOMPARABLE,
    Block.FOREIGN: _INCOMPARABLE,
    Block.STALE: "{subject}: {where} changed, so its baseline is stale",
    Block.REPLACED: "{subject}: too many queries of {where} were removed or edited",
    Block.RELABELLED: "{subject}: the labels of too many queries of {where} moved",
    Block.UNCOUNTED: "{subject} on {where} has lost too many values: {lost}",
    Block.FAILED: "the ranker failed on {failed} of {where}; the baseline allows {allowed}",
    Block.DELETED: "{what}: this branch has deleted {its} baseline",
    Block.BEHIND: "{what}: the reference has changed {its} baseline since this branch diverged",
    Block.RETIRED: "{what}: {its} baseline is retired, but the test runs",
    Block.UNAPPROVED: "{what}: this branch changes {its} baseline without a reason",
}
"""Why a check fails if no verdict explains it."""
_OF_RANKINGS: Mapping[Block, str] = {
    Block.NO_RECORD: "{what} have no baseline",
    Block.STALE: "{where} changed, so the baseline of its rankings is stale",
    Block.REFUSED: "update refused: {what} differ from the baseline",
    Block.LOOSENED: "{what} pass only with limits other than those of the baseline",
}
"""The same for rankings, where the words differ."""


def record_words(
    failing: Sequence[tuple[MetricCheck, Block]], of: int, evaluation: Evaluation, place: Place
) -> Mapping[str, Any]:
    """Return what an explanation says about the record, as its fields.

    Args:
        failing: the checks of metrics that fail their assertion, and why each fails.
        of: how many metrics the assertion has.
        evaluation: what was measured.
        place: where the record is, and the commands that are about it.
    """
    headlines = [_headline(c, b, evaluation) for c, b in failing if not is_of_gate(c, b)]
    headline, remarks = "", []
    if len(failing) > 1 and headlines:
        headline = f"{len(failing)} of {of} metrics failed on {golden_name(evaluation)}"
        remarks = headlines
    elif headlines:
        headline = headlines[0] if of == 1 else f"1 of {of} metrics failed: {headlines[0]}"
    starts = {_START.get(block, "") for check, block in failing if is_of_gate(check, block)}
    remarks += [line for check, block in failing for line in _details(check, block)]
    remarks += _world(failing)
    remarks += [line for check, block in failing for line in _what_to_do(check, block, place)]
    remedies = [each for each in (remedy_of(*failed, place) for failed in failing) if each]
    return {
        "headline": headline,
        "before_headline": starts.pop() if len(starts) == 1 else "",
        "remarks": tuple(dict.fromkeys(remarks)),
        "remedies": tuple(joined(remedies)),
    }


def is_of_gate(check: Check, block: Block) -> bool:
    """Return whether a verdict explains why a check fails."""
    if not isinstance(check, MetricCheck) or block not in OF_GATES:
        return False
    return bool(check.blocking and check.comparison)


def blocked_rankings(
    check: RankingCheck, block: Block, evaluation: Evaluation, place: Place
) -> Explanation:
    """Return why a check of rankings fails its test."""
    remedy = remedy_of(check, block, place)
    differing: Mapping[str, Any] = {}
    facts = [*_details(check, block)]
    if check.stability and check.comparison and block in OF_GATES:
        broken = (each for each in (check.stability, *check.strict) if each.is_broken)
        stability = next(broken, check.stability)
        facts += stability_facts(stability)
        differing = changed_rankings(evaluation.golden, stability)
    return explained_state(
        evaluation,
        of=0,
        headline=_headline(check, block, evaluation),
        facts=(*facts, *_world([(check, block)])),
        remarks=(*_what_to_do(check, block, place),),
        remedies=(remedy,) if remedy else (),
        **differing,
    )


def dropped_gates(why: str, place: Place) -> Explanation:
    """Return why a test fails that dropped gates although its assertions passed."""
    remarks = (*_what_to_do(None, Block.REFUSED, place),)
    return Explanation(headline=why, remarks=remarks, remedies=(place.approve(),))


def _what_to_do(check: Check | None, block: Block, place: Place) -> Iterator[str]:
    """Yield where the baseline is, and what to do besides a command."""
    if block is Block.REFUSED:
        yield "a baseline is never lowered without a written reason"
    where = "expected" if block is Block.NO_RECORD else "baseline"
    if check is not None and check.is_of_branch:
        place = replace(place, is_there=False)
    state = "" if block in _NOT_KEPT or place.is_there else " (unchanged)"
    state = " (if you have it, commit it)" if block is Block.NO_RECORD else state
    yield f"{where}: {place}{state}"
    if block is Block.INCONCLUSIVE:
        yield (
            "judge more queries, widen the margin, or set rankcheck_inconclusive to warn and "
            "approve that"
        )


def remedy_of(check: Check, block: Block, place: Place) -> Remedy | None:
    """Return the command that fixes a block or shows the next step; None if there is none."""
    kinds = {key.kind for key in check.problems}
    verb = block.verb
    if place.reference is not None and (verb is Verb.MERGE or "behind" in kinds):
        return merge(place.reference)
    has_changed = any(change.loss != 0 for change in check.undecided)
    if block is Block.INCONCLUSIVE and not _is_looser_word(check) and not has_changed:
        return None  # nothing changed, so nothing needs approval
    if block is Block.UNAPPROVED and not _own_problems(check):
        return None  # the check with the problems says what to do
    if verb is Verb.UPDATE:
        return place.update(block.purpose)
    # An update keeps the approved values of everything else that differs.
    if verb is Verb.RESTORE and not (block is Block.UNAPPROVED and "metric-gone" in kinds):
        return place.restore()
    return place.approve(block.purpose)


def _own_problems(check: Check) -> Sequence[Change]:
    """Return the broken promises, except those about other metrics."""
    problems = (each for each in check.problems if each.kind != "behind")
    return [each for each in problems if not each.is_of_metric or each.subject == check.subject]


def _is_looser_word(check: Check) -> bool:
    """Whether only the baseline makes an inconclusive verdict a failure."""
    return isinstance(check, MetricCheck) and check.gate.inconclusive != "fail"


def _headline(check: Check, block: Block, evaluation: Evaluation) -> str:
    """Return why a check fails if no verdict explains it."""
    where, changes = golden_name(evaluation), check.changes(block)
    queries = plural(len(evaluation.query_ids), "query", "queries")
    words = _HEADLINES.get(block, "{what} differ from the baseline")
    what, its, now = f"{check.subject} on {where}", "its", ""
    if isinstance(check, MetricCheck):
        now = number_text(evaluation.mean(check.metric))
    else:
        words = _OF_RANKINGS.get(block, words)
        what, its = f"{what} ({queries})", "their"
    return words.format(
        subject=check.subject,
        where=where,
        what=what,
        its=its,
        now=now,
        metrics=", ".join(check.record.metrics if check.record else ()),
        lost="; ".join(change.text for change in changes),
        failed=f"{len(evaluation.failed):,} of {queries}",
        allowed=next((change.before for change in changes), None),
    )


def _details(check: Check, block: Block) -> Iterator[str]:
    """Yield the measurements that matter for a block."""
    yield from _of_block(check, block)
    if block in OF_GATES:
        yield from (f"baseline of this branch: {problem.text}" for problem in check.problems)
    yield from _changed_queries(check)
    if block in (Block.STALE, Block.REPLACED):
        yield from _on_unchanged(check)


def _of_block(check: Check, block: Block) -> Iterator[str]:
    """Yield what is specific to a block."""
    match block:
        case Block.INCOMPARABLE | Block.FOREIGN:
            others = (*check.changes(Block.INCOMPARABLE), *check.changes(Block.FOREIGN))
            yield from (change.text for change in others)
            if isinstance(check, MetricCheck) and check.metric.kind.depends_on and check.record:
                then = number_text(check.record.mean(check.metric))
                yield f"{check.subject} was {then} on what was measured then"
        case Block.REPLACED | Block.RELABELLED:
            for lost in check.changes(block):
                yield f"{lost.text}; up to {LOSS_SHARE:.0%} need no reason"
        case Block.FAILED if check.comparison:
            failed = check.comparison.evaluation.failed
            yield listed([f"{each} ({quoted(why, 60)})" for each, why in failed.items()])
        case Block.AS_RECORDED:
            yield (
                "decided with the metrics, slices, labels and replicates of the baseline, "
                "whatever was changed since"
            )
        case Block.UNAPPROVED | Block.BEHIND:
            yield from (problem.text for problem in _own_problems(check))
        case Block.LOOSENED:
            recorded: list[object] = []
            if isinstance(check, MetricCheck) and check.record is not None:
                recorded = [quoted(check.record.gate(check.metric), 200)]
            if isinstance(check, RankingCheck):
                recorded = [strict.limits for strict in check.strict]
            yield from (f"the baseline was approved under {each}" for each in recorded)


def _world(failing: Sequence[tuple[Check, Block]]) -> Iterator[str]:
    """Yield the changes of the declared world, unless they are among the causes of a fall."""
    world = next((check.world for check, block in failing if block in _OF_WORLD), None)
    if world == ():
        yield "world: nothing that is declared has changed since the baseline"
    if not any(is_of_gate(*each) for each in failing):
        yield from (f"world: {line}" for line in world or ())


def _changed_queries(check: Check) -> Iterator[str]:
    """Yield how the queries of the golden set differ from those of the record."""
    comparison = check.comparison
    if comparison is None:
        return
    if isinstance(check, MetricCheck):
        yield from slice_changes(check.record, check.attributes, comparison)
    if not comparison.is_paired:
        return  # every log has its own sessions
    for kind in ("changed", "added", "removed"):
        query_ids: Sequence[str] = getattr(comparison, kind)
        if query_ids:
            count = plural(len(query_ids), "query", "queries")
            yield f"{count} {kind} since the baseline: {listed(query_ids)}"


def _on_unchanged(check: Check) -> Iterator[str]:
    """Yield what was measured on the unchanged queries, if there are any."""
    if isinstance(check, MetricCheck) and check.verdict is not None:
        pairs = check.verdict.overall.pairs
        unchanged = check.metric.kind.counted(len(pairs.query_ids), "unchanged ")
        means = means_change(pairs.mean_before, pairs.mean_after)
        yield f"on the {unchanged}: {check.metric} {means}"
    if isinstance(check, RankingCheck) and check.stability is not None:
        yield f"on the unchanged queries: {changes_text(check.stability)}"
