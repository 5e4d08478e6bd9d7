"""Simulated logs of sessions, of which the truth is known: users, devices and groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from pytest_rankcheck import Metric, SessionEvaluation, SessionLog, evaluate_sessions
from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.comparison.unpaired_values import Unpaired

__all__ = ["SPREADS", "People", "Week", "devices", "groups", "weeks"]

Spread = Literal["independent", "mild", "heavy"]
SPREADS: tuple[Spread, ...] = ("independent", "mild", "heavy")
METRIC = Metric.parse("SuccessRate")
RATE = 0.62
KEPT = 0.5
"""The share of users who succeed as often in the next week as in this one."""


@dataclass(frozen=True)
class People:
    """Users: how many sessions each has in a week, and how often each succeeds."""

    spread: Spread
    sizes: IntArray
    rates: FloatArray

    @classmethod
    def drawn(cls, random: np.random.Generator, spread: Spread, count: int) -> People:
        """Return users with one session each, with a few each, or with very uneven numbers."""
        sizes = np.ones(count, dtype=np.int64)
        if spread == "mild":
            sizes = 1 + random.poisson(1.0, count)
        elif spread == "heavy":
            sizes = np.maximum(1, np.round(random.lognormal(1.0, 1.2, count))).astype(np.int64)
        return cls(spread, sizes, _rates(random, spread, count))

    def next_week(self, random: np.random.Generator) -> People:
        """Return the same users a week later: some succeed more often than before, some less."""
        fresh = _rates(random, self.spread, len(self.rates))
        is_kept = random.random(len(self.rates)) < KEPT
        return replace(self, rates=np.where(is_kept, self.rates, fresh))

    def week(self, random: np.random.Generator, fall: float = 0.0) -> Week:
        """Return the sessions of a week; every rate is lower by the same share."""
        who = np.repeat(np.arange(len(self.sizes)), self.sizes)
        chances = self.rates[who] * (1 - fall / RATE)
        return Week((random.random(len(who)) < chances).astype(np.float64), who)


def _rates(random: np.random.Generator, spread: Spread, count: int) -> FloatArray:
    """Return how often users succeed; the correlation of two sessions of a user is 0.15 or 0.4."""
    if spread == "independent":
        return np.full(count, RATE)
    size = 1 / {"mild": 0.15, "heavy": 0.4}[spread] - 1
    return random.beta(RATE * size, (1 - RATE) * size, count)


@dataclass(frozen=True)
class Week:
    """The sessions of a week: whether each succeeds, and whose it is, ``[S]``."""

    values: FloatArray
    users: IntArray


def weeks(before: Week, now: Week, *, clustered: bool, matched: bool = False) -> Unpaired:
    """Return two weeks as two samples, of sessions or of users."""
    return Unpaired(
        METRIC,
        tuple(map(str, range(len(now.values)))),
        before.values,
        now.values,
        clusters=now.users if clustered else None,
        before_clusters=before.users if clustered else None,
        are_matched=matched,
    )


def devices(
    random: np.random.Generator, count: int, mobile: float, fall: float = 0.0
) -> SessionEvaluation:
    """Return sessions on phones, where 50% succeed, and on desktops, where 74% do."""
    is_mobile = random.random(count) < mobile
    chances = np.where(is_mobile, 0.5, 0.74) - fall
    return _evaluated(random, chances, device=np.where(is_mobile, "mobile", "desktop"))


def groups(random: np.random.Generator, count: int, share: float = 0.5) -> SessionEvaluation:
    """Return sessions of two groups that succeed equally often; B has this share of them."""
    names = np.where(random.random(count) < share, "B", "A")
    return _evaluated(random, np.full(count, RATE), group=names)


def _evaluated(
    random: np.random.Generator, chances: FloatArray, **attributes: np.ndarray
) -> SessionEvaluation:
    start = int(random.integers(1 << 40))  # the sessions of two logs are different ones
    events = {
        "session_id": [f"{start + number}" for number in range(len(chances))],
        "event": 1,
        "results": "a b",
        "selected": np.where(random.random(len(chances)) < chances, "a", None),
        **attributes,
    }
    return evaluate_sessions(SessionLog.from_frame(pd.DataFrame(events)))
