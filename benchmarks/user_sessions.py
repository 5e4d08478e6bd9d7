"""The tables of users with many sessions: what a test by session and a test by user get wrong.

Users have one session each, a few, or very uneven numbers; the sessions of a user are alike. The
next week has other users, or the same ones, half of whom succeed as often as before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from rates import Rate, head, row, two_processes
from verdict_counts import ALPHA, ruling

from pytest_rankcheck import Gate, Metric
from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.comparison.compared_values import Unpaired

Spread = Literal["independent", "mild", "heavy"]
SPREADS: dict[Spread, str] = {
    "independent": "one session each",
    "mild": "one to five sessions each",
    "heavy": "lognormal numbers of sessions",
}
METRIC = Metric.parse("SuccessRate")
USERS = 400
RATE = 0.62
MARGIN = 0.05
KEPT = 0.5
"""The share of users who succeed as often in the next week as in this one."""
WAYS = ("by session", "by user")
GATES = {
    "blocked": (0.0, Gate.significant(alpha=ALPHA)),
    "passed": (MARGIN, Gate.noninferior(MARGIN, alpha=ALPHA)),
}
"""By the outcome that is wrong: the true fall, and the gate."""


@dataclass(frozen=True)
class People:
    """Users: how many sessions each has in a week, and how often each succeeds."""

    spread: Spread
    sizes: IntArray
    rates: FloatArray

    @classmethod
    def drawn(cls, random: np.random.Generator, spread: Spread) -> People:
        """Return users with one session each, with a few each, or with very uneven numbers."""
        sizes = np.ones(USERS, dtype=np.int64)
        if spread == "mild":
            sizes = 1 + random.poisson(1.0, USERS)
        elif spread == "heavy":
            sizes = np.maximum(1, np.round(random.lognormal(1.0, 1.2, USERS))).astype(np.int64)
        return cls(spread, sizes, _rates(random, spread))

    def next_week(self, random: np.random.Generator) -> People:
        """Return the same users a week later: some succeed more often than before, some less."""
        is_kept = random.random(USERS) < KEPT
        return replace(self, rates=np.where(is_kept, self.rates, _rates(random, self.spread)))

    def week(self, random: np.random.Generator, fall: float = 0.0) -> tuple[FloatArray, IntArray]:
        """Return whether each session succeeds, and whose it is; all rates are lower by a share."""
        who = np.repeat(np.arange(USERS), self.sizes)
        chances = self.rates[who] * (1 - fall / RATE)
        return (random.random(len(who)) < chances).astype(np.float64), who


def _rates(random: np.random.Generator, spread: Spread) -> FloatArray:
    """Return how often users succeed; the correlation of two sessions of a user is 0.15 or 0.4."""
    if spread == "independent":
        return np.full(USERS, RATE)
    size = 1 / {"mild": 0.15, "heavy": 0.4}[spread] - 1
    return random.beta(RATE * size, (1 - RATE) * size, USERS)


def user_counts(draws: int, cell: tuple[Spread, bool]) -> Counter[tuple[str, str]]:
    """Return how often each gate is wrong, by what is taken to be independent."""
    spread, same = cell
    random = np.random.default_rng(list(SPREADS).index(spread) * 2 + same)
    counts = Counter[tuple[str, str]]()
    for _ in range(draws):
        people = People.drawn(random, spread)
        later = people.next_week(random) if same else People.drawn(random, spread)
        before, users_before = people.week(random)
        for wrong, (fall, gate) in GATES.items():
            now, users = later.week(random, fall)
            ids = tuple(map(str, range(len(now))))
            by_session = Unpaired(METRIC, ids, before, now)
            by_user = replace(by_session, clusters=users, before_clusters=users_before)
            for way, values in zip(WAYS, (by_session, by_user), strict=True):
                counts[wrong, way] += ruling(gate, values) == wrong
    return counts


def users_tables(draws: int) -> Iterator[str]:
    """Yield the tables of users: false blocks and false passes."""
    cells = [(spread, same) for spread in SPREADS for same in (False, True)]
    with two_processes() as pool:
        found = list(pool.map(partial(user_counts, draws), cells))
    titles = {
        "blocked": "Innocent weeks that `significant` blocks",
        "passed": f"Falls of the margin of {MARGIN:g} that `noninferior` passes",
    }
    for wrong, title in titles.items():
        yield from (f"**{title}**", "", *head("users", WAYS))
        for (spread, same), counts in zip(cells, found, strict=True):
            who = "the same users" if same else "other users"
            rates = (Rate(counts[wrong, way], draws) for way in WAYS)
            yield row(f"{SPREADS[spread]}, {who}", rates)
        yield ""
