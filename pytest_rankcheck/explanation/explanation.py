"""The explanation of a failed assertion: values that every report puts into words.

It is made once for all metrics of the assertion. A worker of pytest-xdist pickles it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.evaluation.evaluation import Evaluation, attributes_of
from pytest_rankcheck.metrics.metric_definition import KINDS

if TYPE_CHECKING:
    from pytest_rankcheck.behaviour.expectation_check import ExpectationResult
    from pytest_rankcheck.comparison.rank_changes import Crossing
    from pytest_rankcheck.comparison.unjudged_documents import Unjudged
    from pytest_rankcheck.explanation.gate_numbers import GateNumbers
    from pytest_rankcheck.gates.verdict import Outcome
    from pytest_rankcheck.metrics.kinds import MeasurementKind
    from pytest_rankcheck.metrics.metric_names import Metric
    from pytest_rankcheck.remedies import Remedy


_Values = TypeVar("_Values", float, FloatArray)

MOST_CAUSES = 3
"""How many causes the text of a failure names."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a metric is held to: at least, or at most, a value."""

    limit: float
    is_floor: bool
    confidence: float | None = None
    """If given, the one-sided confidence bound of the mean is compared, not the mean."""

    def excess(self, values: _Values) -> _Values:
        """Return how far values are beyond the bound; negative within it."""
        return self.limit - values if self.is_floor else values - self.limit


@dataclass(frozen=True, slots=True)
class Bounded:
    """One set of queries held to a bound."""

    label: str
    """The slice as ``attribute=value``; empty for all queries."""
    queries: int
    mean: float
    tested: float
    """What is compared with the limit: the mean, or its confidence bound."""
    holds: bool
    gated: bool = True
    interval: tuple[float, float] | None = None
    """For a value that is not a mean: how precisely it is known."""

    @property
    def fails(self) -> bool:
        """Whether it fails the assertion."""
        return self.gated and not self.holds


class Absence(Enum):
    """Why a document has no rank."""

    NOT_RANKED = "not ranked"
    NOT_KEPT = "not kept"
    """The record keeps less of the ranking, so it is not known where the document was."""


Rank = int | Absence


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document of a query: where it is now, and where it was if two rankings are compared."""

    id: str
    title: str | None
    grade: float | None
    """None: unjudged."""
    now: Rank
    before: Rank | None = None


@dataclass(frozen=True, slots=True)
class ExplainedQuery:
    """A query that fell, or is beyond a bound, and the documents that moved its values."""

    id: str
    text: str
    values: Mapping[str, tuple[float | None, float]]
    """For each metric that fell, the value before and now."""
    documents: Sequence[RankedDocument]
    top: tuple[str, ...]
    """The first documents of its ranking now."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The part of a ranker's answer to a query that is shown."""

    label: str
    """Which of several answers it is, such as "as it is"."""
    documents: tuple[str, ...]
    first: int
    """The rank of the first document that is shown."""
    size: int
    """How many documents the whole answer has."""
    failure: str = ""
    """The error that came instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuery:
    """A query whose answers differ from each other, or from what is expected of them."""

    id: str
    text: str = ""
    place: str = ""
    """Its place in the golden set's file, if known."""
    becomes: str | None = None
    """The text of the other query that was asked; None: the same."""
    attributes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The attributes in which the other query differs, each with its value in both."""
    how: str = ""
    """How the second answer was asked for, such as "in reverse"."""
    similarity: Mapping[str, float] = field(default_factory=dict)
    """How similar the answers are, by measure."""
    values: Mapping[str, tuple[float | None, float]] = field(default_factory=dict)
    """By metric, the value of each answer."""
    broken: tuple[ExpectationResult, ...] = ()
    """The expectations that do not hold."""
    answers: tuple[Answer, ...]
    titles: Mapping[str, str]
    """The titles of the documents that are named."""


@dataclass(frozen=True, slots=True)
class ExplainedSlice:
    """The values of a slice for all metrics that failed."""

    label: str
    """The slice as ``attribute=value``."""
    queries: int
    means: Mapping[str, tuple[float | None, float]]
    """By metric, the mean before and now."""
    outcome: Outcome
    """The worst of all metrics."""
    fell_most: bool = False
    """Whether it fell more than any other gated slice in every metric."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A document that is in the top of more queries than before, or of fewer."""

    id: str
    title: str | None
    k: int
    before: int
    """In how many tops it was."""
    now: int


@dataclass(frozen=True, slots=True)
class InCommon:
    """What the queries that fell in a metric have in common."""

    metric: Metric
    causes: tuple[str, ...]
    """In words, the best first; empty if nothing was found."""
    fallen: int
    """How many queries fell."""


@dataclass(frozen=True, slots=True)
class MetricFailure:
    """A metric that fails its assertion: by a verdict, a bound, or the state of its record."""

    metric: Metric
    verdict: GateNumbers | None = None
    bound: Bound | None = None
    leading: Bounded | None = None
    """What is beyond the bound: all queries, or else the first slice."""
    interval: tuple[float, float] | None = None
    """For a value that is not a mean: how precisely it is known."""
    crossing: Crossing | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Explanation:
    """Why an assertion, a test or a test session failed."""

    kind: MeasurementKind = KINDS["query"]
    golden_set: str = ""
    queries: int = 0
    """How many queries there are."""
    of: int = 0
    """How many metrics the assertion has, failed or not."""
    failures: tuple[MetricFailure, ...] = ()
    """The metrics that failed by a verdict or a bound."""
    slices: tuple[ExplainedSlice, ...] = ()
    """Those that failed come first, then the largest changes."""
    in_common: InCommon | None = None
    """For the first metric that fell in more than one query; without one, only the world's
    changes."""
    fallen: int = 0
    """How many of them fell in any of the metrics that failed, or have answers that differ."""
    worst: tuple[ExplainedQuery, ...] = ()
    """The queries that fell most."""
    worst_of: str = ""
    """The slice that these belong to, as ``attribute=value``; empty: all queries."""
    facts: tuple[str, ...] = ()
    """What a check without a metric counted."""
    answered: tuple[AnsweredQuery, ...] = ()
    """The queries whose answers differ most."""
    others: tuple[str, ...] = ()
    """The first of the other queries whose answers differ."""
    taken_over: tuple[TakenOver, ...] = ()
    """For a metric of the whole run: the documents that took over, then those that are gone."""
    unjudged: Unjudged | None = None
    caveats: Sequence[str] = ()
    """What may be wrong with the run or its documents rather than with the ranker."""
    headline: str = ""
    """What comes first if more than gates and bounds fail the assertion."""
    before_headline: str = ""
    """What comes before the words of the gates, such as that an update is refused."""
    remarks: tuple[str, ...] = ()
    """What is said about the record: what differs from it, and where it is."""
    to_fix: str = ""
    """What to do besides a command."""
    remedies: tuple[Remedy, ...] = ()

    @property
    def causes(self) -> Sequence[str]:
        """What the queries that fell have in common, in words, the best first."""
        return self.in_common.causes if self.in_common else ()


def bounded_places(
    evaluation: Evaluation, by: str | Sequence[str] | None
) -> Mapping[str, Sequence[int]]:
    """Return what a bound applies to, by label: the places of all queries, and of each slice."""
    everything: Sequence[int] = range(len(evaluation.query_ids))
    return {
        "": everything,
        **{
            f"{attribute}={value}": evaluation.places(query_ids)
            for attribute in attributes_of(by)
            for value, query_ids in evaluation.slices(attribute).items()
        },
    }
