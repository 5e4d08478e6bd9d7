"""The text of a ranker that is not deterministic, or whose top depends on the requested depth."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.behaviour.depth_consistency import DepthPair, DepthResult
from pytest_rankcheck.behaviour.determinism_check import (
    Condition,
    ConditionResult,
    DeterminismResult,
)
from pytest_rankcheck.behaviour.repeated_ranker import AnswerDifference
from pytest_rankcheck.errors import listed, plural
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.ranking_similarity import rbo
from pytest_rankcheck.reports.text.wording import answer_lines, number_text, query_in, ranker_on

_TOP = 5
_DEPTH_QUERIES = 3
_DEPTH_TOP = 10

_NAMES: dict[Condition, str] = {
    "repeats": "asked again",
    "batch": "batch size",
    "order": "order of queries",
    "fresh": "new instance",
    "process": "new process",
}
_ADVICE: dict[Condition, str] = {
    "repeats": "something is drawn at random or changes with time: seed it, break ties by id",
    "batch": "an answer depends on the rest of its batch: look for padding, for statistics over "
    "the batch, and for scores so close that rounding decides",
    "order": "an answer depends on earlier queries: look for a cache or other state",
    "fresh": "a new instance ranks differently: look for a cache whose keys collide, and for "
    "randomness, time or files when a ranker is made",
    "process": "a new process ranks differently: sort sets before they are iterated, do not use "
    "hash(), and look for a cache whose keys collide and for randomness when a ranker is made",
}


def determinism_note(golden: GoldenSet, result: DeterminismResult) -> str:
    """Return in one line whether the ranker is deterministic under each condition."""
    if result.broken is not None:
        return _headline(golden, result, result.broken)
    same = ", ".join(_NAMES[one.condition] for one in result.conditions if not one.skipped)
    skipped = ", ".join(
        _NAMES[one.condition] + (f" ({one.skipped})" if one.skipped.startswith("give ") else "")
        for one in result.conditions
        if one.skipped
    )
    rest = f"; not checked: {skipped}" if skipped else ""
    return f"{ranker_on(result.ranker, golden)} is deterministic ({same}){rest}"


def determinism_text(golden: GoldenSet, result: DeterminismResult, broken: ConditionResult) -> str:
    """Return which condition changed rankings, for which queries, with both rankings of one."""
    first, *others = broken.differences
    states = [
        f"  {_NAMES[one.condition]:<18}{_state(one, len(golden))}" for one in result.conditions
    ]
    return "\n".join(
        [
            _headline(golden, result, broken),
            *states,
            f"  {_NAMES[broken.condition]}: {_ADVICE[broken.condition]}",
            *_difference_lines(golden, first),
            *([f"    and {listed([other.query_id for other in others])}"] if others else []),
        ]
    )


def _headline(golden: GoldenSet, result: DeterminismResult, broken: ConditionResult) -> str:
    return f"{ranker_on(result.ranker, golden)} is not deterministic: {_NAMES[broken.condition]}"


def _state(outcome: ConditionResult, queries: int) -> str:
    """Return how many queries were ranked the same, or why they were not asked."""
    if outcome.skipped:
        return f"not checked: {outcome.skipped}"
    those, ways = plural(queries, "query", "queries"), listed(outcome.ways)
    if not outcome.differences:
        return f"{those} ranked the same ({ways})"
    failed = sum(difference.failure is not None for difference in outcome.differences)
    errors = f", {failed:,} of them with an error" if failed else ""
    return f"{len(outcome.differences):,} of {those} ranked differently{errors} ({ways})"


def _difference_lines(golden: GoldenSet, difference: AnswerDifference) -> Iterator[str]:
    before, after, failure = difference.before, difference.after, difference.failure
    shared = min(len(before), len(after))
    parting = next((place for place in range(shared) if before[place] != after[place]), shared)
    like = f", RBO {number_text(rbo(before, after), 3)}, from rank {parting + 1:,} on"
    how = difference.how + ("" if failure else like)
    yield f"    {query_in(golden, difference.query_id)}   {how}"
    labels, rankings = ("first", "then "), (before, after)
    yield from answer_lines(golden, difference.query_id, labels, rankings, failure, top=_TOP)


def depth_note(golden: GoldenSet, result: DepthResult) -> str:
    """Return in one line whether the top is the same at every depth."""
    subject = ranker_on(result.ranker, golden, is_sized=False)
    if not result.broken:
        depths = sorted({depth for pair in result.pairs for depth in (pair.shallow, pair.deep)})
        shown = ", ".join(map(str, depths[:-1])) + f" and {depths[-1]}"
        return f"{subject} ranks the same documents at the top at the depths {shown}"
    worst = max(result.broken, key=lambda pair: len(pair.differences))
    of = plural(result.queries, "query", "queries")
    where = (
        f"{subject} has a different top {worst.shallow} when it is asked for {worst.deep} documents"
    )
    return f"{where}: {len(worst.differences):,} of {of}"


def depth_lines(golden: GoldenSet, result: DepthResult) -> Iterator[str]:
    """Yield which depths differ, for which queries, with both rankings and the means."""
    yield depth_note(golden, result)
    for pair in result.pairs:
        count = f"{len(pair.differences):,} of {plural(result.queries, 'query', 'queries')}"
        yield f"  top {pair.shallow} at depths {pair.shallow} and {pair.deep}: {count} differ"
    if result.means is not None:
        means = ", ".join(f"{number_text(mean)} at {at}" for at, mean in result.means.items())
        yield f"  {result.metric} by requested depth: {means}"
    yield (
        "  the depth decides how far the ranker searches: measure with the depth that production "
        "uses (rankcheck_depth),"
    )
    yield "  or search as far at every depth (ef of HNSW, nprobe of IVF, num_candidates);"
    yield "  if it also differs at one depth, see assert_deterministic"
    worst = max(result.broken, key=lambda pair: len(pair.differences))
    differences = sorted(
        worst.differences, key=lambda difference: rbo(difference.before, difference.after)
    )
    for difference in differences[:_DEPTH_QUERIES]:
        yield from _tops(golden, worst, difference)
    hidden = [difference.query_id for difference in differences[_DEPTH_QUERIES:]]
    if hidden:
        yield f"    and {listed(hidden)}"


def _tops(golden: GoldenSet, pair: DepthPair, difference: AnswerDifference) -> Iterator[str]:
    like = rbo(difference.before, difference.after)
    yield f"    {query_in(golden, difference.query_id)}   RBO {number_text(like, 3)}"
    labels = f"depth {pair.shallow:<{len(str(pair.deep))}}", f"depth {pair.deep}"
    rankings = difference.before, difference.after
    top = min(_DEPTH_TOP, pair.shallow)
    yield from answer_lines(golden, difference.query_id, labels, rankings, top=top)
