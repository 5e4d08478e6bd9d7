"""The first line of a verdict: what fell, by how much, and what that was compared with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum, auto

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.explanation.gate_numbers import Decided, GateNumbers
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.reports.text.evidence_text import fall_word, fell_word, open_reason, p_text
from pytest_rankcheck.reports.text.wording import means_change


class Limit(Enum):
    """A limit of a gate that is not about means, in the order of importance."""

    LOST_ANSWERS = auto()
    QUERY_DROP = auto()
    GAP = auto()


def verdict_headline(verdict: GateNumbers, where: str) -> str:
    """Return the first line of a verdict.

    Args:
        verdict: what a gate decided.
        where: what was measured on, as messages name it.
    """
    leading = verdict.leading
    means, why = means_change(leading.before, leading.now), _why(verdict, leading)
    queries = verdict.metric.kind.counted(leading.queries)
    where = f"{where} ({queries})"
    limits = limit_texts(verdict)
    match first_limit(verdict):
        case Limit.LOST_ANSWERS:
            return f"{limits[Limit.LOST_ANSWERS]} on {where}; {verdict.metric} {means}"
        case Limit.QUERY_DROP:
            return f"{verdict.metric} of {limits[Limit.QUERY_DROP]} on {where}: {means}"
        case Limit.GAP:
            return f"{verdict.metric}: {limits[Limit.GAP]}; {leading.label} of {where}"
    is_open = leading.outcome == Outcome.INCONCLUSIVE or _is_left_open(verdict)
    worse = "is lower" if verdict.metric.higher_is_better else "is higher"
    word = "is inconclusive" if is_open else worse
    word = "regressed" if leading.outcome == Outcome.REGRESSED else word
    place = f"in {quoted(leading.label)} of" if leading.label else "on"
    return f"{verdict.metric} {word} {place} {where}: {means}; {why}"


def first_limit(verdict: GateNumbers) -> Limit | None:
    """Return which broken limit the first line of a verdict is about; None: the means."""
    if verdict.leading.outcome == Outcome.REGRESSED or _is_left_open(verdict):
        return None
    return next(iter(limit_texts(verdict)), None)


def limit_texts(verdict: GateNumbers) -> Mapping[Limit, str]:
    """Return what is said of the limits that are broken."""
    texts, lost, gap = {}, verdict.lost_answers, verdict.wide_gap
    if lost is not None and lost.blocks:
        texts[Limit.LOST_ANSWERS] = lost.text
    if verdict.query_drops:
        count = plural(len(verdict.query_drops), "query", "queries")
        limit = f"max_query_drop={verdict.max_query_drop:g}"
        texts[Limit.QUERY_DROP] = f"{count} {fell_word(verdict.metric)} by more than {limit}"
    if gap is not None:
        low, high = quoted(gap.lowest), quoted(gap.highest)
        was = f" ({gap.before:.4f} apart in the baseline)"
        allowed = f"allowed {verdict.max_gap:.4f}"
        texts[Limit.GAP] = f"{low} and {high} are {gap.now:.4f} apart{was}, {allowed}"
    return texts


def _is_left_open(verdict: GateNumbers) -> bool:
    return verdict.replay is not None and verdict.replay.leaves_open


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
