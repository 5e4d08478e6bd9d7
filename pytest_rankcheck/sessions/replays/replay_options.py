"""What a caller chooses for a replay: states, propensity, clipping, and what else is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.golden.log_replay import MAX_UNSEEN, Clipped, Replay
from pytest_rankcheck.rankers.ranking import checked_option
from pytest_rankcheck.sessions.replays.propensity import (
    CLIP,
    Propensity,
    chances_of,
    checked_clip,
    is_affine,
    propensity_text,
)

__all__ = ["RelevanceModel", "ReplayOptions", "States"]

States = Literal["last", "all", "prefixes"]
"""Which states are replayed: the one with the final selection, all with a selection, or all up to
the final selection."""

RelevanceModel = Callable[[str, Sequence[str]], Sequence[float]]
"""Given a query and ids of documents, how likely each document is relevant, in [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """Which states of a log are replayed, and how; see `SessionLog.to_golden_set`."""

    states: States = "last"
    propensity: Propensity | None = None
    clip: float | None = None
    unselected: bool = False
    uncorrected: bool = False
    sensitivity: Sequence[Propensity] = ()
    relevance: RelevanceModel | None = None
    max_unseen: float = MAX_UNSEEN

    def __post_init__(self) -> None:
        checked_option(self.states, States, "states")
        if not 0 <= self.max_unseen <= 1:
            raise ConfigurationError(
                f"max_unseen={quoted(self.max_unseen)} is invalid; give the largest share of the "
                "top that may never have been shown, from 0 to 1"
            )
        if self.clip is not None:
            checked_clip(self.clip)
        for name in ("clip", "sensitivity", "relevance"):
            if self.propensity is None and getattr(self, name):
                raise ConfigurationError(
                    f'{name}= has no effect without a propensity; give propensity="power(1)", or '
                    "a table"
                )
        if self.relevance is not None and not callable(self.relevance):
            raise ConfigurationError(
                f"relevance={quoted(repr(self.relevance), 60)} is invalid; give a function of a "
                "query and document ids that returns how likely each is relevant"
            )
        if any(map(is_affine, self.sensitivity)):
            raise ConfigurationError(
                "sensitivity= takes propensities, not (alpha, beta); replay the log once for each "
                "of these tables"
            )
        if self.uncorrected and self.propensity is not None:
            raise ConfigurationError(
                "uncorrected=True contradicts a propensity, which corrects positions; give one of "
                "them"
            )
        if self.is_estimated:
            self._check_estimated()
        elif self.unselected and (self.states == "prefixes" or self.propensity is not None):
            other = "states='prefixes'" if self.states == "prefixes" else "a propensity"
            raise ConfigurationError(
                f"unselected=True cannot be combined with {other}, which judges a state by a "
                "selection that it does not have"
            )

    def _check_estimated(self) -> None:
        what = "relevance=" if self.relevance is not None else "a propensity with (alpha, beta)"
        if self.states != "all":
            raise ConfigurationError(
                f"{what} needs states='all': which state of a session is its last one with a "
                "selection depends on what was selected, so the estimates would be biased"
            )
        if self.sensitivity:
            raise ConfigurationError(
                f"sensitivity= cannot be combined with {what}; replay the log once for each "
                "propensity"
            )

    @property
    def is_estimated(self) -> bool:
        """Whether every shown document gets an estimate of its relevance."""
        return self.relevance is not None or is_affine(self.propensity)

    @property
    def smallest(self) -> float:
        """The smallest propensity that counts."""
        return CLIP if self.clip is None else float(self.clip)

    def summary(self, ranks: IntArray) -> Replay:
        """Return what the golden set is to know of the replay.

        Args:
            ranks: ``[K]`` the ranks of the selections.
        """
        if self.propensity is None:
            return Replay(uncorrected=self.uncorrected, max_unseen=float(self.max_unseen))
        return Replay(
            propensity=propensity_text(self.propensity),
            clip=self.smallest,
            clipped=_clipped(chances_of(ranks, self.propensity)[0], self.smallest),
            is_estimated=self.is_estimated,
            has_model=self.relevance is not None,
            alternatives=tuple(map(propensity_text, self.sensitivity)),
            max_unseen=float(self.max_unseen),
        )


def _clipped(chances: FloatArray, clip: float) -> Clipped:
    """Return how many selections have a chance below ``clip``, and how much they would weigh."""
    weights, is_clipped = 1 / chances, chances < clip
    share = float(weights[is_clipped].sum() / weights.sum()) if weights.size else 0.0
    return Clipped(int(is_clipped.sum()), len(chances), share)
