"""The text of a failing assertion: what fell, where, for which queries, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.baselines.blocks import Block
from pytest_rankcheck.baselines.metric_check import Check
from pytest_rankcheck.baselines.query_losses import set_changes
from pytest_rankcheck.baselines.slice_changes import slice_changes
from pytest_rankcheck.baselines.update_policy import Settlement
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.reports.text.baseline_text import slice_change_text, world_lines
from pytest_rankcheck.reports.text.regression_text import (
    counts_text,
    labelled,
    means_text,
    regression_lines,
)
from pytest_rankcheck.reports.text.slide_text import slide_headline, slide_lines, slide_off_text
from pytest_rankcheck.reports.text.wording import (
    change,
    counted,
    golden_name,
    number_text,
)

__all__ = ["blocked_text", "refused_text", "regression_text"]

_APPROVALS = 5
_RETIRE = "python -m pytest_rankcheck retire"


def blocked_text(
    check: Check, block: Block, evaluation: Evaluation, test_id: str, path: str
) -> str:
    """Return why a check against a baseline fails its test, and what to do.

    Args:
        check: the check.
        block: why it fails.
        evaluation: what was measured.
        test_id: the test as a command line names it, with the options that select what is measured.
        path: the baseline file.
    """
    return "\n".join(_BLOCKS[block](check, evaluation, test_id, path))


def regression_text(verdict: Verdict, comparison: Comparison) -> str:
    """Return the text of a verdict on two evaluations, without a baseline file."""
    return "\n".join(regression_lines(verdict, comparison))


def refused_text(settlement: Settlement, test_id: str, path: str, *, is_update: bool) -> str:
    """Return why a test whose assertions all passed fails: its baseline would lose something."""
    return "\n".join(
        (
            f"update refused: {settlement.why}" if is_update else settlement.why,
            *(
                f"  {labelled(str(metric), decision)} {means_text(decision.pairs)}"
                for metric, decision in settlement.fell
            ),
            "  a baseline is never lowered or replaced without a written reason",
            f"  baseline: {path} (unchanged)",
            _how_to_approve(test_id),
        )
    )


def _no_record(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    now = number_text(evaluation.mean(check.metric))
    yield f"{check.metric} has no baseline on {golden_name(evaluation)}; it is {now} now"
    yield f"  expected: {path}"
    yield f"  to create it: {_command(test_id, '--snapshot-update')}, then commit the file"


def _metric_added(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    record = check.record
    names = ", ".join(record.metrics) if record else ""
    now = number_text(evaluation.mean(check.metric))
    yield f"{check.metric} is not in the baseline, which has {names}; it is {now} now"
    yield f"  baseline: {path}"
    yield f"  to add it: {_command(test_id, '--snapshot-update')}, then commit the file"


def _not_comparable(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    yield f"{check.metric} on {golden_name(evaluation)} cannot be compared with its baseline"
    yield from (f"  {difference}" for difference in check.differences)
    yield f"  baseline: {path} (unchanged)"
    yield "  to keep the baseline: measure the way the baseline was measured"
    yield _how_to_approve(test_id, "to record anew")


def _stale(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    yield f"{check.metric}: {golden_name(evaluation)} changed, so its baseline is stale"
    yield from _staleness(check)
    yield from _on_unchanged(check)
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


def _slide(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    assert check.verdict is not None
    queries = counted(len(check.verdict.overall.pairs.query_ids), check.metric.unit)
    where = f"{golden_name(evaluation)} ({queries})"
    yield f"{check.metric} has slid on {where}: {slide_headline(check)}"
    yield "  each change passed its gate, but together they fall by more than noise"
    yield from (f"  {line}" for line in slide_lines(check))
    lines = _measured(check)
    yield f"  all changes together: {next(lines)}"
    yield from lines
    yield f"  baseline: {path} (unchanged)"
    yield "  to keep the baseline: find the changes that fell, and repair or revert them"
    yield _how_to_approve(test_id)


def _slide_unknown(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    assert check.slide is not None
    yield f"{check.metric} may have slid on {golden_name(evaluation)}: the guard cannot decide"
    yield f"  {slide_off_text(check.slide.why_unknown)}"
    lines = _measured(check)
    yield f"  this change: {next(lines)}"
    yield from lines
    yield f"  baseline: {path} (unchanged)"
    yield _how_to_approve(test_id)


def _refused(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    lines = _measured(check)
    yield f"update refused: {next(lines)}"
    yield from lines
    yield "  a baseline is never lowered without a written reason"
    yield f"  baseline: {path} (unchanged)"
    yield _how_to_approve(test_id)


def _budget(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    lines = _measured(check)
    yield f"approval refused: {next(lines)}"
    worse = f"{check.metric} would be {check.below_best:.4f} worse than {number_text(check.best)}"
    yield f"  with it, {worse}, the best ever approved: more than rankcheck_leak_budget allows"
    for approval in (check.record.approvals if check.record else ())[-_APPROVALS:]:
        fall = approval.fall.get(str(check.metric))
        if fall:
            means = f"{number_text(fall['from'])} -> {number_text(fall['to'])}"
            yield f'    {approval.date[:10]}  {means}  "{quoted(approval.reason)}"'
    yield from lines
    yield f"  baseline: {path} (unchanged)"
    yield "  to approve it anyway, say in the reason that the budget is spent:"
    reason = '"why this is acceptable; leak budget spent"'
    yield f"    {_command(test_id, '--snapshot-update', '--rankcheck-approve', reason)}"


def _replaced(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    yield f"update refused: too many queries of {golden_name(evaluation)} were removed or edited"
    yield f"  {check.replaced}"
    yield from _staleness(check)
    yield from _on_unchanged(check)
    yield f"  baseline: {path} (unchanged)"
    yield _how_to_approve(test_id, "if the golden set had to change this much")


def _uncounted(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    where = golden_name(evaluation)
    yield f"{check.metric} on {where} has lost too many values: {check.uncounted}"
    yield "  values that are missing do not lower a mean, so the mean alone would not show this"
    yield from _staleness(check)
    yield from world_lines(check.world)
    yield f"  baseline: {path} (unchanged)"
    yield "  to keep the baseline: find out why these have no value, or count them as misses"
    yield _how_to_approve(test_id)


def _deleted(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    yield f"{check.metric} on {golden_name(evaluation)}: this branch has deleted its baseline"
    file, _, reference = path.partition(" at ")
    yield f"  baseline: {path}"
    yield f"  to restore it: git checkout {reference} -- {file}"
    yield f'  if it is no longer needed: {_RETIRE} {file} --reason "why"'


def _unapproved(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    where = golden_name(evaluation)
    yield f"{check.metric} on {where}: this branch changes the baseline without a reason"
    yield from (f"  {problem}" for problem in check.problems)
    yield from _staleness(check)
    file, _, reference = path.partition(" at ")
    yield f"  baseline: {path}"
    yield f"  to restore it: git checkout {reference} -- {file}, then update again"
    yield _how_to_approve(test_id)


def _loosened(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    lines = _measured(check)
    yield f"this passes only with a looser gate: {next(lines)}"
    if check.record is not None:
        approved = check.record.kept[str(check.metric)].gate
        yield f"  the baseline was approved under {quoted(approved, 200)}"
    yield from lines
    yield f"  baseline: {path} (unchanged)"
    yield _how_to_approve(test_id, "to approve the looser gate")


def _suspicious(check: Check, evaluation: Evaluation, test_id: str, path: str) -> Iterator[str]:
    assert check.verdict is not None
    pairs = check.verdict.overall.pairs
    queries = counted(len(pairs.query_ids), check.metric.unit)
    where = f"{golden_name(evaluation)} ({queries})"
    yield (
        f"{check.metric} on {where} is too good: {means_text(pairs)}; "
        "judgments may have leaked into the model"
    )
    yield from (f"  {suspicion}" for suspicion in check.suspicions)
    yield f"  {counts_text(pairs)}"
    yield from world_lines(check.world)
    yield f"  baseline: {path} (unchanged)"
    yield "  check whether training data, features or prompts contain this golden set"
    yield _how_to_approve(test_id, "if they do not")


def _unapplied_approval(
    check: Check, evaluation: Evaluation, test_id: str, path: str
) -> Iterator[str]:
    lines = _measured(check)
    yield f"nothing was approved: {next(lines)}"
    yield from lines
    yield "  --rankcheck-approve takes effect only together with --snapshot-update"
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
    Block.SLIDE: _slide,
    Block.SLIDE_UNKNOWN: _slide_unknown,
    Block.REFUSED: _refused,
    Block.UNAPPLIED_APPROVAL: _unapplied_approval,
    Block.BUDGET: _budget,
    Block.REPLACED: _replaced,
    Block.UNCOUNTED: _uncounted,
    Block.DELETED: _deleted,
    Block.UNAPPROVED: _unapproved,
    Block.LOOSENED: _loosened,
    Block.SUSPICIOUS: _suspicious,
}


def _measured(check: Check) -> Iterator[str]:
    """Yield the comparison of a check that has one: headline first, then the details."""
    assert check.verdict is not None
    assert check.comparison is not None
    lines = regression_lines(check.verdict, check.comparison)
    yield next(lines)
    yield from (f"  baseline of this branch: {problem}" for problem in check.problems)
    yield from _staleness(check)
    yield from lines
    yield from world_lines(check.world)


def _staleness(check: Check) -> Iterator[str]:
    """Yield how the queries of the golden set differ from those of the record."""
    comparison = check.comparison
    if comparison is None:
        return
    for slice_change in slice_changes(check, comparison.evaluation.golden):
        yield f"  {slice_change_text(slice_change)}"
    if not comparison.is_paired:
        return  # every log has its own sessions
    for kind, query_ids in (
        ("changed", comparison.changed),
        ("added", comparison.added),
        ("removed", comparison.removed),
    ):
        if query_ids:
            count = plural(len(query_ids), "query", "queries")
            yield f"  {count} {kind} since the baseline: {listed(query_ids)}"
    if check.record is not None and str(check.metric) in check.record.metrics:
        moved = set_changes(check.record, comparison).get(str(check.metric))
        if moved is not None and check.verdict is not None:
            yield f"  the changed queries alone move the mean by {change(moved)}"


def _on_unchanged(check: Check) -> Iterator[str]:
    """Yield the means on the unchanged queries, if there are any."""
    if check.verdict is not None:
        pairs = check.verdict.overall.pairs
        unchanged = counted(len(pairs.query_ids), check.metric.unit, "unchanged ")
        yield f"  on the {unchanged}: {means_text(pairs)}"


def _command(test_id: str, *arguments: str) -> str:
    return " ".join(["pytest", test_id, *arguments])


def _how_to_approve(test_id: str, purpose: str = "to approve") -> str:
    reason = '"why this is acceptable"'
    return f"  {purpose}: {_command(test_id, '--snapshot-update', '--rankcheck-approve', reason)}"
