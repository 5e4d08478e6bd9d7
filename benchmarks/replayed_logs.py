"""The table of replays: simulated logs, replayed with right and with wrong propensities.

Each search has one good document among ten. The ranker of the log has it at rank 1 in half of the
searches, and anywhere in the others. A user looks at rank r with the probability r ** -eta and
selects the good document if they look at it; with trust, another one that they look at with the
probability trust / r. The new ranker has the ranking of the log in half of the searches. In the
others it ranks the good document as the old one does, but drawn anew, and the others at random, so
it is equal. A worse one also moves the good document to any rank in some searches, so that the mean
RR truly falls by a given amount.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from rates import Rate, head, row, two_processes
from verdict_counts import ALPHA, ruling

from pytest_rankcheck import Gate, Metric
from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.comparison.compared_values import Paired
from pytest_rankcheck.sessions.replayed_queries import CLIP, Propensity, propensities_of
from pytest_rankcheck.statistics.mean_differences import UNSEEN_WEIGHTED_GAIN

SHOWN = 10
SEARCHES = 1000
METRIC = Metric.parse("RR")
RANKS = np.arange(1, SHOWN + 1)
MEAN_RR = float(0.5 + 0.5 * np.mean(1 / RANKS))
"""The true mean RR of the ranker of the log: half 1, half the mean of 1 / rank."""
MARGIN = 0.05


@dataclass(frozen=True)
class Row:
    """One way to replay a log, and the users who made it."""

    name: str
    propensity: Propensity | None
    clip: float = CLIP
    eta: float = 1.0
    """How steeply users look less often further down."""
    trust: float = 0.0


ROWS = (
    Row("the right propensity, `power(1)`", "power(1)"),
    Row("the right one, `power(0.5)`", "power(0.5)", eta=0.5),
    Row("the right one, `power(1.5)`, `clip=0.01`", "power(1.5)", 0.01, eta=1.5),
    Row("the right one, `power(1.5)`, but ranks 8 to 10 clipped", "power(1.5)", eta=1.5),
    Row("`power(0.5)`, but it is 1", "power(0.5)"),
    Row("`power(1)`, but it is 0.5", "power(1)", eta=0.5),
    Row("no propensity (`uncorrected=True`)", None),
    Row("users who trust the ranker, `power(1)`", "power(1)", trust=0.2),
)


@dataclass(frozen=True)
class Searches:
    """N searches: where the documents of the log are now, and which were selected."""

    good: IntArray
    """``[N]`` the rank of the good document in the log."""
    now: IntArray
    """``[N, 10]`` by the rank in the log: the rank of the document now."""
    selected: BoolArray
    """``[N, 10]`` by the rank in the log."""


def searches(
    random: np.random.Generator, count: int, *, eta: float, trust: float = 0.0, fall: float = 0.0
) -> Searches:
    """Return searches, and the rankings of a new ranker that is worse by ``fall``."""

    def anywhere() -> IntArray:
        return random.integers(1, SHOWN + 1, count)

    def drawn() -> IntArray:
        return np.where(random.random(count) < 0.5, 1, anywhere())

    good = drawn()
    is_same = random.random(count) < 0.5
    new = np.where(is_same, good, drawn())
    worse = fall / (MEAN_RR - float(np.mean(1 / RANKS)))
    new = np.where(random.random(count) < worse, anywhere(), new)
    is_good = good[:, np.newaxis] == RANKS
    looked = random.random((count, SHOWN)) < RANKS**-eta
    trusted = random.random((count, SHOWN)) < trust / RANKS
    order = np.where(is_same[:, np.newaxis], RANKS / SHOWN, random.random((count, SHOWN)))
    order[is_good] = np.inf  # the good document comes last, and is then put at its rank
    others = order.argsort(axis=1).argsort(axis=1) + 1
    others = others + (others >= new[:, np.newaxis])
    now = np.where(is_good, new[:, np.newaxis], others)
    return Searches(good, now, looked & (is_good | trusted))


def replayed(seen: Searches, propensity: Propensity | None, clip: float = CLIP) -> Paired:
    """Return RR in the log and now, as ``to_golden_set("all", propensity=...)`` measures it.

    Without a propensity the best selected document of a search counts; otherwise each selection.
    """
    if propensity is None:
        has_any = seen.selected.any(axis=1)
        before, after = (
            np.where(seen.selected, 1 / ranks, 0.0).max(axis=1)[has_any]
            for ranks in (np.broadcast_to(RANKS, seen.now.shape), seen.now)
        )
        return Paired(METRIC, _ids(len(before)), before, after)
    search, place = np.nonzero(seen.selected)
    return Paired(
        METRIC,
        _ids(len(search)),
        1 / RANKS[place],
        1 / seen.now[search, place],
        weights=1 / np.maximum(propensities_of(RANKS[place], propensity), clip),
        clusters=search,
        drawn_share=UNSEEN_WEIGHTED_GAIN,
    )


def _ids(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


COLUMNS = {
    "blocked": "`significant` blocks an equal ranker",
    "missed": "`noninferior` passes a fall of twice the margin",
    "open": "`noninferior` cannot decide on an equal ranker",
    "held": "95% intervals that hold the truth",
}


def counts(row: Row, draws: int) -> Counter[str]:
    """Return how often each of `COLUMNS` happened."""
    random = np.random.default_rng(zlib.crc32(f"{row.name} {SEARCHES}".encode()))
    significant, noninferior = Gate.significant(alpha=ALPHA), Gate.noninferior(MARGIN, alpha=ALPHA)
    happened = Counter[str]()
    for _ in range(draws):
        equal, worse = (
            replayed(
                searches(random, SEARCHES, eta=row.eta, trust=row.trust, fall=fall),
                row.propensity,
                row.clip,
            )
            for fall in (0.0, 2 * MARGIN)
        )
        low, high = equal.differences.interval()
        happened["blocked"] += ruling(significant, equal) == "blocked"
        happened["missed"] += ruling(noninferior, worse) == "passed"
        happened["open"] += ruling(noninferior, equal) == "inconclusive"
        happened["held"] += low <= 0 <= high
    return happened


def replays_table(draws: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield from head("replay", COLUMNS.values())
    with two_processes() as pool:
        for each, happened in zip(ROWS, pool.map(partial(counts, draws=draws), ROWS), strict=True):
            yield row(each.name, (Rate(happened[name], draws) for name in COLUMNS))
