"""What failed, in numbers: the headline, a line for each metric, and one for each slice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.explanation.explanation import ExplainedSlice, Explanation, MetricFailure
from pytest_rankcheck.explanation.gate_numbers import Decided, GateNumbers
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.reports.text.evidence_text import (
    evidence_lines,
    fall_word,
    fell_word,
    mix_lines,
    open_reason,
    p_text,
    replay_lines,
    ties_text,
)
from pytest_rankcheck.reports.text.wording import (
    bound_text,
    bounded_text,
    change,
    interval_text,
    means_change,
    number_text,
    set_text,
)

_METRICS = 5
_SLICES = 4


def headline(explanation: Explanation) -> str:
    """Return what failed, in a line."""
    failures, where = explanation.failures, set_text(explanation.kind, explanation.golden_set)
    if explanation.headline:
        return explanation.headline
    some = f"{len(failures)} of {explanation.of} metrics"
    if len(failures) == 1:
        start = f"{some} failed: " if explanation.of > 1 else ""
        return start + _alone(failures[0], explanation, where)
    size = explanation.kind.counted(explanation.queries)
    if failures[0].bound is not None:
        return f"{some} are beyond their bounds on {where} ({size})"
    verdicts = [each.verdict for each in failures if each.verdict]
    first = verdicts[0]
    verdicts = [each for each in verdicts if not each.only_loses_answers]
    if not verdicts:
        (lost,) = _lost_answers(first)
        return f"{explanation.before_headline}{lost} on {where}"
    some = f"{len(verdicts)} of {explanation.of} metrics"
    rulings = {Outcome(each.outcome).ruling for each in verdicts}
    words = {"regressed": "regressed", "inconclusive": "are inconclusive"}
    word = words.get(rulings.pop(), "failed") if len(rulings) == 1 else "failed"
    regressed = (each for each in explanation.slices if each.outcome is Outcome.REGRESSED)
    most = next((each for each in regressed if each.fell_most), None)
    place = f", most in {quoted(most.label)}" if most else ""
    gates = {each.gate for each in verdicts}
    allowed = f"; allowed: {gates.pop()}" if len(gates) == 1 else ""
    return f"{explanation.before_headline}{some} {word} on {where} ({size}){place}{allowed}"


def _alone(failure: MetricFailure, explanation: Explanation, where: str) -> str:
    if failure.verdict is not None:
        return explanation.before_headline + verdict_headline(failure.verdict, where)
    leading = failure.leading
    assert failure.bound is not None
    assert leading is not None
    if leading.label:
        where = f"{quoted(leading.label)} of {where}"
    size = failure.metric.kind.counted(leading.queries)
    held = bounded_text(failure.bound, leading)
    return f"{failure.metric} is {held} on {where} ({size}); it must be {bound_text(failure.bound)}"


def verdict_headline(verdict: GateNumbers, where: str) -> str:
    """Return the first line of a verdict: what fell, by how much, and what it was compared with.

    Args:
        verdict: what a gate decided.
        where: what was measured on, as messages name it.
    """
    leading, metric = verdict.leading, verdict.metric
    means = means_change(leading.before, leading.now)
    place = f"in {quoted(leading.label)} of" if leading.label else "on"
    where = f"{place} {where} ({metric.kind.counted(leading.queries)})"
    if _leads_with_limits(verdict):
        limits = "; ".join((*_lost_answers(verdict), *_broken_limits(verdict)))
        return f"{limits} {where}; {metric} {means}"
    word = "is lower" if metric.higher_is_better else "is higher"
    if leading.outcome == Outcome.REGRESSED:
        word = "regressed"
    elif leading.outcome == Outcome.INCONCLUSIVE or _is_left_open(verdict):
        word = "is inconclusive"
    return f"{metric} {word} {where}: {means}; {_why(verdict, leading)}"


def _is_left_open(verdict: GateNumbers) -> bool:
    return verdict.replay is not None and verdict.replay.leaves_open


def _leads_with_limits(verdict: GateNumbers) -> bool:
    """Whether the headline is about broken limits, because the means alone would pass."""
    if verdict.leading.outcome == Outcome.REGRESSED or _is_left_open(verdict):
        return False
    return bool(_lost_answers(verdict) or [*_broken_limits(verdict)])


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
    return f"{chance} (p {p_text(decision.p)}, alpha {verdict.alpha:g})"


def _lost_answers(verdict: GateNumbers) -> Sequence[str]:
    """Return that queries lost their answers, if that fails the assertion with all its metrics."""
    lost = verdict.lost_answers
    return [lost.text] if lost is not None and lost.blocks else []


def _broken_limits(verdict: GateNumbers) -> Iterator[str]:
    """Yield the other limits that are broken and not about means."""
    if verdict.query_drops:
        count = plural(len(verdict.query_drops), "query", "queries")
        limit = f"max_query_drop={verdict.max_query_drop:g}"
        yield f"{verdict.metric} of {count} {fell_word(verdict.metric)} by more than {limit}"
    if gap := verdict.wide_gap:
        yield (
            f"{verdict.metric} of {quoted(gap.lowest)} and {quoted(gap.highest)} is {gap.now:.4f} "
            f"apart ({gap.before:.4f} in the baseline), allowed {verdict.max_gap:.4f}"
        )


# --- metrics -------------------------------------------------------------------------------------


def numbers_lines(explanation: Explanation, *, in_full: bool = False) -> Iterator[str]:
    """Yield the numbers of each metric that failed."""
    failures = explanation.failures
    verdict = failures[0].verdict if failures else None
    if len(failures) > 1 or explanation.headline:
        yield from _table(explanation, in_full=in_full)
    elif verdict is not None:
        yield from _of_one(failures[0], verdict)
        if in_full:
            yield from evidence_lines(verdict)
    yield from _of_assertion(explanation)
    if verdict is not None and verdict.ties is not None and verdict.ties.decides and not in_full:
        yield ties_text(verdict.metric, verdict.ties, has_slices=bool(verdict.slices))


def _of_assertion(explanation: Explanation) -> Iterator[str]:
    """Yield what concerns all metrics, and more of the first one."""
    verdicts = [each.verdict for each in explanation.failures if each.verdict]
    if not verdicts:
        return
    verdict, is_said = verdicts[0], all(each.only_loses_answers for each in verdicts)
    if len(verdicts) == 1:
        is_said = _leads_with_limits(verdict)
    if explanation.headline or not is_said:
        yield from _lost_answers(verdict)
    of = f"{verdict.metric}: " if len(verdicts) > 1 else ""
    yield from (f"{of}{line}" for line in mix_lines(verdict))
    if verdict.replay is not None:
        yield from replay_lines(verdict.replay)


def _of_one(failure: MetricFailure, verdict: GateNumbers) -> Iterator[str]:
    """Yield the counts of the only metric that failed, whose means are in the headline."""
    yield "; ".join((_counts(failure, verdict.leading), *_crossed(failure)))
    if verdict.leading.label:
        overall = verdict.overall
        everything = verdict.metric.kind.counted(overall.queries)
        yield f"all {everything}: {means_change(overall.before, overall.now)}"
    if not _leads_with_limits(verdict):
        yield from _broken_limits(verdict)


def _table(explanation: Explanation, *, in_full: bool) -> Iterator[str]:
    """Yield a line for each of several metrics that failed."""
    failures = explanation.failures
    rows = [_cells(failure) for failure in failures]
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for failure, row in islice(zip(failures, rows, strict=True), _METRICS):
        cells = (cell.ljust(size) for cell, size in zip(row, widths, strict=True))
        yield "; ".join(("   ".join(cells).rstrip(), *_besides(failure)))
        if in_full and failure.verdict is not None:
            yield from (f"  {line}" for line in evidence_lines(failure.verdict))
    if len(failures) > _METRICS:
        names = ", ".join(str(each.metric) for each in failures[_METRICS:])
        yield f"and {plural(len(failures) - _METRICS, 'more metric')}: {quoted(names, 200)}"


def _cells(failure: MetricFailure) -> Sequence[str]:
    """Return the name of a metric, its means, how many queries changed, and p."""
    if failure.bound is not None and failure.leading is not None:
        where = f" in {quoted(failure.leading.label)}" if failure.leading.label else ""
        held = bounded_text(failure.bound, failure.leading)
        return [str(failure.metric), f"{held}{where}", f"must be {bound_text(failure.bound)}"]
    assert failure.verdict is not None
    overall = failure.verdict.overall
    means = f"{number_text(overall.before)} -> {number_text(overall.now)}"
    tested = "" if math.isnan(overall.p) else f"p {p_text(overall.p)}"
    return [
        str(failure.metric),
        means,
        change(overall.difference),
        _counts(failure, overall),
        tested,
    ]


def _besides(failure: MetricFailure) -> Iterator[str]:
    """Yield what else is said of one of several metrics, after its numbers."""
    yield from _crossed(failure)
    if failure.verdict is not None:
        yield from _broken_limits(failure.verdict)


def _crossed(failure: MetricFailure) -> Iterator[str]:
    crossing = failure.crossing
    if crossing is not None:
        documents = plural(crossing.left, "relevant document")
        yield f"{documents} left the top {crossing.k}, {crossing.entered:,} entered"


def _counts(failure: MetricFailure, part: Decided) -> str:
    """Return ``38 queries worse, 21 better, 166 equal``; without pairs, what was compared."""
    kind = failure.metric.kind
    if kind.single:
        return f"{kind.single}{interval_text(failure.interval)}"
    if part.earlier is not None:
        return (
            f"{kind.counted(part.earlier)} in the baseline, {part.queries:,} now: different "
            "sessions, so compared as two samples"
        )
    return f"{kind.counted(part.losses or 0)} worse, {part.wins:,} better, {part.ties:,} equal"


# --- slices --------------------------------------------------------------------------------------


def slice_lines(explanation: Explanation) -> Iterator[str]:
    """Yield a line for each slice, with all metrics that failed."""
    slices = explanation.slices
    yield from (slice_line(part, explanation) for part in slices[:_SLICES])
    if len(slices) > _SLICES:
        yield f"and {plural(len(slices) - _SLICES, 'more slice')}"


def slice_line(part: ExplainedSlice, explanation: Explanation) -> str:
    """Return ``locale=de (40 queries, regressed)   RR 1.0000 -> 0.7500``."""
    is_bounded = any(before is None for before, _ in part.means.values())
    remark = {
        Outcome.REGRESSED: ", beyond the bound" if is_bounded else ", regressed",
        Outcome.INCONCLUSIVE: ", inconclusive",
        Outcome.NOT_GATED: ", too few to gate",
    }.get(part.outcome, "")
    size = explanation.kind.counted(part.queries)
    return f"{quoted(part.label)} ({size}{remark})   {values_text(part.means, 4, of=explanation)}"


def values_text(
    values: Mapping[str, tuple[float | None, float]], digits: int, *, of: Explanation
) -> str:
    """Return ``nDCG@10, RR 1.000 -> 0.000``: metrics with the same values together."""
    together: dict[str, list[str]] = {}
    for name, (before, now) in values.items():
        text = number_text(now, digits)
        text = text if before is None else f"{number_text(before, digits)} -> {text}"
        together.setdefault(text, []).append(name)
    if len(of.failures) == 1:
        return "   ".join(together)
    return "   ".join(f"{', '.join(names)} {text}" for text, names in together.items())
