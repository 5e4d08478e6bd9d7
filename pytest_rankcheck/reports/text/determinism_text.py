"""The text of a ranker that is not deterministic: under which condition, for which queries."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.behaviour.answer_comparison import AnswerDifference
from pytest_rankcheck.behaviour.determinism_check import (
    Condition,
    ConditionResult,
    DeterminismResult,
)
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.similarity.rank_biased_overlap import rbo
from pytest_rankcheck.reports.text.wording import number_text, query_in, ranking_lines

__all__ = ["determinism_note", "determinism_text"]

_QUERIES = 3
_TOP = 5

_NAMES: dict[Condition, str] = {
    "repeats": "asked again",
    "order": "order of queries",
    "batch": "batch size",
    "candidates": "order of candidates",
    "threads": "several at once",
}
_ADVICE: dict[Condition, str] = {
    "repeats": "something is drawn at random or changes with time: seed it, break ties by id",
    "order": "an answer depends on earlier queries: look for a cache or other state",
    "batch": "an answer depends on the rest of its batch: look for padding, for statistics over "
    "the batch, and for scores so close that rounding decides",
    "candidates": "an answer depends on the position of a candidate: break ties by id, score each "
    "candidate by itself",
    "threads": "concurrent queries share state: give each call its own state, or lock it",
}


def determinism_note(golden: GoldenSet, result: DeterminismResult) -> str:
    """Return in one line whether the ranker is deterministic under each condition."""
    if result.broken:
        return _headline(golden, result)
    same = ", ".join(
        _NAMES[outcome.condition] for outcome in result.conditions if not outcome.skipped
    )
    skipped = ", ".join(
        _NAMES[outcome.condition] for outcome in result.conditions if outcome.skipped
    )
    rest = f"; not checked: {skipped}" if skipped else ""
    return f"{_subject(golden, result)} is deterministic ({same}){rest}"


def determinism_text(golden: GoldenSet, result: DeterminismResult) -> str:
    """Return which conditions changed rankings, for which queries, with both rankings."""
    return "\n".join(_lines(golden, result))


def _subject(golden: GoldenSet, result: DeterminismResult) -> str:
    size = plural(len(golden), "query", "queries")
    return f"ranker '{quoted(result.ranker)}' on golden set '{quoted(golden.name)}' ({size})"


def _lines(golden: GoldenSet, result: DeterminismResult) -> Iterator[str]:
    yield _headline(golden, result)
    for outcome in result.conditions:
        yield f"  {_NAMES[outcome.condition]:<21}{_state(outcome, len(golden))}"
    for outcome in result.broken:
        yield f"  {_NAMES[outcome.condition]}: {_ADVICE[outcome.condition]}"
        for difference in _worst(outcome)[:_QUERIES]:
            yield from _difference_lines(golden, difference)
        hidden = [difference.query_id for difference in _worst(outcome)[_QUERIES:]]
        if hidden:
            yield f"    and {listed(hidden)}"


def _headline(golden: GoldenSet, result: DeterminismResult) -> str:
    broken = ", ".join(_NAMES[outcome.condition] for outcome in result.broken)
    return f"{_subject(golden, result)} is not deterministic: {broken}"


def _state(outcome: ConditionResult, total: int) -> str:
    """Return how many queries were ranked the same, of those without an earlier difference."""
    if outcome.skipped:
        return f"not checked: {outcome.skipped}"
    nouns = ("other query", "other queries") if outcome.queries < total else ("query", "queries")
    those = plural(outcome.queries, *nouns)
    ways = listed(outcome.ways)
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
