"""The text of a ranker that is not deterministic: under which condition, for which queries."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.behaviour.answer_comparison import AnswerDifference
from pytest_rankcheck.behaviour.cause_confirmation import Cause
from pytest_rankcheck.behaviour.condition_tally import ASKS, ENOUGH
from pytest_rankcheck.behaviour.determinism_check import ConditionResult, DeterminismResult
from pytest_rankcheck.behaviour.determinism_options import Condition
from pytest_rankcheck.behaviour.process_asking import IN_THE_PROCESS
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.similarity.rank_biased_overlap import rbo
from pytest_rankcheck.reports.text.wording import number_text, query_in, ranker_on, ranking_lines

__all__ = ["determinism_note", "determinism_text"]

_QUERIES = 3
_TOP = 5
_MANY_CALLS = 8
"""Above this many calls, those from threads are stated: a fast ranker gets a fixed time."""

_NAMES: dict[Condition, str] = {
    "repeats": "asked again",
    "order": "order of queries",
    "batch": "batch size",
    "candidates": "order of candidates",
    "threads": "several at once",
    "fresh": "new instance",
    "processes": "new processes",
    "clock": "clock",
}
_RARE = "rare differences"
_ADVICE: dict[Condition, str] = {
    "repeats": "something is drawn at random or changes with time: seed it, break ties by id",
    "order": "an answer depends on earlier queries: look for a cache or other state",
    "batch": "an answer depends on the rest of its batch: look for padding, for statistics over "
    "the batch, and for scores so close that rounding decides",
    "candidates": "an answer depends on the position of a candidate: break ties by id, score each "
    "candidate by itself",
    "threads": "concurrent queries share state: give each call its own state, or lock it",
    "fresh": "a new instance ranks differently, even in the same order of queries: look for state "
    "that the first instance keeps, and for randomness, time or files when a ranker is made",
    "processes": "every new process ranks differently, even with nothing varied: look for state of "
    "this process that a new one lacks, and for randomness, time or files when a ranker is made",
    "clock": "an answer depends on the time: pass the time as an argument, or fix it in tests",
}
_AT_RANDOM = (
    "no two {} rank alike: the ranker is built with randomness, as many nearest-neighbour "
    "indexes are: set its seed, and build it in one thread"
)
_DECISIVE = {
    "order": "a new instance ranks differently only in another order of queries, so its first "
    "queries decide: look for a cache whose keys collide",
    "order of queries": "which queries a new process is asked first decides: look for a cache "
    "whose keys collide",
    "PYTHONHASHSEED": "the hash seed decides (PYTHONHASHSEED): sort sets before they are iterated, "
    "break ties by id, and do not use hash()",
    "OMP_NUM_THREADS": "the number of threads decides (OMP_NUM_THREADS): sums depend on their "
    "order, so scores that are nearly equal change places: round them, and break ties by id",
    "LC_ALL": "the locale decides (LC_ALL): sort and parse text without it",
    "TZ": "the time zone decides (TZ): use UTC",
}
_RARE_ADVICE = (
    "a few answers change by chance, unrelated to how the ranker is asked: look for a race, a "
    "timeout with a fallback, or a random draw"
)
_WARM_UP = "warm-up"
_WARM_UP_ADVICE = (
    "the first answers differ from all later ones, which agree: warm the ranker up before it is "
    "measured or serves users, or let the first answer wait until everything is loaded"
)
_OPEN_WARM_UP = (
    "; only the first answers differed, which a warm-up could also explain: give fresh= to find out"
)
_WARM_UP_AGAIN = "the first answers of a {} differ in the same way, and its later answers agree"
_NOW_AND_THEN = (
    "differs in {under} of {asked}, and never otherwise: look for a random draw, a race or a "
    "timeout in code that runs only then"
)
_MANY = 3
_LARGE_PART = 0.1
"""At least this many queries, and this share of all, did not change independently by chance."""


def determinism_note(golden: GoldenSet, result: DeterminismResult) -> str:
    """Return in one line whether the ranker is deterministic under each condition."""
    if result.broken:
        return _headline(golden, result)
    same = ", ".join(
        _NAMES[outcome.condition] for outcome in result.conditions if not outcome.skipped
    )
    skipped = ", ".join(
        _NAMES[outcome.condition] + _remedy(outcome.skipped)
        for outcome in result.conditions
        if outcome.skipped
    )
    rest = f"; not checked: {skipped}" if skipped else ""
    remarks = "".join(
        f"; {_NAMES[outcome.condition]}: {outcome.remark}"
        for outcome in result.conditions
        if outcome.remark
    )
    return f"{_subject(golden, result)} is deterministic ({same}){remarks}{rest}; {_cost(result)}"


def _remedy(reason: str) -> str:
    """Return the argument to give for a condition that was not checked only for lack of it."""
    return f" ({reason})" if reason.startswith("give ") else ""


def _cost(result: DeterminismResult) -> str:
    """Return how often the ranker was asked."""
    by_threads = sum(one.calls for one in result.conditions if one.condition == "threads")
    busy = f", {by_threads:,} of them from threads" if by_threads > _MANY_CALLS else ""
    again = f"; {plural(result.confirming_calls, 'more call')} to confirm the cause"
    return f"{result.calls:,} calls per query{busy}" + (again if result.confirming_calls else "")


def determinism_text(golden: GoldenSet, result: DeterminismResult) -> str:
    """Return which conditions changed rankings, for which queries, with both rankings."""
    return "\n".join(_lines(golden, result))


def _subject(golden: GoldenSet, result: DeterminismResult) -> str:
    return ranker_on(result.ranker, golden, plural(len(golden), "query", "queries"))


def _lines(golden: GoldenSet, result: DeterminismResult) -> Iterator[str]:
    yield _headline(golden, result)
    for outcome in result.conditions:
        yield f"  {_NAMES[outcome.condition]:<21}{_state(outcome, len(golden))}"
    yield f"  {_cost(result)}"
    for outcome in result.broken:
        yield f"  {_name(outcome)}: {_advice(outcome)}"
        if outcome.confirmation.tally is not None:
            yield f"    {_evidence(outcome)}"
        for details in outcome.details:
            yield f"    {details}"
        for difference in _worst(outcome)[:_QUERIES]:
            yield from _difference_lines(golden, difference)
        hidden = [difference.query_id for difference in _worst(outcome)[_QUERIES:]]
        if hidden:
            yield f"    and {listed(hidden)}"


def _headline(golden: GoldenSet, result: DeterminismResult) -> str:
    broken = ", ".join(dict.fromkeys(map(_name, result.broken)))
    return f"{_subject(golden, result)} is not deterministic: {broken}"


def _name(outcome: ConditionResult) -> str:
    """Return the cause of the difference; a condition is named only if it was confirmed."""
    if _comes_at_once(outcome):
        return f"{_NAMES[outcome.condition]} (now and then)"
    names = {Cause.RARE: _RARE, Cause.WARM_UP: _WARM_UP}
    return names.get(outcome.cause, _NAMES[outcome.condition])


def _advice(outcome: ConditionResult) -> str:
    confirmation = outcome.confirmation
    if _comes_at_once(outcome):
        return _now_and_then(outcome)
    if outcome.cause is Cause.RARE:
        return _RARE_ADVICE + (_OPEN_WARM_UP if confirmation.is_warm_up_open else "")
    if outcome.cause is Cause.WARM_UP:
        is_first = outcome.condition == "repeats"
        return _WARM_UP_ADVICE if is_first else _WARM_UP_AGAIN.format(_one(outcome.condition))
    if confirmation.changes_each_time:
        return _AT_RANDOM.format(_NAMES[outcome.condition].removesuffix("s") + "s")
    decisive = "; ".join(_DECISIVE[name] for name in confirmation.decisive)
    return decisive or _raising(outcome) or _ADVICE[outcome.condition]


def _one(condition: Condition) -> str:
    return _NAMES[condition].removesuffix("es")


def _comes_at_once(outcome: ConditionResult) -> bool:
    """Whether many queries differ together, sometimes under the condition and never without it."""
    tally, count = outcome.confirmation.tally, len(outcome.differences)
    is_rare = outcome.cause is Cause.RARE and tally is not None and tally.asked_control > 0
    is_many = count >= max(_MANY, _LARGE_PART * outcome.queries)
    return is_rare and is_many and tally is not None and not tally.control


def _now_and_then(outcome: ConditionResult) -> str:
    """Return how often many queries differed together, counting the first time."""
    tally = outcome.confirmation.tally
    assert tally is not None
    nouns = {"fresh": "new instances", "processes": "new processes"}
    asked = f"{tally.asked_under + 1:,} {nouns.get(outcome.condition, 'requests this way')}"
    return _NOW_AND_THEN.format(under=f"{tally.under + 1:,}", asked=asked)


def _raising(outcome: ConditionResult) -> str:
    """Return a text if a new instance or process fails on every query, otherwise empty."""
    failures = [each.failure for each in outcome.differences if each.failure is not None]
    where = _one(outcome.condition)
    if outcome.condition not in ("fresh", "processes") or len(failures) < len(outcome.differences):
        return ""
    first = failures[0]
    text = str(first)
    if not text.startswith(IN_THE_PROCESS):
        text = f"{type(first).__name__}: {text}"
    return f"it raises in every {where}: {quoted(text.removeprefix(IN_THE_PROCESS), 300)}"


def _evidence(outcome: ConditionResult) -> str:
    """Return how often answers differed when queries were asked again."""
    tally = outcome.confirmation.tally
    assert tally is not None
    if outcome.condition == "repeats":
        return f"asked again: different in {tally.under:,} of {tally.asked_under:,} requests"
    sampled = outcome.confirmation.sampled
    failing = plural(len(outcome.differences), "failing query", "failing queries")
    of = f" (a sample of {sampled:,} of the {failing})" if sampled else ""
    again = (
        f"asked again{of}: different in {tally.under:,} of {tally.asked_under:,} requests this "
        f"way, and in {tally.control:,} of {tally.asked_control:,} as the first time"
    )
    needed = (
        ""
        if tally.is_confirmed
        else f" (confirmed: {ASKS} of {ASKS}, or {ENOUGH} of {2 * ASKS}, and 0)"
    )
    return again + needed


def _state(outcome: ConditionResult, total: int) -> str:
    """Return how many queries were ranked the same, of those without an earlier difference."""
    if outcome.skipped:
        return f"not checked: {outcome.skipped}"
    nouns = ("other query", "other queries") if outcome.queries < total else ("query", "queries")
    those = plural(outcome.queries, *nouns)
    ways = listed(outcome.ways) + (f"; {outcome.remark}" if outcome.remark else "")
    if not outcome.differences:
        return f"{those} ranked the same ({ways})"
    failed = sum(difference.failure is not None for difference in outcome.differences)
    errors = f", {failed:,} of them with an error" if failed else ""
    return f"{len(outcome.differences):,} of {those} ranked differently{errors} ({ways})"


def _worst(outcome: ConditionResult) -> list[AnswerDifference]:
    """Return the differences: errors first, then the least similar rankings."""
    return sorted(
        outcome.differences,
        key=lambda difference: (difference.failure is None, _likeness(difference)),
    )


def _likeness(difference: AnswerDifference) -> float:
    return rbo(difference.before, difference.after)


def _difference_lines(golden: GoldenSet, difference: AnswerDifference) -> Iterator[str]:
    failure = difference.failure
    like = f", RBO {number_text(_likeness(difference), 3)}, from rank {_parting(difference):,} on"
    how = difference.how if failure else difference.how + like
    yield f"    {query_in(golden, difference.query_id)}   {how}"
    yield from ranking_lines(golden, difference.before, "first", "      ", _TOP)
    if failure is None:
        yield from ranking_lines(golden, difference.after, "then ", "      ", _TOP)
    else:
        yield f"      then   {type(failure).__name__}: {quoted(failure, 300)}"


def _parting(difference: AnswerDifference) -> int:
    """Return the first rank at which two rankings differ."""
    pairs = zip(difference.before, difference.after, strict=False)
    shorter = min(len(difference.before), len(difference.after))
    return next(
        (rank for rank, (earlier, later) in enumerate(pairs, 1) if earlier != later), shorter + 1
    )
