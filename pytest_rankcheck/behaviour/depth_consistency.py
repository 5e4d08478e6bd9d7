"""Check that the top of a ranking does not depend on how many documents are requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.behaviour.repeated_ranker import (
    AnswerDifference,
    RepeatedRanker,
    answer_differences,
)
from pytest_rankcheck.errors import ConfigurationError, RankerError, RunError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.ranked_run import usable_run
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.rank import Attempt
from pytest_rankcheck.rankers.run import Run


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
        DepthPair(shallow, deep, _differences(runs[shallow], runs[deep], shallow))
        for shallow, deep in combinations(wanted, 2)
    ]
    metric, means = Metric.parse(f"nDCG@{wanted[0]}"), None
    if golden.max_grade > 0:
        means = {
            depth: Evaluation(usable_run(run, golden)).mean(metric) for depth, run in runs.items()
        }
    return DepthResult(ranker.adapter.name, len(golden), pairs, str(metric), means)


def _differences(shallow: Run, deep: Run, depth: int) -> Sequence[AnswerDifference]:
    """Return the queries whose top at the smaller depth differs between two runs."""
    tops = shallow.top(depth), Attempt(deep.top(depth), {})
    return answer_differences(*tops)
