"""A year of innocent pull requests against one golden set, and how often ``significant`` blocks.

Every pull request, and the first baseline, moves 30% of 100 queries by noise of its own (0.15), as
a model that is trained anew does. No mean drifts, so a baseline that rises through noise is too
high for all who follow. Values are not kept within [0, 1], because clipping adds a drift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from rates import Rate, head, row, two_processes
from verdict_counts import ALPHA

from pytest_rankcheck import Gate, Metric, Outcome
from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.comparison.compared_values import Paired
from pytest_rankcheck.gates.decision_rules import SignificanceRule
from pytest_rankcheck.gates.family_decisions import FamilySet, decide_sets

METRIC = Metric.parse("nDCG@10")
SHOWN = (1, 10, 30, 50)
LEVELS = (0.05, 0.01, 0.005, 0.002, 0.001)
CHUNK = 50
"""The number of years that are played at once."""

RaiseRule = Callable[[Gate, Paired], bool]


def any_gain(gate: Gate, pairs: Paired) -> bool:
    """Raise on every gain."""
    return pairs.gain > 0


def by_the_gate(gate: Gate, pairs: Paired) -> bool:
    """Raise where the gate calls the result better, as an update does."""
    return gate.rule.is_better(pairs)


def never(gate: Gate, pairs: Paired) -> bool:
    """Keep the first approved values for ever."""
    return False


def year(random: np.random.Generator) -> FloatArray:
    """Return the values of the first baseline and of fifty pull requests, ``[51, 100]``."""
    shape = (1 + SHOWN[-1], 100)
    moves = np.where(random.random(shape) < 0.3, random.normal(0, 0.15, shape), 0)
    return np.round(0.5 + moves, 6)


def play(values: FloatArray, gate: Gate, raises: RaiseRule = by_the_gate) -> BoolArray:
    """Return which pull requests are blocked; the first row is the first baseline."""
    ids = tuple(map(str, range(values.shape[1])))
    approved, *proposed = values
    blocked = np.zeros(len(proposed), dtype=bool)
    for step, after in enumerate(proposed):
        pairs = Paired(METRIC, ids, approved, after)
        (decision,), _ = decide_sets([FamilySet(gate.rule, pairs)])
        blocked[step] = decision.outcome is Outcome.REGRESSED
        if not blocked[step] and raises(gate, pairs):
            approved = after
    return blocked


POLICIES: dict[str, tuple[Gate, RaiseRule]] = {
    "rises on any gain": (Gate.significant(alpha=ALPHA), any_gain),
    **{
        f"rises on a gain significant at {level:.1%}"
        + (" (ours)" if level == SignificanceRule.raise_alpha else ""): (
            Gate(type("AtLevel", (SignificanceRule,), {"raise_alpha": level})(alpha=ALPHA)),
            by_the_gate,
        )
        for level in LEVELS
    },
    "never rises": (Gate.significant(alpha=ALPHA), never),
}
"""What the baseline does."""


def _played(name: str, count: int, seed: int) -> BoolArray:
    random = np.random.default_rng(seed)
    return np.array([play(year(random), *POLICIES[name]) for _ in range(count)])


def ratchet_table(histories: int) -> Iterator[str]:
    """Yield the share of innocent pull requests that is blocked, by what the baseline does."""
    yield from head("the baseline", (f"pull request {step}" for step in SHOWN))
    starts = range(0, histories, CHUNK)
    counts = [min(CHUNK, histories - start) for start in starts]
    with two_processes() as pool:
        for name in POLICIES:  # each plays the same years
            blocked = np.concatenate([*pool.map(partial(_played, name), counts, starts)])
            rates = [Rate(int(blocked[:, step - 1].sum()), len(blocked)) for step in SHOWN]
            yield row(name, rates)
