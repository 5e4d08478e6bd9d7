"""The text about a ranker that is not deterministic, or whose top depends on the depth."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.behaviour.determinism_check import (
    Condition,
    ConditionResult,
    DepthResult,
    DeterminismResult,
)
from pytest_rankcheck.errors import listed, plural
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.reports.text.wording import number_text, ranker_on

DEPTH_ADVICE = (
    "search as far at every depth (ef of HNSW, nprobe of IVF, num_candidates), or measure with the "
    "depth that production uses (rankcheck_depth); if it also differs at one depth, see "
    "assert_deterministic"
)

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
    subject = ranker_on(result.ranker, golden)
    if result.broken is not None:
        return f"{subject} is not deterministic: {_NAMES[result.broken.condition]}"
    same = ", ".join(_NAMES[one.condition] for one in result.conditions if not one.skipped)
    skipped = ", ".join(
        f"{_NAMES[one.condition]} ({one.skipped})" for one in result.conditions if one.skipped
    )
    rest = f"; not checked: {skipped}" if skipped else ""
    return f"{subject} is deterministic ({same}){rest}"


def determinism_facts(golden: GoldenSet, result: DeterminismResult) -> Iterator[str]:
    """Yield the conditions under which rankings were the same, and what may change them."""
    for one in result.conditions:
        yield f"{_NAMES[one.condition]:<18}{_state(one, len(golden))}"
    if result.broken is not None:
        condition = result.broken.condition
        yield f"{_NAMES[condition]}: {_ADVICE[condition]}"


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


def depth_note(golden: GoldenSet, result: DepthResult) -> str:
    """Return in one line whether the top is the same at every depth."""
    subject = ranker_on(result.ranker, golden, is_sized=False)
    if not result.broken:
        depths = sorted({depth for pair in result.pairs for depth in (pair.shallow, pair.deep)})
        shown = ", ".join(map(str, depths[:-1])) + f" and {depths[-1]}"
        return f"{subject} ranks the same documents at the top at the depths {shown}"
    worst, of = result.worst, plural(result.queries, "query", "queries")
    where = (
        f"{subject} has a different top {worst.shallow} when it is asked for {worst.deep} documents"
    )
    return f"{where}: {len(worst.differences):,} of {of}"


def depth_facts(result: DepthResult) -> Iterator[str]:
    """Yield which depths differ, for how many queries, and the means."""
    for pair in result.pairs:
        count = f"{len(pair.differences):,} of {plural(result.queries, 'query', 'queries')}"
        yield f"top {pair.shallow} at depths {pair.shallow} and {pair.deep}: {count} differ"
    if result.means is not None:
        means = ", ".join(f"{number_text(mean)} at {at}" for at, mean in result.means.items())
        yield f"{result.metric} by requested depth: {means}"
