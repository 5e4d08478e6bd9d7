"""The tables of replays: right and wrong propensities, trust, clipping, models of relevance."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

import numpy as np
from rates import Rate
from replayed_logs import (
    SHOWN,
    Searches,
    bad_model,
    estimated,
    good_model,
    searches,
    trusting,
    two_rankers,
    weighted,
)
from verdict_counts import ALPHA, PROCESSES, ruling

from pytest_rankcheck import Gate
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.golden.log_replay import MAX_UNSEEN
from pytest_rankcheck.sessions.replays.propensity import propensity_weights
from pytest_rankcheck.statistics.intervention_harvesting import harvested

SIZES = (200, 1000, 5000)
MARGIN = 0.05
TRUST = 0.2
FULL_DRAWS = 200
"""The number of searches for which all draws are made; with more, fewer are."""
CLOSE = 0.05
"""An estimated propensity should not be further from the truth."""
ESTIMATED_FROM = (2000, 10_000, 50_000)
"""The numbers of sessions from which propensities are estimated."""
TRIED = ("power(0.5)", "power(1)", "power(1.5)")
"""The propensities of ``sensitivity=``."""

Replay = Callable[[Searches], Paired]


@dataclass(frozen=True)
class Row:
    """One way to replay a log, and the users who made it."""

    name: str
    replay: Replay
    eta: float = 1.0
    """How steeply users look less often further down."""
    trust: float = 0.0
    sensitivity: Sequence[str] = ()
    unseen: int = 0
    """How many documents the new ranker puts on top that were never shown."""
    max_unseen: float = MAX_UNSEEN
    gain: float = 0.0
    """How much better the equal ranker is after all."""


ROWS = (
    Row("the right propensity, `power(1)`", lambda seen: weighted(seen, "power(1)")),
    Row("the right one, `power(0.5)`", lambda seen: weighted(seen, "power(0.5)"), eta=0.5),
    Row(
        "the right one, `power(1.5)`, `clip=0.01`",
        lambda seen: weighted(seen, "power(1.5)", 0.01),
        eta=1.5,
    ),
    Row(
        "the right one, `power(1.5)`, but ranks 8 to 10 clipped",
        lambda seen: weighted(seen, "power(1.5)"),
        eta=1.5,
    ),
    Row("`power(0.5)`, but it is 1", lambda seen: weighted(seen, "power(0.5)")),
    Row("`power(1)`, but it is 0.5", lambda seen: weighted(seen, "power(1)"), eta=0.5),
    Row("`power(1.5)`, but it is 1", lambda seen: weighted(seen, "power(1.5)")),
    Row("no propensity (`uncorrected=True`)", lambda seen: weighted(seen, None)),
    Row(
        f"the same, and the ranker is better by {MARGIN}",
        lambda seen: weighted(seen, None),
        gain=MARGIN,
    ),
    Row(
        "`power(1)`, but it is 0.5; `sensitivity=`",
        lambda seen: weighted(seen, "power(1)"),
        eta=0.5,
        sensitivity=TRIED,
    ),
    Row(
        "`power(0.5)`, but it is 1; `sensitivity=`",
        lambda seen: weighted(seen, "power(0.5)"),
        sensitivity=TRIED,
    ),
    Row("clipped at 0.3", lambda seen: weighted(seen, "power(1)", 0.3)),
    Row(
        "clipped at 0.3, with a good model",
        lambda seen: estimated(seen, "power(1)", 0.3, good_model(seen)),
    ),
    Row(
        "not clipped, with a bad model",
        lambda seen: estimated(seen, "power(1)", model=bad_model(seen)),
    ),
    Row(
        "users who trust the ranker, `power(1)`",
        lambda seen: weighted(seen, "power(1)"),
        trust=TRUST,
    ),
    Row(
        "users who trust the ranker, (alpha, beta)",
        lambda seen: estimated(seen, trusting(TRUST, 1.0)),
        trust=TRUST,
    ),
    Row(
        "two of the new top 10 never shown, `max_unseen=1`",
        lambda seen: weighted(seen, "power(1)"),
        unseen=2,
        max_unseen=1.0,
    ),
    Row("two of the new top 10 never shown", lambda seen: weighted(seen, "power(1)"), unseen=2),
)


@dataclass(frozen=True)
class Counts:
    """How often the gates were wrong on logs of one size."""

    blocked: Rate
    """Equal rankers that ``significant`` blocks."""
    missed: Rate
    """Falls of twice the margin that ``noninferior`` passes."""
    open: Rate
    """Equal rankers on which ``noninferior`` does not decide."""
    held: Rate
    """95% intervals of the difference that hold the truth, of equal rankers."""


def counts(row: Row, count: int, draws: int) -> Counts:
    """Return the rates of one row, on logs of ``count`` searches."""
    random = np.random.default_rng(zlib.crc32(f"{row.name} {count}".encode()))
    seen: dict[str, Counter[bool]] = {name: Counter() for name in ("b", "m", "o", "h")}
    significant, noninferior = Gate.significant(alpha=ALPHA), Gate.noninferior(MARGIN, alpha=ALPHA)
    for _ in range(draws):
        log = searches(random, count, eta=row.eta, trust=row.trust, fall=-row.gain)
        equal = _replayed(row, log)
        seen["b"][_ruling(significant, equal, row) == "blocked"] += 1
        seen["o"][_ruling(noninferior, equal, row) == "inconclusive"] += 1
        low, high = equal.differences.interval()
        seen["h"][low <= row.gain <= high] += 1
        worse = searches(random, count, eta=row.eta, trust=row.trust, fall=2 * MARGIN)
        seen["m"][_ruling(noninferior, _replayed(row, worse), row) == "passed"] += 1
    return Counts(*(Rate(seen[name][True], draws) for name in ("b", "m", "o", "h")))


def _replayed(row: Row, log: Searches) -> Paired:
    """Return the replay of a log, below the documents that were never shown."""
    pairs = row.replay(log)
    return replace(pairs, after=1 / (1 / pairs.after + row.unseen)) if row.unseen else pairs


def _ruling(gate: Gate, pairs: Paired, row: Row) -> str:
    """Return what a gate decides; inconclusive if the log cannot know."""
    if row.unseen / SHOWN > row.max_unseen:
        return "inconclusive"
    decided = ruling(gate, pairs)
    ranks = np.rint(1 / pairs.before).astype(np.int64) if row.sensitivity else np.empty(0)
    for propensity in row.sensitivity:
        other = replace(pairs, weights=propensity_weights(ranks, propensity))
        if ruling(gate, other) != decided:
            return "inconclusive"
    return decided


def draws_of(draws: int, count: int) -> int:
    """Return how many logs of a size are drawn: fewer of large ones, which take longer."""
    return max(1, round(draws * (FULL_DRAWS / count) ** 0.5))


def all_counts(draws: int, rows: Sequence[Row] = ROWS) -> Mapping[tuple[str, int], Counts]:
    """Return the rates of all rows and sizes, counted in two processes."""
    cells = [(ROWS.index(row), size) for row in rows for size in SIZES]
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        parts = [(place, size, draws_of(draws, size)) for place, size in cells]
        found = list(pool.map(_of_cell, parts))
    keys = [(ROWS[place].name, size) for place, size in cells]
    return dict(zip(keys, found, strict=True))


def _of_cell(cell: tuple[int, int, int]) -> Counts:
    place, size, draws = cell
    return counts(ROWS[place], size, draws)


def replay_tables(draws: int) -> Iterator[str]:
    """Yield the lines of the tables, one for each size of the log."""
    found = all_counts(draws)
    for size in SIZES:
        yield f"**{size:,} searches** ({draws_of(draws, size):,} logs per row)"
        yield ""
        yield (
            "| replay | `significant` blocks an equal ranker | `noninferior` passes a fall of "
            "twice the margin | `noninferior` cannot decide on an equal ranker | 95% intervals "
            "that hold the truth |"
        )
        yield "|---|---|---|---|---|"
        for row in ROWS:
            each = found[row.name, size]
            yield f"| {row.name} | {each.blocked} | {each.missed} | {each.open} | {each.held} |"
        yield ""


@dataclass(frozen=True)
class Estimates:
    """How good estimated propensities are, relative to that of rank 1."""

    close: Rate
    """Propensities that are within 0.05 of the truth."""
    held: Rate
    """95% intervals that hold the truth."""
    worst: float
    """The largest error of a log, in 95% of the logs."""


def estimates(sessions: int, eta: float, draws: int) -> Estimates:
    """Return how good the propensities are that are estimated from logs of two rankers."""
    random = np.random.default_rng([sessions, round(10 * eta)])
    errors, held = [], 0
    for _ in range(draws):
        harvest = harvested(two_rankers(random, sessions, eta=eta))
        assert harvest is not None
        truth = harvest.ranks**-eta * harvest.chances[0]
        errors.append(np.abs(harvest.chances - truth)[1:])
        logs = np.abs(np.log(harvest.chances / truth))[1:]
        held += int((logs <= 1.96 * harvest.errors[1:]).sum())
    every = np.concatenate(errors)
    worst = float(np.quantile([each.max() for each in errors], 0.95))
    return Estimates(Rate(int((every <= CLOSE).sum()), len(every)), Rate(held, len(every)), worst)


def estimates_table(draws: int) -> Iterator[str]:
    """Yield the lines of the table of estimated propensities."""
    yield (
        f"| sessions | η | propensities within {CLOSE} | largest error of a log, in 95% of the "
        "logs | 95% intervals that hold the truth |"
    )
    yield "|---|---|---|---|---|"
    for sessions in ESTIMATED_FROM:
        for eta in (0.5, 1.0):
            found = estimates(sessions, eta, draws)
            yield f"| {sessions:,} | {eta:g} | {found.close} | {found.worst:.3f} | {found.held} |"
