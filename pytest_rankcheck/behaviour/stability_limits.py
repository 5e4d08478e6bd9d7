"""The limits of ``assert_ranking_stable``: what they allow, and which of two is stricter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.argument_kinds import is_number
from pytest_rankcheck.errors import ConfigurationError, plural, quoted
from pytest_rankcheck.evaluation.recorded_precision import SLACK

__all__ = ["StabilityLimits"]

_RANGES = {"min_rbo": (0, 1), "min_overlap": (0, 1), "max_kendall": (1, 0), "min_tau_ap": (-1, 1)}
"""The limits on a single query: the value at which each allows everything, then nothing."""

_COUNTS = ("max_changed_queries", "allowed_queries")
"""The limits on how many queries may differ."""


@dataclass(frozen=True, slots=True)
class StabilityLimits:
    """The limits on changes of the top k; None means no limit.

    Raises:
        ConfigurationError: a limit is invalid.
    """

    min_rbo: float | None = 0.9
    """The lowest allowed rank-biased overlap of any query."""
    p: float = 0.9
    """The probability with which the user of RBO goes on to the next rank."""
    min_overlap: float | None = None
    """The lowest allowed overlap of the top k of any query."""
    max_kendall: float | None = None
    """The largest allowed normalised Kendall distance of the top k of any query (Fagin, Kumar and
    Sivakumar 2003; a pair that only one list has costs 1/2)."""
    min_tau_ap: float | None = None
    """The lowest allowed AP correlation of any query's ranking with the approved one, over the
    shared documents."""
    max_changed_queries: float | None = None
    """How many queries may have a different top k: a whole number, or a share below 1."""
    k: int = 10
    """How many documents of each ranking count."""
    allowed_queries: int = 0
    """How many queries may exceed the limits on a single query."""

    def __post_init__(self) -> None:
        for name, (loosest, strictest) in _RANGES.items():
            self._check_range(name, min(loosest, strictest), max(loosest, strictest))
            limit = getattr(self, name)
            if limit is not None and abs(limit - loosest) <= SLACK:
                raise ConfigurationError(
                    f"{name}={limit:g} can never fail; give another number, or None for no limit"
                )
        self._check_range("max_changed_queries", 0, math.inf)
        if not _is_number(self.p) or not 0 < self.p < 1:
            raise ConfigurationError(
                f"p={quoted(self.p)} is invalid; give a number between 0 and 1"
            )
        check_whole_number("k", self.k, 1, ConfigurationError)
        check_whole_number("allowed_queries", self.allowed_queries, 0, ConfigurationError)
        if not self._limits_queries and self.max_changed_queries is None:
            raise ConfigurationError("no limit is set; give min_rbo or another limit")

    def _check_range(self, name: str, low: float, high: float) -> None:
        value = getattr(self, name)
        if value is not None and not (_is_number(value) and low <= value <= high):
            raise ConfigurationError(
                f"{name}={quoted(value)} is invalid; give a number from {low} to {high:g}"
            )

    @property
    def _limits_queries(self) -> bool:
        """Whether there is a limit on single queries."""
        return any(getattr(self, name) is not None for name in _RANGES)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> StabilityLimits:
        """Return the limits that `to_dict` wrote; a missing limit is None.

        Raises:
            ConfigurationError: a limit is invalid.
            TypeError: an unknown name.
        """
        return cls(**{"min_rbo": None, **entry})

    def to_dict(self) -> dict[str, float]:
        """Return the limits that are set, in the form of the record's file."""
        entry: dict[str, float] = {
            name: _plain(getattr(self, name))
            for name in (*_RANGES, "max_changed_queries")
            if getattr(self, name) is not None
        }
        if self.min_rbo is not None:
            entry["p"] = _plain(self.p)
        entry["k"] = int(self.k)
        if self._limits_queries and self.allowed_queries:
            entry["allowed_queries"] = int(self.allowed_queries)
        return entry

    def __str__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())

    def refuse_never_failing(self, queries: int) -> None:
        """Refuse limits that this many queries cannot exceed, whatever their rankings are.

        Raises:
            ConfigurationError: naming what allows too much.
        """
        if not queries or (self._limits_queries and self.allowed_queries < queries):
            return
        if self.allowed_changes(queries) + SLACK < queries:
            return
        given = {name: value for name, value in self.to_dict().items() if name in _COUNTS}
        names = " and ".join(f"{name}={value!r}" for name, value in given.items())
        where = plural(queries, "query", "queries")
        raise ConfigurationError(f"{names} can never fail on {where}; give a smaller number")

    def is_at_least_as_strict_as(self, other: StabilityLimits) -> bool:
        """Return whether these limits fail everything that the others fail; False if in doubt.

        A larger ``k`` makes ``max_changed_queries`` stricter. Similarities over another length, or
        with another ``p``, may be higher or lower.
        """
        return self._is_strict_for_queries(other) and self._is_strict_for_changes(other)

    def _is_strict_for_queries(self, other: StabilityLimits) -> bool:
        if not other._limits_queries:
            return True
        if self.k >= other.k and self._most_changes <= other.allowed_queries:
            return True  # a query that exceeds a limit has changed
        if self.k != other.k or self.allowed_queries > other.allowed_queries:
            return False
        if other.min_rbo is not None and self.p != other.p:
            return False
        return all(
            _is_tight(getattr(self, name), getattr(other, name), higher=strictest > loosest)
            for name, (loosest, strictest) in _RANGES.items()
        )

    @property
    def _most_changes(self) -> float:
        """The most queries that may have a different top k, on any golden set."""
        most = self.max_changed_queries
        return math.inf if most is None or 0 < most < 1 else most

    def _is_strict_for_changes(self, other: StabilityLimits) -> bool:
        mine, theirs = self.max_changed_queries, other.max_changed_queries
        if theirs is None:
            return True
        if mine is None or self.k < other.k:
            return False
        # How many queries a share allows depends on the golden set.
        same_kind = mine == 0 or (mine < 1) == (0 < theirs < 1)
        return same_kind and mine <= theirs

    def allowed_changes(self, queries: int) -> float:
        """Return how many of ``queries`` queries may have a different top k."""
        limit = self.max_changed_queries
        if limit is None:
            return math.inf
        return limit * queries if 0 < limit < 1 else limit


def _is_tight(limit: float | None, other: float | None, *, higher: bool) -> bool:
    """Return whether a limit allows no more than another one; None allows everything."""
    if limit is None or other is None:
        return other is None
    return limit >= other if higher else limit <= other


def _plain(value: float) -> float:
    """Return a number of any type in JSON's form, and whole numbers without a decimal point."""
    return int(value) if float(value).is_integer() else float(value)


def _is_number(value: object) -> bool:
    return is_number(value) and math.isfinite(value)
