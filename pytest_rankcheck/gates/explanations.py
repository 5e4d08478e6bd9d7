"""What explains a verdict beyond its evidence: what it depends on, what other gates would say.

Built-in types in every field: reports carry them as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

__all__ = [
    "Fragility",
    "GroupEvidence",
    "MixEffect",
    "OtherRuling",
    "ReplayEvidence",
    "RulingUnder",
    "TieEffect",
]


@dataclass(frozen=True, slots=True)
class Fragility:
    """The fewest queries, or clusters of queries, without which a verdict is another one."""

    units: tuple[str, ...]
    """The ids of the queries, or the names of the clusters; at most three."""
    queries: tuple[tuple[str, ...], ...]
    """The ids of the queries of each unit."""
    are_clusters: bool
    """Whether the units are clusters."""
    ruling: str
    """What the verdict would be without them: passed, regressed or inconclusive."""


@dataclass(frozen=True, slots=True)
class OtherRuling:
    """What another gate would have decided on the same values."""

    gate: str
    """The gate as written in the configuration."""
    ruling: str
    """Passed, regressed or inconclusive."""


@dataclass(frozen=True, slots=True)
class TieEffect:
    """How the order of documents with the same score affects a mean."""

    queries: int
    """In how many queries a judged document in the top k shares its score."""
    lowest: float
    """The lowest mean over all orders of the tied documents."""
    highest: float
    """The highest mean over all orders of the tied documents."""
    decides: bool
    """Whether the verdict depends on the order."""


@dataclass(frozen=True, slots=True)
class RulingUnder:
    """What the gate decides on a replay under another propensity."""

    propensity: str
    before: float
    now: float
    ruling: str
    """Passed, regressed or inconclusive."""


@dataclass(frozen=True, slots=True)
class ReplayEvidence:
    """What a verdict on a replayed log rests on."""

    ruling: str
    """What the gate decided under the propensity of the replay: passed, regressed or inconclusive.
    """
    k: int
    """The number of documents that count as the top."""
    unseen_now: float
    """The share of the top now that was never shown, and was at another rank before, in [0, 1]."""
    unseen_before: float
    """The share of the top before that was never shown, and is at another rank now."""
    max_unseen: float
    """Above this share, nothing is decided."""
    without_unseen: str = ""
    """What the gate decides if they are left out of the rankings now; empty if that is unknown."""
    under: tuple[RulingUnder, ...] = ()
    """What the gate decides under the other propensities of ``sensitivity=``."""

    @property
    def has_unseen(self) -> bool:
        """Whether too much of one of the tops was never shown, and this may decide."""
        is_fall_of_others = self.ruling == self.without_unseen == "regressed"
        is_too_much = max(self.unseen_now, self.unseen_before) > self.max_unseen
        return is_too_much and not is_fall_of_others

    @property
    def flips(self) -> bool:
        """Whether the verdict depends on the propensity."""
        return any(each.ruling != self.ruling for each in self.under)

    @property
    def leaves_open(self) -> bool:
        """Whether the log cannot decide, so that the verdict is inconclusive."""
        return self.has_unseen or self.flips


@dataclass(frozen=True, slots=True)
class MixEffect:
    """How much of a difference comes from the slices of an attribute that grew or shrank."""

    attribute: str
    at_mix: float
    """The difference if each slice counted as much as in the baseline."""
    mix: float
    """The rest of the difference."""
    missing_share: float
    """The share of the baseline in slices that are gone, in [0, 1]; they are left out."""
    of: str = "the baseline"
    """Whose mix is used: the baseline's or the other group's."""


@dataclass(frozen=True, slots=True)
class GroupEvidence:
    """The sizes of two groups of one log, and whether they are those that were planned."""

    log: str
    """The name of the log."""
    names: tuple[str, str]
    """The group that is compared with, and the group that is tested, as ``group=A``."""
    units: tuple[int, int]
    """How many independent units each group has."""
    unit: str
    """What the units are: sessions, or clusters."""
    ratio: float
    """How many units of the tested group there should be for each one of the other."""
    ratio_p: float
    """The p of a chi-square test of the ratio."""
    in_both: int
    """How many units were found in both groups, and left out."""
    left_out: int
    """How many sessions they had."""

    LEVEL: ClassVar[float] = 0.001
    """Below this p, the groups were not assigned as planned."""

    @property
    def leaves_open(self) -> bool:
        """Whether the ratio of the groups is not the planned one, so nothing can be decided."""
        return self.ratio_p < self.LEVEL
