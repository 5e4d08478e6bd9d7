"""The first line of a verdict: what fell, by how much, and what that was compared with."""

from __future__ import annotations

import math

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.explanation.gate_numbers import Decided, GapNumbers, GateNumbers
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.reports.text.evidence_text import fall_word, fell_word, open_reason, p_text
from pytest_rankcheck.reports.text.wording import means_change


def verdict_headline(verdict: GateNumbers, where: str) -> str:
    """Return the first line of a verdict.

    Args:
        verdict: what a gate decided.
        where: what was measured on, as messages name it.
    """
    leading = verdict.leading
    means, why = means_change(leading.before, leading.now), _why(verdict, leading)
    if verdict.groups is not None:
        return _group_headline(verdict, leading, means, why)
    queries = verdict.metric.kind.counted(leading.queries)
    where = f"{where} ({queries})"
    if leading.outcome == Outcome.REGRESSED:
        word = "regressed"
    elif verdict.replay is not None and verdict.replay.leaves_open:
        word = "is inconclusive"
    elif verdict.lost_answers is not None and starts_with_lost_answers(verdict):
        return f"{verdict.lost_answers.text} on {where}; {verdict.metric} {means}"
    elif verdict.query_drops:
        return f"{verdict.metric} of {query_drops_text(verdict)} on {where}: {means}"
    elif verdict.wide_gap is not None:
        gap = gap_text(verdict.wide_gap, verdict.max_gap)
        return f"{verdict.metric}: {gap}; {leading.label} of {where}"
    else:
        is_open = leading.outcome == Outcome.INCONCLUSIVE
        worse = "is lower" if verdict.metric.higher_is_better else "is higher"
        word = "is inconclusive" if is_open else worse
    place = f"in {quoted(leading.label)} of" if leading.label else "on"
    return f"{verdict.metric} {word} {place} {where}: {means}; {why}"


def starts_with_lost_answers(verdict: GateNumbers) -> bool:
    """Return whether the first line of a verdict is about queries that lost their answers."""
    lost, replay = verdict.lost_answers, verdict.replay
    is_other = verdict.leading.outcome == Outcome.REGRESSED or (replay and replay.leaves_open)
    return lost is not None and lost.blocks and not is_other


def query_drops_text(verdict: GateNumbers) -> str:
    """Return how many queries fell by more than the gate allows."""
    count = plural(len(verdict.query_drops), "query", "queries")
    fell = fell_word(verdict.metric)
    return f"{count} {fell} by more than max_query_drop={verdict.max_query_drop:g}"


def _why(verdict: GateNumbers, decision: Decided) -> str:
    """Return what a fall was compared with: an allowance, chance, or a margin.

    A rule with a test also allows what chance explains, beyond any fixed allowance.
    """
    if verdict.replay is not None and verdict.replay.leaves_open:
        return open_reason(verdict.replay)
    fall, kind = f"{decision.allowed:.4f}", fall_word(verdict.metric)
    ideal = verdict.metric.definition.ideal
    if math.isnan(decision.p) and ideal is not None:
        return f"allowed {fall if decision.allowed else 'no move'} away from {ideal:g}"
    if math.isnan(decision.p):
        sign = "-" if verdict.metric.higher_is_better else "+"
        return f"allowed {sign}{fall}" if decision.allowed else f"allowed no {kind}"
    if decision.outcome == Outcome.INCONCLUSIVE:
        return f"a {kind} of {fall} is neither ruled out nor shown"
    is_shown = decision.p <= verdict.alpha
    chance = f"{'more than' if is_shown else 'no more than'} chance explains"
    if verdict.margin is not None:
        is_out = "not ruled out" if decision.outcome == Outcome.REGRESSED else "ruled out"
        chance += f", and a {kind} of {fall} is {is_out}"
    elif decision.allowed and is_shown:
        beyond = "beyond" if decision.outcome == Outcome.REGRESSED else "within"
        chance += f", {beyond} the allowed {kind} of {fall}"
    return f"{chance} (p {p_text(decision.p)}, alpha {verdict.alpha:g})"


def gap_text(gap: GapNumbers, allowed: float | None) -> str:
    """Return how far apart two slices are."""
    low, high = quoted(gap.lowest), quoted(gap.highest)
    was = f" ({gap.before:.4f} apart in the baseline)"
    return f"{low} and {high} are {gap.now:.4f} apart{was}, allowed {allowed:.4f}"


def _group_headline(verdict: GateNumbers, leading: Decided, means: str, why: str) -> str:
    """Return ``SuccessRate of group=B is worse than that of group=A on session log 'week': ...``.

    Args:
        verdict: a verdict on two groups.
        leading: the decision that it rests on.
        means: the means of both groups.
        why: what the difference was compared with.
    """
    groups = verdict.groups
    assert groups is not None
    other, tested = map(quoted, groups.names)
    log = f"on session log '{quoted(groups.log)}'"
    if groups.leaves_open:
        return (
            f"{verdict.metric} of {tested} cannot be compared with that of {other} {log}: the "
            f"groups do not have the planned sizes; {means}"
        )
    where = f" in {quoted(leading.label)}" if leading.label else ""
    word = "is inconclusive against" if verdict.outcome == Outcome.INCONCLUSIVE else "is worse than"
    return f"{verdict.metric} of {tested}{where} {word} that of {other} {log}: {means}; {why}"
