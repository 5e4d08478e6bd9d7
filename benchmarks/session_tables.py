"""The tables of session logs: users with many sessions, a shift of the mix, groups of one log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context

import numpy as np
from rates import Rate
from session_samples import METRIC, RATE, SPREADS, People, Spread, devices, groups, weeks
from verdict_counts import ALPHA, PROCESSES

from pytest_rankcheck import Gate, SessionEvaluation, assert_no_worse, compare
from pytest_rankcheck.assertions.group_assertion import evidence_of
from pytest_rankcheck.comparison.unpaired_values import Unpaired
from pytest_rankcheck.evaluation.measured_sample import MeasuredSample
from pytest_rankcheck.evaluation.session_groups import session_groups

USERS = 400
MARGIN = 0.05
SESSIONS = 4000
MOBILE = (0.30, 0.45)
GROUP_SIZES = (500, 4000)
WAYS = ("by session", "by user", "by user, matched")


@dataclass
class Counts:
    """How often something happened, by name."""

    happened: Counter[str] = field(default_factory=Counter)
    draws: Counter[str] = field(default_factory=Counter)

    def note(self, name: str, happened: bool) -> None:
        """Count a draw."""
        self.draws[name] += 1
        self.happened[name] += happened

    def rate(self, name: str) -> Rate:
        """Return how often it happened."""
        return Rate(self.happened[name], self.draws[name])


def user_counts(spread: Spread, same: bool, draws: int) -> Counts:
    """Return how often gates and intervals are wrong, by what is taken to be independent."""
    random = np.random.default_rng(SPREADS.index(spread) * 2 + same)
    counts = Counts()
    for _ in range(draws):
        people = People.drawn(random, spread, USERS)
        later = people.next_week(random) if same else People.drawn(random, spread, USERS)
        before = people.week(random)
        for fall, name in ((0.0, "blocked"), (MARGIN, "passed")):
            now = later.week(random, fall)
            for way in WAYS[: 3 if same else 2]:
                values = weeks(before, now, clustered=way != WAYS[0], matched=way == WAYS[2])
                is_wrong = _blocks(values) if fall == 0 else _passes(values)
                counts.note(f"{name} {way}", is_wrong)
        for way in WAYS[:2]:
            units = None if way == WAYS[0] else before.users
            low, high = MeasuredSample(before.values, None, units).differences.interval()
            counts.note(f"covered {way}", low <= RATE <= high)
    return counts


def _blocks(values: Unpaired) -> bool:
    """Whether ``significant`` blocks."""
    return values.gain < 0 and values.p_of_fall() <= ALPHA


def _passes(values: Unpaired) -> bool:
    """Whether ``noninferior`` passes."""
    return values.p_of_margin(MARGIN) <= ALPHA


def users_tables(draws: int) -> Iterator[str]:
    """Yield the tables of users: false blocks, false passes, coverage."""
    cells = [(spread, same) for spread in SPREADS for same in (False, True)]
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        found = list(pool.map(partial(_user_counts, draws), cells))
    titles = {
        "blocked": "Innocent weeks that `significant` blocks",
        "passed": f"Falls of the margin of {MARGIN:g} that `noninferior` passes",
        "covered": "95% intervals of one log's SuccessRate that contain the truth",
    }
    for name, title in titles.items():
        ways = WAYS if name != "covered" else WAYS[:2]
        yield from (
            f"**{title}**",
            "",
            f"| users | {' | '.join(ways)} |",
            "|---|" + "---|" * len(ways),
        )
        for (spread, same), counts in zip(cells, found, strict=True):
            if name == "covered" and same:
                continue
            who = "" if name == "covered" else ", the same users" if same else ", other users"
            cells_of = (
                str(counts.rate(f"{name} {way}")) if counts.draws[f"{name} {way}"] else "-"
                for way in ways
            )
            yield f"| {_NAMES[spread]}{who} | {' | '.join(cells_of)} |"
        yield ""


_NAMES = {
    "independent": "one session each",
    "mild": "one to five sessions each",
    "heavy": "lognormal numbers of sessions",
}


def _user_counts(draws: int, cell: tuple[Spread, bool]) -> Counts:
    return user_counts(*cell, draws)


def mix_counts(draws: int) -> Counts:
    """Return how often a gate blocks when phones rise from 30% to 45% of the sessions."""
    random = np.random.default_rng(11)
    gates: dict[str, tuple[Gate, str | None]] = {
        "as it is": (Gate.significant(), None),
        "by device": (Gate.significant(), "device"),
        "standardised": (Gate.significant(standardise="device"), None),
    }
    counts = Counts()
    for _ in range(draws):
        before = devices(random, SESSIONS, MOBILE[0])
        for fall in (0.0, MARGIN):
            now = devices(random, SESSIONS, MOBILE[1], fall)
            for name, (gate, by) in gates.items():
                verdict = gate.decide(compare(now, before), METRIC, by)
                counts.note(f"{name} {fall:g}", verdict.regressed)
    return counts


def mix_table(draws: int) -> Iterator[str]:
    """Yield how often a shift of the mix blocks, with and without a fall on each device."""
    counts = mix_counts(draws)
    yield "| blocked | nothing changes on any device | each device falls by 0.05 |"
    yield "|---|---|---|"
    for name, title in (
        ("as it is", "`significant()`"),
        ("by device", '`significant()`, `by="device"`'),
        ("standardised", '`significant(standardise="device")`'),
    ):
        yield f"| {title} | {counts.rate(f'{name} 0')} | {counts.rate(f'{name} {MARGIN:g}')} |"


def group_counts(count: int, draws: int) -> Counts:
    """Return how often a gate finds a difference between two equal groups of one log."""
    random = np.random.default_rng(count)
    counts = Counts()
    for _ in range(draws):
        counts.note("no worse", _is_worse(groups(random, count)))
        evaluation = groups(random, count)
        means = evaluation.by("group", METRIC)["mean"]
        counts.note("max_gap", abs(means["A"] - means["B"]) > 0.02)
        counts.note("mismatch", _has_mismatch(groups(random, count, 0.4)))
    return counts


def _is_worse(evaluation: SessionEvaluation) -> bool:
    try:
        assert_no_worse(evaluation, METRIC, group="B", than="A", by="group")
    except AssertionError:
        return True
    return False


def _has_mismatch(evaluation: SessionEvaluation) -> bool:
    split = session_groups(evaluation, "group", "B", "A")
    return evidence_of(split, "log", ("group=A", "group=B"), 1.0).leaves_open


def groups_table(draws: int) -> Iterator[str]:
    """Yield how often gates block equal groups, and how often wrong group sizes are noticed."""
    yield (
        "| two equal groups | " + " | ".join(f"{count:,} sessions" for count in GROUP_SIZES) + " |"
    )
    yield "|---|" + "---|" * len(GROUP_SIZES)
    found = [group_counts(count, draws) for count in GROUP_SIZES]
    for name, title in (
        ("no worse", "`assert_no_worse` blocks"),
        ("max_gap", "`max_gap=0.02` blocks"),
        ("mismatch", "40% instead of 50% in B is found: inconclusive"),
    ):
        yield f"| {title} | " + " | ".join(str(counts.rate(name)) for counts in found) + " |"
