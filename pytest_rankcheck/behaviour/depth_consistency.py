"""Check that the top of a ranking does not depend on how many documents are requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.condition_tally import Tally, tally
from pytest_rankcheck.errors import ConfigurationError, RankerError, RunError, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.run_evaluation import RunEvaluation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.run import Run

__all__ = ["DepthDifference", "DepthPair", "DepthResult", "check_depths", "compared_prefixes"]


@dataclass(frozen=True, slots=True)
class DepthDifference:
    """A query whose top differs between two depths."""

    query_id: str
    shallow: Sequence[str]
    """The ranking at the smaller depth."""
    deep: Sequence[str]
    """The ranking at the larger depth, cut to the smaller depth."""


@dataclass(frozen=True, slots=True)
class DepthPair:
    """Two depths, and the queries whose top at the smaller one differs."""

    shallow: int
    deep: int
    differences: Sequence[DepthDifference]


@dataclass(frozen=True, slots=True)
class DepthResult:
    """The result of asking a ranker at several depths."""

    ranker: str
    queries: int
    pairs: Sequence[DepthPair]
    """Every two depths, the smallest first."""
    metric: str = ""
    """nDCG at the smallest depth; empty without judgments."""
    means: Mapping[int, float] | None = None
    """The mean of the metric by requested depth."""
    confirmation: Tally | None = None
    """How often the tops differed when asked again; None if no top differed at first."""

    @property
    def broken(self) -> Sequence[DepthPair]:
        """The pairs with differences."""
        return [pair for pair in self.pairs if pair.differences]

    @property
    def is_random(self) -> bool:
        """Whether the tops differ, but not because of the depth."""
        return self.confirmation is not None and not self.confirmation.is_confirmed


def check_depths(ranker: RepeatedRanker, golden: GoldenSet, depths: Sequence[int]) -> DepthResult:
    """Ask a ranker at several depths, and compare the tops of its rankings at every two depths.

    Where they differ, the failing queries are asked again at both depths, to see whether the depth
    is the cause (see `condition_tally`).

    Raises:
        ConfigurationError: fewer than two depths are given, one is not a whole number of at least
                1, or the ranker does not take the depth, so that nothing could differ.
        RankerError: the ranker fails.
        RunError: every ranking is empty.
    """
    __tracebackhide__ = True
    wanted = _checked(depths)
    if not ranker.adapter.takes_depth:
        raise ConfigurationError(
            f"ranker '{quoted(ranker.adapter.name)}' does not take the depth: it gives the same "
            "answer at every depth, which is then cut, so this check cannot fail. Give it a "
            "parameter named depth or k (rankers.http: the placeholder {depth}), or remove this "
            "check"
        )
    runs = {depth: _run_at(depth, ranker, golden) for depth in wanted}
    pairs = [
        DepthPair(shallow, deep, compared_prefixes(runs[shallow], runs[deep], shallow))
        for shallow, deep in combinations(wanted, 2)
    ]
    metric, means = _means(runs, golden)
    result = DepthResult(ranker.adapter.name, len(golden), pairs, metric, means)
    if not result.broken:
        return result
    worst = max(result.broken, key=lambda pair: len(pair.differences))
    return replace(result, confirmation=_confirmed(ranker, golden, runs[worst.shallow], worst))


def _run_at(depth: int, ranker: RepeatedRanker, golden: GoldenSet) -> Run:
    __tracebackhide__ = True
    try:
        return replace(ranker, depth=depth).first_run(golden)
    except (RankerError, RunError) as error:
        raise type(error)(f"asked for depth {depth}: {error}") from error


def compared_prefixes(shallow: Run, deep: Run, depth: int) -> Sequence[DepthDifference]:
    """Return the queries whose top differs between two runs.

    Args:
        shallow: the run at the smaller depth; its queries are compared.
        deep: the run at the larger depth.
        depth: the smaller depth.
    """
    tops = ((each, tuple(shallow[each][:depth]), tuple(deep[each][:depth])) for each in shallow)
    return [DepthDifference(each, one, other) for each, one, other in tops if one != other]


def _checked(depths: Sequence[int]) -> Sequence[int]:
    """Return the distinct depths, the smallest first."""
    for place, depth in enumerate(depths):
        check_whole_number(f"depths[{place}]", depth, 1, ConfigurationError)
    wanted = sorted({int(depth) for depth in depths})
    if len(wanted) < 2:
        raise ConfigurationError(
            f"depths={quoted(tuple(depths))} has fewer than two different depths; give those to "
            "compare, such as (10, 20, 50)"
        )
    return wanted


def _means(runs: Mapping[int, Run], golden: GoldenSet) -> tuple[str, Mapping[int, float] | None]:
    """Return nDCG at the smallest depth, and its mean for the run at each depth."""
    if not golden.positive_grades:
        return "", None
    smallest = min(runs)
    metric = Metric.parse(f"nDCG@{smallest}")
    means = {
        depth: RunEvaluation.of(run, golden, Conventions()).mean(metric)
        for depth, run in runs.items()
    }
    return str(metric), means


def _confirmed(ranker: RepeatedRanker, golden: GoldenSet, first: Run, pair: DepthPair) -> Tally:
    """Ask the failing queries again, deep and shallow, and compare with the shallow answers."""
    failing = golden.subset([difference.query_id for difference in pair.differences])

    def differs(depth: int) -> bool:
        attempt = replace(ranker, depth=depth).rerun(failing)
        if attempt.failures:
            raise RankerError(
                f"ranker '{quoted(ranker.adapter.name)}' failed when it was asked again: "
                f"{quoted(next(iter(attempt.failures.values())), 300)}"
            )
        part = Run({each: first[each] for each in attempt.run}, name=first.name)
        return bool(compared_prefixes(part, attempt.run, pair.shallow))

    return tally(lambda: differs(pair.deep), lambda: differs(pair.shallow), golden.fingerprint)
