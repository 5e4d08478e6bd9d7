"""Check that a ranker gives the same answers under all conditions that must not matter.

One of them is how many documents are requested: the top of a ranking must not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Literal, get_args

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.behaviour.repeated_ranker import (
    AnswerDifference,
    RankerSource,
    RepeatedRanker,
    answer_differences,
    asked_in_process,
    is_asked_process,
)
from pytest_rankcheck.errors import ConfigurationError, RankerError, RunError, quoted, suggestion
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.ranked_run import usable_run
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.adapters.batch_ranker import BatchedAdapter
from pytest_rankcheck.rankers.rank import Attempt
from pytest_rankcheck.rankers.run import Run

Varied = Literal["batch", "order", "fresh", "process"]
"""What must not matter: the batch size, the order of the queries, the instance, the process. They
are checked in this order, because each one also varies some of those before it."""

VARIED: tuple[Varied, ...] = get_args(Varied)

Condition = Literal["repeats", Varied]
"""Plain repeats, which are always compared first, or one of the varied conditions."""

_DIFFER = "answers already differ"
"""Why the conditions after the first one with differences are not checked."""

Way = tuple[str, Callable[[], Attempt]]
"""How the ranker is asked, in words, and the function that asks it."""


@dataclass(frozen=True, slots=True)
class DeterminismOptions:
    """The ways in which a ranker is asked.

    Raises:
        ConfigurationError: a number is out of range, or a condition is unknown.
    """

    repeats: int = 3
    insensitive_to: Sequence[Varied] = VARIED

    def __post_init__(self) -> None:
        check_whole_number("repeats", self.repeats, 2, ConfigurationError)
        for condition in self.insensitive_to:
            if condition not in VARIED:
                raise ConfigurationError(
                    f"insensitive_to={quoted(condition)} is invalid"
                    f"{suggestion(str(condition), VARIED)}; give one or more of {', '.join(VARIED)}"
                )


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """The result for one condition."""

    condition: Condition
    ways: Sequence[str] = ()
    """How the ranker was asked."""
    differences: Sequence[AnswerDifference] = ()
    """The first difference of each query that has one, in the order of the queries."""
    skipped: str = ""
    """Why nothing was compared; empty otherwise."""


@dataclass(frozen=True, slots=True)
class DeterminismResult:
    """The results for all conditions."""

    ranker: str
    conditions: Sequence[ConditionResult]

    @property
    def broken(self) -> ConditionResult | None:
        """The condition with differences; the later ones are not checked."""
        broken = (result for result in self.conditions if result.differences)
        return next(broken, None)


def check_determinism(
    ranker: RepeatedRanker, golden: GoldenSet, options: DeterminismOptions, source: RankerSource
) -> DeterminismResult:
    """Ask a ranker the same queries in several ways, until the answers differ from the first ones.

    Raises:
        RankerError: the ranker fails when it is asked for the first time, or a new instance or
            process of it cannot be asked.
        RunError: every ranking is empty.
        ConfigurationError: all conditions lack the argument that they need.
    """
    varied = [condition for condition in VARIED if condition in options.insensitive_to]
    conditions: list[Condition] = ["repeats", *varied]
    skipped = {each: _not_applicable(each, ranker, golden, source) for each in conditions}
    lacks_argument = {"fresh": source.make is None, "process": source.name is None}
    if varied and all(lacks_argument.get(condition) for condition in varied):
        reasons = "; ".join(f"{condition}: {skipped[condition]}" for condition in varied)
        raise ConfigurationError(f"nothing in insensitive_to= can be checked ({reasons})")
    run = ranker.first_run(golden)
    results: list[ConditionResult] = []
    for condition in conditions:
        why = skipped[condition]
        if results and (results[-1].differences or results[-1].skipped == _DIFFER):
            why = _DIFFER
        ways: list[Way] = []
        if not why:
            ways = list(_ways(condition, ranker, golden, options, source))
            why = "" if ways else "the same ranker is returned at each call; give fresh="
        found: dict[str, AnswerDifference] = {}
        for how, ask in ways:
            for difference in answer_differences(run, ask(), how):
                found.setdefault(difference.query_id, difference)
        asked = [how for how, _ in ways]
        differences = [found[query_id] for query_id in run.query_ids if query_id in found]
        results.append(ConditionResult(condition, asked, differences, why))
    return DeterminismResult(ranker.adapter.name, results)


def _not_applicable(
    condition: Condition, ranker: RepeatedRanker, golden: GoldenSet, source: RankerSource
) -> str:
    """Return why a condition cannot be varied, or an empty text if it can."""
    if condition == "order" and len(golden) == 1:
        return "there is only one query"
    if condition == "batch" and ranker.adapter.with_size(1) is None:
        return "the ranker is asked one query after the other"
    if condition == "batch" and _own_size(ranker, golden) == 1:
        return "there is only one query to ask at once"
    if condition == "fresh" and source.make is None:
        return source.why_not_made
    if condition == "process" and source.name is None:
        return "give the ranker, or fresh=, by its name"
    if condition == "process" and is_asked_process():
        return "this is a new process itself, whose module ranks while it is imported"
    return ""


def _own_size(ranker: RepeatedRanker, golden: GoldenSet) -> int:
    size = ranker.adapter.size if isinstance(ranker.adapter, BatchedAdapter) else 1
    return min(size or len(golden), len(golden))


def _ways(
    condition: Condition,
    ranker: RepeatedRanker,
    golden: GoldenSet,
    options: DeterminismOptions,
    source: RankerSource,
) -> Iterator[Way]:
    """Yield the ways of asking under a condition that applies."""
    ids = golden.query_ids
    reverse = _in_order(golden, ids[::-1])
    match condition:
        case "repeats":
            for number in range(2, options.repeats + 1):
                yield f"time {number}", partial(ranker.rerun, golden)
        case "order":
            yield "in reverse", partial(ranker.rerun, reverse)
            mixed = _in_order(golden, [*ids[1::2], *ids[::2]])
            yield "every second one first", partial(ranker.rerun, mixed)
        case "batch":
            # Never exceed the ranker's own size: larger batches may not fit into its memory.
            for size in dict.fromkeys((1, (_own_size(ranker, golden) + 1) // 2)):
                adapter = ranker.adapter.with_size(size)
                assert adapter is not None
                yield f"{size:,} at once", partial(replace(ranker, adapter=adapter).rerun, golden)
        case "fresh" if new := source.adapter():
            yield "a new instance, in reverse", partial(replace(ranker, adapter=new).rerun, reverse)
        case "process":
            ask = partial(asked_in_process, ranker, str(source.name), reverse)
            yield "another hash seed, in reverse", ask


def _in_order(golden: GoldenSet, query_ids: Sequence[str]) -> GoldenSet:
    return GoldenSet(golden.contents.of_queries(query_ids), golden.name)


# --- depth ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DepthPair:
    """Two depths, and the queries whose top at the smaller one differs."""

    shallow: int
    deep: int
    differences: Sequence[AnswerDifference]


@dataclass(frozen=True, slots=True)
class DepthResult:
    """The result of asking a ranker at several depths."""

    ranker: str
    queries: int
    pairs: Sequence[DepthPair]
    """Every two depths, the smallest first."""
    metric: str = ""
    """nDCG at the smallest depth."""
    means: Mapping[int, float] | None = None
    """The mean of the metric by requested depth; None without judgments."""

    @property
    def broken(self) -> Sequence[DepthPair]:
        """The pairs with differences."""
        return [pair for pair in self.pairs if pair.differences]

    @property
    def worst(self) -> DepthPair:
        """The pair with the most differences."""
        return max(self.pairs, key=lambda pair: len(pair.differences))


def check_depths(ranker: RepeatedRanker, golden: GoldenSet, depths: Sequence[int]) -> DepthResult:
    """Ask a ranker at several depths, and compare the tops of its rankings at every two depths.

    Raises:
        ConfigurationError: fewer than two depths are given, one is not a whole number of at least
                1, or the ranker does not take the depth, so that nothing could differ.
        RankerError: the ranker fails.
        RunError: every ranking is empty.
    """
    for place, depth in enumerate(depths):
        check_whole_number(f"depths[{place}]", depth, 1, ConfigurationError)
    wanted = sorted({int(depth) for depth in depths})
    if len(wanted) < 2:
        raise ConfigurationError(
            f"depths={quoted(tuple(depths))} has fewer than two different depths; give those to "
            "compare, such as (10, 20, 50)"
        )
    if not ranker.adapter.takes_depth:
        raise ConfigurationError(
            f"ranker '{quoted(ranker.adapter.name)}' does not take the depth: it gives the same "
            "answer at every depth, which is then cut, so this check cannot fail. Give it a "
            "parameter named depth or k (rankers.http: the placeholder {depth}), or remove this "
            "check"
        )
    runs = dict[int, Run]()
    for depth in wanted:
        try:
            asked = replace(ranker, options={**ranker.options, "depth": depth})
            runs[depth] = asked.first_run(golden)
        except (RankerError, RunError) as error:
            raise type(error)(f"asked for depth {depth}: {error}") from error
    pairs = [
        DepthPair(shallow, deep, _top_differences(runs[shallow], runs[deep], shallow))
        for shallow, deep in combinations(wanted, 2)
    ]
    metric, means = Metric.parse(f"nDCG@{wanted[0]}"), None
    if golden.max_grade > 0:
        means = {
            depth: Evaluation(usable_run(run, golden)).mean(metric) for depth, run in runs.items()
        }
    return DepthResult(ranker.adapter.name, len(golden), pairs, str(metric), means)


def _top_differences(shallow: Run, deep: Run, depth: int) -> Sequence[AnswerDifference]:
    """Return the queries whose top at the smaller depth differs between two runs."""
    tops = shallow.top(depth), Attempt(deep.top(depth), {})
    return answer_differences(*tops)
