"""The text of a failing assertion: what fell, where, for which queries, and what to do."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from pytest_rankcheck.baselines.policy import Block, Check, Settlement, slice_changes
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.evaluation.comparison import Comparison, Move
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.paired import SLACK, Paired
from pytest_rankcheck.evaluation.unjudged import unjudged_in
from pytest_rankcheck.gates.verdict import Decision, Gap, Outcome, Verdict
from pytest_rankcheck.reports.evidence import evidence_lines
from pytest_rankcheck.reports.wording import (
    change,
    golden_name,
    move_text,
    number,
    packed,
    query_name,
)

__all__ = ["blocked_text", "refused_text", "regression_text"]

_WORST_QUERIES = 5
_DOCUMENTS = 4
_NEWCOMERS = 3
_TOP = 10
_APPROVALS = 5


def blocked_text(
    check: Check, block: Block, evaluation: Evaluation, test_id: str, path: str
) -> str:
    """Return why a check against a baseline fails its test, and what to do.

    Args:
        check: the check.
        block: why it fails.
        evaluation: what was measured.
        test_id: the test, for the commands that the text names.
        path: the baseline file.
    """
    return "\n".join(_BLOCKS[block](check, evaluation, test_id, path))


def regression_text(verdict: Verdict, comparison: Comparison) -> str:
    """Return what a verdict of two evaluations, without a baseline file, says."""
    return "\n".join(_regression(verdict, comparison))


def refused_text(settlement: Settlement, test_id: str, path: str) -> str:
    """Return why the update of a test whose assertions all passed is refused."""
    return "\n".join(
        (
            f"update refused: {settlement.why}",
            *(
                f"  {_labelled(str(metric), decision)} {_means(decision.pairs)}"
                for metric, decision in settlement.fell
            ),
            "  a baseline never falls, and never becomes another one, without a written reason",
            f"  baseline: {path} (unchanged)",
            _how_to_approve(test_id),
        )
    )


def _no_record(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    now = number(evaluation.mean(check.metric))
    yield f"{check.metric} has no baseline on {golden_name(evaluation)}; it is {now} now"
    yield f"  expected: {path}"
    yield f"  to create it: {_command(test_id, '--snapshot-update')}, then commit the file"


def _metric_added(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    record = check.record
    names = ", ".join(record.metrics) if record else ""
    now = number(evaluation.mean(check.metric))
    yield f"{check.metric} is not in the baseline, which has {names}; it is {now} now"
    yield f"  baseline: {path}"
    yield f"  to add it: {_command(test_id, '--snapshot-update')}, then commit the file"


def _not_comparable(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    yield f"{check.metric} on {golden_name(evaluation)} cannot be compared with its baseline"
    yield from (f"  {difference}" for difference in check.differences)
    yield f"  baseline: {path} (unchanged)"
    yield "  to keep the baseline: measure as it was measured"
    yield _how_to_approve(test_id, "to record anew")


def _stale(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    yield f"{check.metric}: {golden_name(evaluation)} changed, its baseline is stale"
    yield from _staleness(check)
    if check.verdict is not None:
        pairs = check.verdict.overall.pairs
        unchanged = plural(len(pairs.query_ids), "unchanged query", "unchanged queries")
        yield f"  on the {unchanged}: {_means(pairs)}"
    yield f"  baseline: {path}"
    command = _command(test_id, "--snapshot-update")
    yield f"  to record the new golden set: {command}, then commit the file"


def _regressed(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    yield from _measured(check)
    yield f"  baseline: {path} (unchanged)"
    yield _how_to_approve(test_id)


def _inconclusive(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    yield from _measured(check)
    yield f"  baseline: {path} (unchanged)"
    yield "  to let it pass: judge more queries, widen the margin, or rankcheck_inconclusive = warn"
    yield _how_to_approve(test_id)


def _refused(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    lines = _measured(check)
    yield f"update refused: {next(lines)}"
    yield from lines
    yield "  a baseline never falls without a written reason"
    yield f"  baseline: {path} (unchanged)"
    yield _how_to_approve(test_id)


def _budget(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    lines = _measured(check)
    yield f"approval refused: {next(lines)}"
    worse = f"{check.metric} would be {check.below_best:.4f} worse than {number(check.best)}"
    yield f"  with it, {worse}, the best that was ever approved: more than rankcheck_leak_budget"
    for approval in (check.record.approvals if check.record else ())[-_APPROVALS:]:
        fall = approval.fall.get(str(check.metric))
        if fall:
            means = f"{number(fall['from'])} -> {number(fall['to'])}"
            yield f'    {approval.date[:10]}  {means}  "{quoted(approval.reason)}"'
    yield from lines
    yield f"  baseline: {path} (unchanged)"
    yield "  to approve it all the same, say in the reason that the budget is spent:"
    reason = '"why this is acceptable; leak budget spent"'
    yield f"    {_command(test_id, '--snapshot-update', '--rankcheck-approve', reason)}"


def _suspicious(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    assert check.verdict is not None
    pairs = check.verdict.overall.pairs
    queries = plural(len(pairs.query_ids), "query", "queries")
    yield (
        f"{check.metric} on {golden_name(evaluation)} ({queries}) is too good: {_means(pairs)}; "
        "judgments may have leaked into the model"
    )
    yield from (f"  {suspicion}" for suspicion in check.suspicions)
    yield f"  {_counts(pairs)}"
    yield f"  baseline: {path} (unchanged)"
    yield "  look whether training data, features or prompts contain this golden set"
    yield _how_to_approve(test_id, "if they do not")


def _unapplied_approval(
    check: Check, evaluation: Evaluation, test_id: str, path: str
) -> Iterator[str]:
    lines = _measured(check)
    yield f"nothing was approved: {next(lines)}"
    yield from lines
    yield "  --rankcheck-approve takes effect together with --snapshot-update"
    yield f"  baseline: {path} (unchanged)"
    yield _how_to_approve(test_id)


_BLOCKS = {
    Block.NO_RECORD: _no_record,
    Block.METRIC_ADDED: _metric_added,
    Block.INCOMPARABLE: _not_comparable,
    Block.FOREIGN: _not_comparable,
    Block.STALE: _stale,
    Block.REGRESSED: _regressed,
    Block.INCONCLUSIVE: _inconclusive,
    Block.REFUSED: _refused,
    Block.UNAPPLIED_APPROVAL: _unapplied_approval,
    Block.BUDGET: _budget,
    Block.SUSPICIOUS: _suspicious,
}


def _measured(check: Check) -> Iterator[str]:
    """Yield the comparison of a check that has one: headline first, then the details."""
    assert check.verdict is not None
    assert check.comparison is not None
    lines = _regression(check.verdict, check.comparison)
    yield next(lines)
    yield from _staleness(check)
    yield from lines


def _regression(verdict: Verdict, comparison: Comparison) -> Iterator[str]:
    leading = _leading(verdict)
    yield _headline(verdict, leading, comparison.evaluation)
    pairs = leading.pairs
    yield f"  {_counts(pairs)}"
    yield from evidence_lines(verdict, pairs)
    if leading is not verdict.overall:
        overall = verdict.overall.pairs
        yield f"  all {plural(len(overall.query_ids), 'query', 'queries')}: {_means(overall)}"
    yield from _slices(verdict)
    if verdict.query_drops:
        count = plural(len(verdict.query_drops), "query", "queries")
        yield f"  {count} fell by more than max_query_drop={verdict.max_query_drop:g}"
    yield from _worst_queries(pairs, comparison)
    yield from _unjudged(verdict, leading, comparison)


def _leading(verdict: Verdict) -> Decision:
    """Return the decision that the text is about: all queries, or the slice that fell furthest."""
    if verdict.overall.outcome is Outcome.REGRESSED or verdict.query_drops:
        return verdict.overall
    if verdict.wide_gaps and not any(one.outcome is Outcome.REGRESSED for one in verdict.slices):
        gap = verdict.wide_gaps[0]
        return gap.lowest if verdict.metric.higher_is_better else gap.highest
    for outcome in (Outcome.REGRESSED, Outcome.INCONCLUSIVE, Outcome.LOWER):
        found = [decision for decision in verdict.slices if decision.outcome is outcome]
        if found and verdict.overall.outcome is not outcome:
            return min(found, key=lambda decision: decision.pairs.gain)
    return verdict.overall


def _headline(verdict: Verdict, leading: Decision, evaluation: Evaluation) -> str:
    queries = plural(len(leading.pairs.query_ids), "query", "queries")
    where = f"{golden_name(evaluation)} ({queries})"
    if leading.outcome is Outcome.REGRESSED:
        word = "regressed"
    elif verdict.query_drops:
        count = plural(len(verdict.query_drops), "query", "queries")
        limit = f"max_query_drop={verdict.max_query_drop:g}"
        means = _means(leading.pairs)
        return f"{verdict.metric} of {count} fell by more than {limit} on {where}: {means}"
    elif verdict.wide_gaps:
        gap = _gap_text(verdict.wide_gaps[0])
        return f"{verdict.metric}: {gap}, allowed {verdict.max_gap:.4f}; {leading.label} of {where}"
    elif leading.outcome is Outcome.INCONCLUSIVE:
        word = "cannot be told"
    else:
        word = "is lower"
    place = f"in {quoted(leading.label)} of" if leading.label else "on"
    sign = -1 if verdict.metric.higher_is_better else 1
    if leading.outcome is Outcome.INCONCLUSIVE:
        margin = f"a fall of {leading.allowed:.4f} is neither ruled out nor shown"
        return f"{verdict.metric} {word} {place} {where}: {_means(leading.pairs)}; {margin}"
    allowed = f"{sign * leading.allowed:+.4f}" if leading.allowed else "no fall"
    return f"{verdict.metric} {word} {place} {where}: {_means(leading.pairs)}; allowed {allowed}"


def _gap_text(gap: Gap) -> str:
    low, high = quoted(gap.lowest.label), quoted(gap.highest.label)
    was = f" (between these two {gap.before:.4f} in the baseline)"
    return f"{low} and {high} are {gap.now:.4f} apart{was}"


def _means(pairs: Paired) -> str:
    """Return ``0.4312 -> 0.4120, -0.0192``."""
    return f"{number(pairs.mean_before)} -> {number(pairs.mean_after)}, {change(pairs.difference)}"


def _counts(pairs: Paired) -> str:
    worse = plural(pairs.losses, "query", "queries")
    return f"{worse} worse, {pairs.wins:,} better, {pairs.ties:,} equal"


def _labelled(metric: str, decision: Decision) -> str:
    return f"{metric} in {quoted(decision.label)}" if decision.label else metric


def _slices(verdict: Verdict) -> Iterator[str]:
    if not verdict.slices:
        return
    yield "  slices, worst first"
    for gap in verdict.wide_gaps:
        yield f"    {_gap_text(gap)}, allowed {verdict.max_gap:.4f}"
    worst_first = sorted(
        verdict.slices, key=lambda d: (d.outcome is not Outcome.REGRESSED, d.pairs.gain)
    )
    for decision in worst_first:
        queries = plural(len(decision.pairs.query_ids), "query", "queries")
        remark = ""
        if decision.outcome is Outcome.NOT_GATED:
            remark = f", fewer than {verdict.min_queries}: not gated"
        elif decision.outcome is Outcome.INCONCLUSIVE:
            remark = ", inconclusive"
        elif decision.outcome is Outcome.REGRESSED:
            remark = f", regressed, allowed {decision.allowed:.4f}"
        yield f"    {quoted(decision.label)}  {_means(decision.pairs)} ({queries}{remark})"


def _worst_queries(pairs: Paired, comparison: Comparison) -> Iterator[str]:
    places = pairs.worst(_WORST_QUERIES)
    if not places:
        return
    yield "  worst queries"
    for place in places:
        query_id = pairs.query_ids[place]
        before, after = number(float(pairs.before[place]), 3), number(float(pairs.after[place]), 3)
        yield f"    {query_name(comparison.evaluation, query_id)}   {before} -> {after}"
        told = _telling(comparison.moved(query_id, _TOP))
        yield from packed(
            (move_text(comparison.evaluation, move) for move in told), indent="      "
        )
    hidden = pairs.losses - len(places)
    if hidden > 0:
        yield f"    and {plural(hidden, 'query', 'queries')} more that are worse"


def _telling(moves: Sequence[Move]) -> list[Move]:
    """Return the moves that explain a loss: relevant documents, then what came in their place.

    When a document falls by five ranks, four others rise by one; they are left out.
    """
    relevant = [move for move in moves if (move.grade or 0) > 0][:_DOCUMENTS]
    places = {move.before for move in relevant}
    others = (move for move in moves if (move.grade or 0) <= 0 and move.after is not None)
    came = [move for move in others if move.entered or move.after in places]
    return relevant + came[:_NEWCOMERS]


def _unjudged(verdict: Verdict, leading: Decision, comparison: Comparison) -> Iterator[str]:
    """Yield how much of the difference could be documents that nobody has judged."""
    pairs = leading.pairs
    found = unjudged_in(comparison, pairs)
    if not found.documents:
        return
    verb, all_of = ("is", "it") if found.documents == 1 else ("are", "all of them")
    yield (
        f"  {plural(found.documents, 'document')} new in the top {found.k} {verb} unjudged and "
        f"counted as not relevant; Judged@{found.k} {found.judged_before:.3f} -> "
        f"{found.judged_after:.3f}"
    )
    if verdict.metric.definition.foreign:
        return
    best = found.if_relevant if verdict.metric.higher_is_better else -found.if_relevant
    yield (
        f"    if {all_of} were irrelevant, the difference would be {change(found.if_irrelevant)}; "
        f"of grade {found.grade:g}, {change(found.if_relevant)}"
    )
    if pairs.gain < -SLACK and best >= -SLACK:
        yield "    so the whole fall could be unjudged documents: judge them before you decide"


def _staleness(check: Check) -> Iterator[str]:
    """Yield which queries of the golden set are not those of the record."""
    comparison = check.comparison
    if comparison is None:
        return
    yield from (f"  {text}" for text in slice_changes(check, comparison.evaluation.golden))
    for what, query_ids in (
        ("changed", comparison.changed),
        ("added", comparison.added),
        ("removed", comparison.removed),
    ):
        if query_ids:
            count = plural(len(query_ids), "query", "queries")
            yield f"  {count} {what} since the baseline: {listed(query_ids)}"


def _command(test_id: str, *arguments: str) -> str:
    return " ".join(["pytest", shlex.quote(test_id), *arguments])


def _how_to_approve(test_id: str, purpose: str = "to approve") -> str:
    reason = '"why this is acceptable"'
    return f"  {purpose}: {_command(test_id, '--snapshot-update', '--rankcheck-approve', reason)}"
