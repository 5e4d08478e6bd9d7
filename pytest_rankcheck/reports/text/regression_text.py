"""The text of a verdict: what fell, the evidence, the slices, the worst queries, the documents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pytest_rankcheck.comparison.compared_values import SIDES, ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison, Move
from pytest_rankcheck.comparison.unpaired_values import Unpaired
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.verdict import Decision, Gap, Outcome, Verdict
from pytest_rankcheck.remedies import Remedy
from pytest_rankcheck.reports.failure import Failure, ValueLine
from pytest_rankcheck.reports.text.evidence_text import evidence_lines, noise_lines, p_text
from pytest_rankcheck.reports.text.explanation_text import (
    group_headline,
    group_lines,
    mix_lines,
    open_reason,
    replay_lines,
    unjudged_lines,
)
from pytest_rankcheck.reports.text.wording import (
    caveat_lines,
    documents_once,
    golden_name,
    means_change,
    move_text,
    number_text,
    packed,
    query_in,
    whole_interval,
)

_WORST_QUERIES = 5
_DOCUMENTS = 4
_NEWCOMERS = 3
_TOP = 10


def regression_lines(verdict: Verdict, comparison: Comparison) -> Iterator[str]:
    """Yield the whole text of a verdict; the first line is the headline."""
    leading = verdict.leading
    yield _headline(verdict, leading, comparison.evaluation)
    pairs = leading.pairs
    if single := verdict.metric.kind.single:
        yield f"  {single}{whole_interval(comparison.evaluation, verdict.metric)}"
    else:
        counts = f"  {counts_text(pairs)}"
        yield ValueLine(counts) if pairs.is_paired else counts
    yield from caveat_lines(comparison.evaluation)
    if verdict.groups is not None:
        yield from (f"  {line}" for line in group_lines(verdict.groups))
    yield from (f"  {line}" for line in mix_lines(verdict))
    yield from evidence_lines(verdict, pairs)
    if pairs.noise is not None:
        yield from noise_lines(comparison)
    if verdict.replay is not None:
        yield from (f"  {line}" for line in replay_lines(verdict.replay))
    if leading is not verdict.overall:
        overall = verdict.overall.pairs
        everything = verdict.metric.kind.counted(len(overall.query_ids))
        mix = verdict.standardised_by
        where = "" if mix is None else f", at the baseline's mix of {quoted(mix, 60)}"
        yield f"  all {everything}{where}: {means_text(overall)}"
    yield from _slices(verdict)
    if verdict.query_drops:
        yield f"  {_drops(verdict)}"
    if verdict.lost_answers is not None and verdict.lost_answers.blocks:
        yield f"  {verdict.lost_answers.text}"
    yield from map(ValueLine, _worst_queries(pairs, comparison))
    if comparison.evaluation.source.unmet_ids is None:
        unjudged = comparison.unjudged_in(pairs)
        yield from unjudged_lines(unjudged)


def regression_failure(
    verdict: Verdict, lines: Sequence[str], remedy: Remedy | None = None
) -> Failure:
    """Return the failure of a verdict with the lines of its text."""
    pairs = verdict.leading.pairs
    worst = [pairs.query_ids[place] for place in pairs.worst(_WORST_QUERIES)]
    return Failure(lines, verdict.leading.label, worst, remedy)


def _headline(verdict: Verdict, leading: Decision, evaluation: Evaluation) -> str:
    means, why = means_text(leading.pairs), _why(verdict, leading)
    if verdict.groups is not None:
        return group_headline(verdict, leading, means, why)
    queries = verdict.metric.kind.counted(len(leading.pairs.query_ids))
    where = f"{golden_name(evaluation)} ({queries})"
    if leading.outcome is Outcome.REGRESSED:
        word = "regressed"
    elif verdict.replay is not None and verdict.replay.leaves_open:
        word = "is inconclusive"
    elif verdict.lost_answers is not None and verdict.lost_answers.blocks:
        return f"{verdict.lost_answers.text} on {where}; {verdict.metric} {means}"
    elif verdict.query_drops:
        return f"{verdict.metric} of {_drops(verdict)} on {where}: {means}"
    elif verdict.wide_gaps:
        gap = _gap_text(verdict, verdict.wide_gaps[0])
        return f"{verdict.metric}: {gap}; {leading.label} of {where}"
    else:
        is_open = leading.outcome is Outcome.INCONCLUSIVE
        word = "is inconclusive" if is_open else "is lower"
    place = f"in {quoted(leading.label)} of" if leading.label else "on"
    return f"{verdict.metric} {word} {place} {where}: {means}; {why}"


def _drops(verdict: Verdict) -> str:
    count = plural(len(verdict.query_drops), "query", "queries")
    return f"{count} fell by more than max_query_drop={verdict.max_query_drop:g}"


def _why(verdict: Verdict, decision: Decision) -> str:
    """Return what a fall was held against: an allowance, chance, or a margin.

    A rule with a test also allows what chance explains, whatever fixed fall it allows.
    """
    if verdict.replay is not None and verdict.replay.leaves_open:
        return open_reason(verdict.replay)
    fall = f"{decision.allowed:.4f}"
    ideal = verdict.metric.definition.ideal
    if math.isnan(decision.p) and ideal is not None:
        return f"allowed {fall if decision.allowed else 'no move'} away from {ideal:g}"
    if math.isnan(decision.p):
        sign = "-" if verdict.metric.higher_is_better else "+"
        return f"allowed {sign}{fall}" if decision.allowed else "allowed no fall"
    if decision.outcome is Outcome.INCONCLUSIVE:
        return f"a fall of {fall} is neither ruled out nor shown"
    is_shown = decision.p <= verdict.alpha
    chance = f"{'more than' if is_shown else 'no more than'} chance explains"
    if verdict.margin is not None:
        is_out = "not ruled out" if decision.outcome is Outcome.REGRESSED else "ruled out"
        chance += f", and a fall of {fall} is {is_out}"
    elif decision.allowed and is_shown:
        beyond = "beyond" if decision.outcome is Outcome.REGRESSED else "within"
        chance += f", {beyond} the allowed fall of {fall}"
    return f"{chance} (p {p_text(decision.p)}, alpha {verdict.alpha:g})"


def _gap_text(verdict: Verdict, gap: Gap) -> str:
    low, high = quoted(gap.lowest.label), quoted(gap.highest.label)
    was = f" ({gap.before:.4f} apart in the baseline)"
    return f"{low} and {high} are {gap.now:.4f} apart{was}, allowed {verdict.max_gap:.4f}"


def means_text(pairs: ComparedValues) -> str:
    """Return ``0.4312 -> 0.4120, -0.0192``."""
    return means_change(pairs.mean_before, pairs.mean_after)


def counts_text(pairs: ComparedValues) -> str:
    """Return ``38 queries worse, 21 better, 166 equal``; for two samples, their sizes."""
    if not pairs.is_paired:
        before = pairs.metric.kind.counted(len(pairs.before))
        sides = pairs.sides if isinstance(pairs, Unpaired) else SIDES
        then, now = quoted(sides.before), quoted(sides.now)
        return (
            f"{before} {then}, {len(pairs.after):,} {now}: different sessions, so compared as two "
            "samples"
        )
    worse = pairs.metric.kind.counted(pairs.losses)
    return f"{worse} worse, {pairs.wins:,} better, {pairs.ties:,} equal"


def _slices(verdict: Verdict) -> Iterator[str]:
    if not verdict.slices:
        return
    yield ValueLine("  slices, worst first")
    for gap in verdict.wide_gaps:
        yield f"    {_gap_text(verdict, gap)}"
    for decision in sorted(
        verdict.slices, key=lambda part: (part.outcome is not Outcome.REGRESSED, part.pairs.gain)
    ):
        remark = ""
        if decision.outcome is Outcome.NOT_GATED:
            remark = f", fewer than {verdict.min_queries}: not gated"
        elif decision.futility:
            remark = ", untested"
        elif decision.outcome is Outcome.INCONCLUSIVE:
            remark = ", inconclusive"
        elif decision.outcome is Outcome.REGRESSED:
            remark = f", regressed, {_why(verdict, decision)}"
        queries = verdict.metric.kind.counted(len(decision.pairs.query_ids))
        means = means_text(decision.pairs)
        yield ValueLine(f"    {quoted(decision.label)}  {means} ({queries}{remark})")


def _worst_queries(pairs: ComparedValues, comparison: Comparison) -> Iterator[str]:
    places = pairs.worst(_WORST_QUERIES)
    if not places:
        return
    yield f"  worst {pairs.metric.kind.plural}"
    evaluation = comparison.evaluation
    for place in places:
        query_id, sides = pairs.query_ids[place], (pairs.before[place], pairs.after[place])
        before, after = (number_text(float(value), 3) for value in sides)
        yield f"    {query_in(evaluation.golden, query_id)}   {before} -> {after}"
        moves = _explaining(comparison.moved(query_id, _TOP))
        lines = packed((move_text(evaluation, move) for move in moves), indent="      ")
        yield from documents_once(
            evaluation.golden.name, query_id, evaluation.ranking(query_id), lines
        )
    hidden = pairs.losses - len(places)
    if hidden > 0:
        are = "is" if hidden == 1 else "are"
        yield f"    and {pairs.metric.kind.counted(hidden, 'more ')} that {are} worse"


def _explaining(moves: Sequence[Move]) -> list[Move]:
    """Return the moves that explain a loss: relevant documents, then what replaced them.

    When a document falls by five ranks, four others rise by one; they are left out.
    """
    relevant = [move for move in moves if (move.grade or 0) > 0][:_DOCUMENTS]
    places = {move.before for move in relevant}
    irrelevant = (move for move in moves if (move.grade or 0) <= 0 and move.after is not None)
    came = [move for move in irrelevant if move.entered or move.after in places]
    return relevant + came[:_NEWCOMERS]
