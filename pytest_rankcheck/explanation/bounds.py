"""A fixed bound of a metric, and what was held to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.evaluation.evaluation import Evaluation, attributes_of

_Values = TypeVar("_Values", float, FloatArray)


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
    is_quantile: bool = False
    concurrency: int | None = None
    """For a time: how many queries were asked at the same time."""

    @property
    def fails(self) -> bool:
        """Whether it fails the assertion."""
        return self.gated and not self.holds


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
