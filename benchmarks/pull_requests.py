"""A year of pull requests against one golden set, and what a gate makes of them.

The golden set is fixed, so every pull request is measured on the same queries. Two processes:

- **kept** noise: a pull request moves 30% of the queries, and once it is merged they stay moved.
  The mean of the golden set does a random walk, although an innocent change does nothing to the
  population of queries.
- **renewed** noise: every pull request, and the first baseline, moves 30% of the queries from the
  same level, as a model that is trained anew does. No mean drifts, so a baseline that rises through
  noise is too high for all who follow.

The ratchet needs renewed noise, the slide kept noise. Values are not kept within [0, 1], because
clipping adds a drift of its own. With 100 queries and noise of 0.15, a pull request moves the mean
by 0.0082 (standard deviation). This reproduces the audit behind these tables: where any gain
raises the baseline, fifty falls of 0.003 merge a loss of 0.126 under ``significant`` and of 0.093
under a tolerance of 0.01; where a gain significant at 1% raises it, 13% of the innocent pull
requests are blocked at the 50th.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from pytest_rankcheck import Gate, Metric, Outcome
from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.gates.set_decisions import FamilySet, decide_sets

METRIC = Metric.parse("nDCG@10")
STEPS = 50
LEVEL = 0.5
"""The value of every query without noise before the first pull request; only differences matter."""

Guard = Callable[[Paired, int], bool]
"""Whether a guard stops a pull request, given its values against the approved ones, and the number
of changes since these were approved: those merged, and this one."""

RaiseRule = Callable[[Gate, Paired], bool]
"""Whether the values of a merged pull request become the approved ones."""


@dataclass(frozen=True)
class History:
    """What the pull requests of one history do to the queries of the golden set."""

    changes: FloatArray
    """``[steps, queries]`` the change of each query; it stays if the pull request is merged."""
    noise: FloatArray
    """``[1 + steps, queries]`` what is added to the values of the first baseline, and to those of
    each pull request, and does not stay."""


@dataclass(frozen=True)
class Process:
    """How histories are made."""

    queries: int = 100
    changed: float = 0.3
    """The share of the queries that a pull request moves."""
    noise: float = 0.15
    """The standard deviation of the move of such a query."""
    fall: float = 0.0
    """How much each pull request truly lowers the mean."""
    is_renewed: bool = False
    """Whether the noise of each pull request is its own, or stays."""

    def history(self, random: np.random.Generator, steps: int = STEPS) -> History:
        """Return one history of so many pull requests."""
        shape = (1 + steps, self.queries)
        moves = np.where(
            random.random(shape) < self.changed, random.normal(0, self.noise, shape), 0
        )
        falls = np.full((steps, self.queries), -self.fall)
        if self.is_renewed:
            return History(falls, moves)
        is_moved = moves[1:] != 0
        return History(np.where(is_moved, moves[1:] + falls / self.changed, 0), np.zeros(shape))

    def histories(self, count: int, seed: int = 0) -> Iterator[History]:
        """Yield histories; the same seed gives every gate the same ones."""
        random = np.random.default_rng(seed)
        for _ in range(count):
            yield self.history(random)


class Reference(Protocol):
    """What a pull request is compared with."""

    values: FloatArray

    def merged(self, gate: Gate, pairs: Paired) -> None:
        """Take note of a pull request that was merged."""


@dataclass
class Register:
    """The approved values, replaced where the rule for raising says so."""

    values: FloatArray
    raises: RaiseRule

    def merged(self, gate: Gate, pairs: Paired) -> None:
        """Raise the approved values, or keep them."""
        if self.raises(gate, pairs):
            self.values = pairs.after


@dataclass
class LastMerged:
    """The mean of each query over the last five merged pull requests."""

    values: FloatArray
    count: int = 5
    _last: list[FloatArray] = field(default_factory=list)

    def merged(self, gate: Gate, pairs: Paired) -> None:
        """Add the values of a merged pull request."""
        self._last = [*(self._last or [self.values]), pairs.after][-self.count :]
        self.values = np.mean(self._last, axis=0)


def any_gain(gate: Gate, pairs: Paired) -> bool:
    """Raise on every gain."""
    return pairs.gain > 0


def by_the_gate(gate: Gate, pairs: Paired) -> bool:
    """Raise where the gate calls the result better, as an update does."""
    return gate.rule.is_better(pairs)


def never(gate: Gate, pairs: Paired) -> bool:
    """Keep the first approved values for ever."""
    return False


@dataclass(frozen=True)
class Played:
    """What happened to each pull request of one history, ``[steps]``."""

    blocked: BoolArray
    """Whether the gate blocked it."""
    stopped: BoolArray
    """Whether the guard stopped it, though the gate let it pass."""

    @property
    def merged(self) -> BoolArray:
        """Whether neither the gate nor the guard held it back."""
        return ~(self.blocked | self.stopped)


def play(
    history: History,
    gate: Gate,
    *,
    guard: Guard | None = None,
    raise_rule: RaiseRule = by_the_gate,
    reference: Callable[[FloatArray], Reference] | None = None,
) -> Played:
    """Propose the pull requests of a history one after the other.

    One that is blocked or stopped is dropped, and the next starts from the last that was merged.
    An inconclusive verdict is a warning, so the pull request is merged.

    Args:
        history: what the pull requests do.
        gate: decides on each against the approved values.
        guard: looks at the same values, if the gate lets them pass; None: no guard.
        raise_rule: which merged pull requests raise the approved values.
        reference: makes what to compare with from the first values, in place of approved ones.
    """
    steps, queries = history.changes.shape
    ids = tuple(map(str, range(queries)))
    level, first = np.full(queries, LEVEL), np.round(LEVEL + history.noise[0], 6)
    approved = Register(first, raise_rule) if reference is None else reference(first)
    blocked, stopped = np.zeros(steps, dtype=bool), np.zeros(steps, dtype=bool)
    since = 0
    for step in range(steps):
        proposed = level + history.changes[step]
        before, after = approved.values, np.round(proposed + history.noise[1 + step], 6)
        pairs = Paired(METRIC, ids, before, after)
        (decision,), _ = decide_sets([FamilySet(gate.rule, pairs)])
        blocked[step] = decision.outcome is Outcome.REGRESSED
        stopped[step] = not blocked[step] and guard is not None and guard(pairs, since + 1)
        if not blocked[step] and not stopped[step]:
            level = proposed
            approved.merged(gate, pairs)
            since = since + 1 if approved.values is before else 0
    return Played(blocked, stopped)
