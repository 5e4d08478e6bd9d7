"""The text about checks of a ranker: determinism, depth, perturbed queries, stable rankings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from pytest_rankcheck.behaviour.determinism_check import (
    Condition,
    ConditionResult,
    DepthResult,
    DeterminismResult,
)
from pytest_rankcheck.behaviour.perturbed_answers import (
    ByQuery,
    InvarianceLimits,
    PerturbationResult,
    PerturbedQuery,
)
from pytest_rankcheck.behaviour.ranking_stability import RankingStability
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.reports.text.wording import golden_name, means_change, number_text, ranker_on

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.check import RankingCheck

INVARIANCE_ADVICE = (
    "make the ranker answer the variants alike, or allow what is harmless: allowed_queries=, "
    "min_rbo=, max_drop=, min_mean_rbo= or max_mean_drop="
)
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
    return f"{len(outcome.differences):,} of {those} ranked differently ({ways})"


def depth_note(golden: GoldenSet, result: DepthResult) -> str:
    """Return in one line whether the top is the same at every depth."""
    subject = ranker_on(result.ranker, golden)
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


# --- perturbed queries ---------------------------------------------------------------------------


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


def perturbed_headline(golden: GoldenSet, result: PerturbationResult) -> str:
    """Return that a perturbation changes the answers."""
    subject = ranker_on(result.ranker, golden)
    return f"{_named(result)} changes the answers of {subject} by more than allowed{_left(result)}"


def invariance_facts(result: PerturbationResult, limits: InvarianceLimits) -> Iterator[str]:
    """Yield how many queries were perturbed, and which limits are broken."""
    counted, similarity = plural(len(result.trials), "variant"), number_text(result.mean_rbo)
    yield f"{_queries(result)}, {counted}: mean RBO {similarity} (p={result.p:g})"
    if result.judged:
        yield _means_text(result)
    each = "be the same" if limits.min_rbo == 1 else f"reach RBO {number_text(limits.min_rbo)}"
    drop = number_text(limits.max_drop)
    for rule, is_beyond, queries in (
        (f"every ranking must {each}", limits.is_unlike, result.by_query),
        (f"no query may fall by more than {drop}", limits.is_drop, result.judged),
    ):
        beyond = _such(result, is_beyond)
        if beyond:
            yield f"{rule}: {_broken_by(beyond, queries, limits.allowed_queries)}"
    for limit, rule, is_broken in (
        (limits.min_mean_rbo, "the mean RBO must reach", limits.mean_is_unlike),
        (limits.max_mean_drop, "the mean may not fall by more than", limits.mean_is_drop),
    ):
        if limit is not None:
            yield f"{rule} {number_text(limit)}: {'broken' if is_broken(result) else 'kept'}"
    yield from _failed(result)


def _named(result: PerturbationResult) -> str:
    return f"perturbation '{quoted(result.queries.name)}'"


def _queries(result: PerturbationResult) -> str:
    return plural(len(result.by_query), "perturbed query", "perturbed queries")


def _left(result: PerturbationResult) -> str:
    """Return how many queries were not perturbed."""
    left = len(result.queries.unchanged) + len(result.queries.without_text)
    return f"; {plural(left, 'query', 'queries')} not perturbed" if left else ""


def _means_text(result: PerturbationResult) -> str:
    """Return the metric's means before and after, over the judged queries."""
    judged = plural(len(result.judged), "judged query", "judged queries")
    return f"{result.metric} {means_change(*result.means)} over {judged}"


def _failed(result: PerturbationResult) -> Iterator[str]:
    """Yield the perturbed queries on which the ranker failed."""
    failed = _such(result, lambda trial: trial.failure is not None)
    if failed:
        queries = plural(len(failed), "perturbed query", "perturbed queries")
        yield f"the ranker fails on {queries}: {listed(failed)}"


def _such(result: PerturbationResult, is_such: Callable[[PerturbedQuery], bool]) -> list[str]:
    return [query_id for query_id, trials in result.by_query.items() if any(map(is_such, trials))]


def _broken_by(beyond: Collection[str], queries: ByQuery, allowed: int) -> str:
    """Return ``broken by 2 of 3 queries, 1 allowed``."""
    rest = f", {allowed:,} allowed" if allowed else ""
    return f"broken by {len(beyond):,} of {plural(len(queries), 'query', 'queries')}{rest}"


# --- rankings compared with their baseline -------------------------------------------------------


def stability_note(check: RankingCheck, evaluation: Evaluation) -> str:
    """Return in one line how the rankings differ from the baseline."""
    where = f"{golden_name(evaluation)} ({plural(len(evaluation.query_ids), 'query', 'queries')})"
    stability = check.stability
    changes = "new" if stability is None else changes_text(stability)
    return "; ".join((f"{where}: {changes}", *(approval.text for approval in check.approvals)))


def changes_text(stability: RankingStability) -> str:
    """Return in one line how many rankings changed, and by how much."""
    if not stability.changed:
        return "all rankings are the same as in the baseline"
    changed, mean = len(stability.changed), number_text(stability.mean_rbo)
    text = (
        f"{changed:,} of {len(stability.agreements):,} rankings changed; RBO of the top "
        f"{stability.limits.k}: mean {mean}, lowest {number_text(stability.least_rbo)}"
    )
    if not stability.beyond or stability.is_broken:
        return text
    verb = "is" if len(stability.beyond) == 1 else "are"
    queries = listed([agreement.query_id for agreement in stability.beyond])
    return (
        f"{text}; {plural(len(stability.beyond), 'query', 'queries')} {verb} beyond the limits, "
        f"{stability.limits.allowed_queries:,} allowed: {queries}"
    )


def stability_facts(stability: RankingStability) -> Iterator[str]:
    """Yield how many rankings changed, and the limits that are broken."""
    yield changes_text(stability)
    beyond = plural(len(stability.beyond), "query", "queries")
    too_many = "; too many changed" if stability.too_many else ""
    yield f"allowed: {stability.limits}; {beyond} beyond{too_many}"
