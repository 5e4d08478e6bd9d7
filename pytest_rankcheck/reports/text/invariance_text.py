"""The text of queries whose perturbation changes the answer: the worst, with both rankings."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection, Iterator
from itertools import zip_longest

from pytest_rankcheck.behaviour.perturbation_limits import DirectionLimits, InvarianceLimits
from pytest_rankcheck.behaviour.perturbed_answers import (
    ByQuery,
    PerturbationResult,
    PerturbedQuery,
)
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import label_of
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.reports.text.wording import (
    answer_lines,
    means_change,
    number_text,
    query_in,
    ranker_on,
)

_DO, _DO_NOT, _ARE_NOT = ("does", "do"), ("does not", "do not"), ("is not", "are not")
_WORST = 5
_TOP = 5
_ONE_LINE = 60
"""The longest pair of texts to show on one line, in characters."""
_LONGEST = 80
"""How much of a text is shown, in characters."""
_LEAD = 24
"""How much of a long text is shown before the first change."""
_CUT = "..."


def invariance_note(golden: GoldenSet, result: PerturbationResult) -> str:
    """Return in one line how much a perturbation changes."""
    changed = sum(
        any(perturbed.before != perturbed.after for perturbed in trials)
        for trials in result.by_query.values()
    )
    means = f"; {_means_text(result)}" if result.judged else ""
    return (
        f"{_named(result)}, {ranker_on(result.ranker, golden)}: {changed:,} of "
        f"{_queries(result)} ranked differently, mean RBO {number_text(result.mean_rbo)}{means}"
        f"{_left(result)}"
    )


def invariance_text(golden: GoldenSet, result: PerturbationResult, limits: InvarianceLimits) -> str:
    """Return which limits are broken, and the worst queries with both rankings."""
    beyond = limits.beyond(result) or result.by_query
    only_texts = not any(trial.changed_attributes for trial in result.trials)
    variants, both = ("text", "texts") if only_texts else ("variant", "queries")
    # A query may have several random draws.
    has_mean = result.queries.are_draws and len(result.trials) > len(result.by_query)
    mean = " (the mean of its draws counts for each query)" if has_mean else ""
    subject, counted = ranker_on(result.ranker, golden), plural(len(result.trials), variants)
    similarity = number_text(result.mean_rbo)
    lines = [
        f"{_named(result)} changes the answers of {subject} by more than allowed{_left(result)}",
        f"  {_queries(result)}, {counted}{mean}: mean RBO {similarity} (p={result.p:g})",
        *_limit_lines(result, limits),
        *_failed_lines(result),
        *_worst_lines(golden, result, beyond, limits),
        f"  to fix: make the ranker treat the {both} alike{_loosening(result, limits)}",
    ]
    return "\n".join(lines)


def direction_note(golden: GoldenSet, result: PerturbationResult, directed: DirectionLimits) -> str:
    """Return in one line which way a perturbation moves the metric."""
    size = _means_text(result) if result.judged else _queries(result)
    rule = _rule(result, directed)
    return f"{_named(result)}, {ranker_on(result.ranker, golden)}: {rule}; {size}{_left(result)}"


def direction_text(
    golden: GoldenSet, result: PerturbationResult, directed: DirectionLimits, beyond: ByQuery
) -> str:
    """Return what moves in the wrong direction, and the worst queries with both rankings."""
    subject = ranker_on(result.ranker, golden)
    lines = [f"{_named(result)} moves {subject} in the wrong direction{_left(result)}"]
    if result.judged:
        lines.append(f"  {_means_text(result)}")
    rule = f"  {_rule(result, directed)}"
    if directed.of == "query":
        by_metric = not callable(directed.direction)
        queries = result.judged if by_metric else result.by_query
        verb, kind = (_DO, "judged ") if by_metric else (_DO_NOT, "")
        rule += f": {_count_text(beyond, queries, directed.allowed_queries, verb, kind)}"
    lines += [rule, *_failed_lines(result)]
    lines += _worst_lines(golden, result, beyond or result.by_query, directed)
    return "\n".join(lines)


def _rule(result: PerturbationResult, directed: DirectionLimits) -> str:
    """Return what must hold for each query, or for the mean."""
    if callable(directed.direction):
        return f"{quoted(name_of(directed.direction))} must hold for every query"
    subject = (
        f"the mean {result.metric}" if directed.of == "mean" else f"{result.metric} of every query"
    )
    slack = f" by more than {number_text(directed.slack)}" if directed.slack else ""
    return f"{subject} must not become {directed.direction.removeprefix('not_')}{slack}"


def _named(result: PerturbationResult) -> str:
    return f"perturbation '{quoted(result.queries.name)}'"


def _queries(result: PerturbationResult) -> str:
    return plural(len(result.by_query), "perturbed query", "perturbed queries")


def _left(result: PerturbationResult) -> str:
    """Return how many queries were not perturbed, and why."""
    parts = [
        f"{len(queries):,} {verbs[len(queries) != 1]} {what}"
        for queries, verbs, what in (
            (result.queries.unchanged, ("is", "are"), "unchanged by it"),
            (result.queries.without_text, ("has", "have"), "no text"),
        )
        if queries
    ]
    return f"; not perturbed: {', '.join(parts)}" if parts else ""


def _worst_lines(
    golden: GoldenSet,
    result: PerturbationResult,
    chosen: ByQuery,
    limits: InvarianceLimits | DirectionLimits,
) -> Iterator[str]:
    """Yield the worst queries, each with its worst variant."""
    each = (max(trials, key=limits.severity) for trials in chosen.values())
    changed = [trial for trial in each if trial.failure or trial.before != trial.after]
    worst = sorted(changed, key=limits.severity, reverse=True)
    yield "  worst queries"
    for trial in worst[:_WORST]:
        yield from _change_lines(golden, result, trial)
        pairs = enumerate(zip_longest(trial.before, trial.after), 1)
        different = next((rank for rank, (old, new) in pairs if old != new), 1)
        first = different - 1 if different > _TOP and trial.failure is None else 1
        labels, rankings = ("as it is ", "perturbed"), (trial.before, trial.after)
        query_id, failure = trial.query.id, trial.failure
        yield from answer_lines(golden, query_id, labels, rankings, failure, top=_TOP, first=first)
    hidden = [trial.query.id for trial in worst[_WORST:]]
    if hidden:
        yield f"    and {listed(hidden)}"


def _change_lines(
    golden: GoldenSet, result: PerturbationResult, trial: PerturbedQuery
) -> Iterator[str]:
    """Yield a query, what the perturbation changes in it, and how far its answer moved."""
    query_id, draws = trial.query.id, 1
    if result.queries.are_draws:  # the values are the means of all draws
        draws, (trial,) = len(result.by_query[query_id]), result.counted[query_id]
    moved = "".join(
        f"   {quoted(name, 40)}: {_changed_value(old, new)}"
        for name, (old, new) in trial.changed_attributes.items()
    )
    if trial.failure is None:
        moved += f"   RBO {number_text(trial.rbo, 3)}"
        if not math.isnan(trial.gain):
            before, after = (number_text(v, 3) for v in (trial.value_before, trial.value_after))
            moved += f", {result.metric} {before} -> {after}"
        if draws > 1:
            moved += f" (means of {draws} draws; the worst one is shown)"
    if trial.perturbed.text == trial.query.text:
        yield f"    {query_in(golden, query_id)}{moved}"
        return
    before, after = shown_change(trial.query.text or "", trial.perturbed.text or "")
    if len(before) + len(after) <= _ONE_LINE:
        yield f'    {quoted(query_id, 60)} "{before}" -> "{after}"{moved}'
    else:
        yield f"    {quoted(query_id, 60)}{moved}"
        yield f'      text       "{before}"'
        yield f'      becomes    "{after}"'


def _means_text(result: PerturbationResult) -> str:
    """Return the metric's means before and after, over the judged queries."""
    judged = plural(len(result.judged), "judged query", "judged queries")
    return f"{result.metric} {means_change(*result.means)} over {judged}"


def _limit_lines(result: PerturbationResult, limits: InvarianceLimits) -> Iterator[str]:
    """Yield each limit on the mean, and each other limit that is broken, with the measurements."""
    allowed = limits.allowed_queries
    if limits.min_rbo is not None:
        unlike = _such(result, limits.is_unlike)
        is_same = limits.min_rbo >= 1
        demand = "be the same" if is_same else f"reach RBO {number_text(limits.min_rbo)}"
        count = _count_text(unlike, result.by_query, allowed, _ARE_NOT if is_same else _DO_NOT)
        if unlike:
            yield f"  every ranking must {demand}: {count}"
    if limits.min_mean_rbo is not None:
        state = "it does not" if limits.mean_is_unlike(result) else "it does"
        yield f"  the mean RBO must reach {number_text(limits.min_mean_rbo)}: {state}"
    if result.judged:
        yield f"  {_means_text(result)}"
    if limits.max_drop is not None:
        drops = _such(result, limits.is_drop)
        count = _count_text(drops, result.judged, allowed, _DO, "judged ")
        if drops:
            yield f"  no query may fall by more than {number_text(limits.max_drop)}: {count}"
    if limits.max_mean_drop is not None:
        state = "it does" if limits.mean_is_drop(result) else "it does not"
        yield f"  the mean may not fall by more than {number_text(limits.max_mean_drop)}: {state}"


def _loosening(result: PerturbationResult, limits: InvarianceLimits) -> str:
    """Return the arguments that would loosen the limits; empty if the ranker only fails."""
    beyond = limits.beyond(result)
    answered = [trial for trials in beyond.values() for trial in trials if trial.failure is None]
    if answered and len(beyond) > limits.allowed_queries:
        return ", or allow what is harmless: allowed_queries=, min_rbo= or max_drop="
    if limits.mean_is_unlike(result) or limits.mean_is_drop(result):
        return ", or allow what is harmless: min_mean_rbo= or max_mean_drop="
    return ""


def _changed_value(old: object, new: object) -> str:
    """Return ``60 -> 45``; texts are in quotes if only one of the values is a text."""
    before, after = label_of(old), label_of(new)
    is_given = old is not None and new is not None
    is_mixed = is_given and isinstance(old, str) != isinstance(new, str)
    if is_mixed or before == after:
        before, after = repr(old), repr(new)
    return f"{quoted(before, 40)} -> {quoted(after, 40)}"


def _failed_lines(result: PerturbationResult) -> Iterator[str]:
    """Yield the perturbed queries on which the ranker failed."""
    failed = _such(result, lambda trial: trial.failure is not None)
    if failed:
        queries = plural(len(failed), "perturbed query", "perturbed queries")
        yield f"  the ranker fails on {queries}: {listed(failed)}"


def _such(result: PerturbationResult, is_such: Callable[[PerturbedQuery], bool]) -> list[str]:
    return [query_id for query_id, trials in result.counted.items() if any(map(is_such, trials))]


def _count_text(
    beyond: Collection[str],
    queries: Collection[str],
    allowed: int,
    verb: tuple[str, str],
    kind: str = "",
) -> str:
    """Return ``2 of 3 judged queries do not, 1 allowed``."""
    of_queries = plural(len(queries), f"{kind}query", f"{kind}queries")
    rest = f", {allowed:,} allowed" if allowed else ""
    return f"{len(beyond):,} of {of_queries} {verb[len(beyond) != 1]}{rest}"


def shown_change(before: str, after: str) -> tuple[str, str]:
    r"""Return two versions of a text as escaped single lines in which the difference is visible.

    Long texts are cut to the part from where they differ, with a little context before it; ``...``
    stands for the rest. Texts that look alike, such as with a decomposed *é* or another space, are
    in ASCII (``\u0301``).
    """
    pairs = enumerate(zip_longest(before, after))
    first = next((at for at, (one, two) in pairs if one != two), 0)
    is_long = max(len(before), len(after)) > _LONGEST
    start = max(0, first - _LEAD) if is_long else 0
    shown = _cut(before, start), _cut(after, start)
    if _look(shown[0]) == _look(shown[1]):
        shown = ascii(shown[0])[1:-1], ascii(shown[1])[1:-1]
    return quoted(shown[0], 10 * _LONGEST), quoted(shown[1], 10 * _LONGEST)


def _cut(text: str, start: int) -> str:
    """Return a text without its first ``start`` characters, and without its end if it is long."""
    head, rest = _CUT if start else "", text[start:]
    room = _LONGEST - len(head)
    return head + (rest if len(rest) <= room else rest[: room - len(_CUT)] + _CUT)


def _look(text: str) -> str:
    """Return what people see of a text, without its spaces."""
    visible = (char for char in unicodedata.normalize("NFKC", text) if char.isprintable())
    return "".join(visible).replace(" ", "")
