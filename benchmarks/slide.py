"""How much of a slide the guard stops: ``python benchmarks/slide.py [--histories 4000] [--write]``.

Fifty pull requests one after another, each of which truly lowers the mean by 0.003 (the *slide*),
or does nothing (*innocent*): see `pull_requests.Process` with noise that stays. The gate decides on
each against the approved values, which rise where the gate calls the result better. The first pull
request that the guard stops ends the history: from then on somebody looks. To play thousands of
histories side by side, the statistical gates test with Student's t in place of the sign-flip test.

- The **curve**: how much true loss is merged without the guard and with it, and how many innocent
  histories the guard stops, by gate and level.
- The **floor**: the least loss that a rule can let pass that sees the measured means of all pull
  requests, also of those that were not merged, and even knows how large the falls are. It weighs
  the likelihood ratio against the loss (Neyman and Pearson), by dynamic programming over the sum of
  the measured changes. Under a gate it is applied to the same sum, and counts what is merged.
- The **shapes**: the same loss for other bounds, each at the threshold at which it stops 10% of the
  innocent histories, where every pull request is merged.

``--write`` puts the tables into ``docs/baselines.md``.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from multiprocessing import Pool

import numpy as np
from manual_parts import DOCS, write_part
from pull_requests import LEVEL, METRIC, STEPS, Process
from scipy.special import ndtr, ndtri, stdtr

from pytest_rankcheck import Gate
from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.evaluation.recorded_precision import EXACT, SLACK
from pytest_rankcheck.gates.gate_rule import ToleranceRule
from pytest_rankcheck.gates.slide import slide_of
from pytest_rankcheck.gates.statistical_rules import NoninferiorityRule, SignificanceRule
from pytest_rankcheck.statistics.unseen_values import UNSEEN_GAIN, unseen_fall

PAGE = DOCS / "baselines.md"
FALL = 0.003
LEVELS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
PROCESSES = {"kept": Process(), "noisier": Process(noise=0.2), "renewed": Process(is_renewed=True)}
"""The noise of the audit that found the slide, more of it, and noise that each change has anew."""

MERGES_ALL = Gate.tolerance(abs=0.9)
"""Blocks nothing; the approved values never rise."""
GATES: dict[str, Gate] = {
    "every change is merged": MERGES_ALL,
    "`significant()`": Gate.significant(test="t"),
    "`noninferior(margin=0.02)`": Gate.noninferior(margin=0.02, test="t"),
    "`tolerance(abs=0.01)`": Gate.tolerance(abs=0.01),
}
RENEWED = list(GATES)[:2]
"""The gates that are played with renewed noise, in which a slide is soon significant."""
_PART = 250
"""How many histories one task plays."""


@dataclass(frozen=True)
class Played:
    """What histories did, ``[histories, steps]``; nothing is stopped."""

    merged: BoolArray
    z: FloatArray
    """The difference from the approved values, in standard errors."""
    steps: IntArray
    """The changes since the values were approved, this one included."""
    moved: FloatArray
    """The measured change of the mean by each pull request alone, merged or not."""


def played(gate: Gate, process: Process, count: int, seed: int) -> Played:
    """Play histories of a gate side by side, each as `pull_requests.play` does."""
    histories = list(process.histories(count, seed))
    changes = np.stack([history.changes for history in histories])
    noise = np.stack([history.noise for history in histories])
    level = np.full(changes[:, 0].shape, LEVEL)
    approved, since = np.round(level + noise[:, 0], 6), np.zeros(count, dtype=int)
    columns: list[tuple[BoolArray, FloatArray, IntArray]] = []
    for step in range(changes.shape[1]):
        proposed = level + changes[:, step]
        now = np.round(proposed + noise[:, 1 + step], 6)
        gains = now - approved
        mean, error = _mean_and_error(gains)
        merged = ~_blocked(gate, gains)
        columns.append((merged, mean / error, since + 1))
        rises = merged & _is_better(gate, gains)
        level = np.where(merged[:, None], proposed, level)
        approved = np.where(rises[:, None], now, approved)
        since = np.where(rises, 0, since + merged)
    moved = (changes + noise[:, 1:]).mean(axis=2)
    merged_all, z, steps = (np.stack(column, axis=1) for column in zip(*columns, strict=True))
    return Played(merged_all, z, steps, moved)


def _mean_and_error(gains: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of each row, and its standard error."""
    return gains.mean(axis=1), gains.std(axis=1, ddof=1) / math.sqrt(gains.shape[1])


def _p_below(gains: FloatArray, unseen: FloatArray, shift: float = 0.0) -> FloatArray:
    """Return the p of Student's t that each mean is below ``-shift``, with one unseen value."""
    longer = np.concatenate((gains, unseen[:, None]), axis=1)
    mean, error = _mean_and_error(longer)
    return np.asarray(stdtr(gains.shape[1], (mean + shift) / error))


def _blocked(gate: Gate, gains: FloatArray) -> BoolArray:
    """Return where a gate calls the mean gain regressed."""
    rule, mean, largest = gate.rule, gains.mean(axis=1), np.abs(gains).max(axis=1)
    if isinstance(rule, ToleranceRule):
        return np.asarray(mean < -(rule.abs + SLACK))
    assert isinstance(rule, (SignificanceRule, NoninferiorityRule))
    is_fall = (mean < -SLACK) & (_p_below(gains, UNSEEN_GAIN * largest) <= rule.alpha)
    if isinstance(rule, SignificanceRule):
        return np.asarray(is_fall)
    falls = [unseen_fall(each, 1.0, gains.shape[1]) for each in largest.tolist()]
    rules_out = 1 - _p_below(gains, -np.array(falls), rule.margin) <= rule.alpha
    return np.asarray(is_fall & ~rules_out)


def _is_better(gate: Gate, gains: FloatArray) -> BoolArray:
    """Return where a gate lets an update raise the approved values."""
    rule, mean = gate.rule, gains.mean(axis=1)
    if isinstance(rule, ToleranceRule):
        return np.asarray((mean > EXACT) & (gate is not MERGES_ALL))
    assert isinstance(rule, (SignificanceRule, NoninferiorityRule))
    unseen = UNSEEN_GAIN * np.abs(gains).max(axis=1)
    return np.asarray((mean > 0) & (_p_below(-gains, unseen) <= rule.raise_alpha))


# --- rules that stop -------------------------------------------------------------------------


@cache
def budgets(gate: str, level: float, queries: int) -> FloatArray:
    """Return the guard's budget in standard errors, after each number of changes."""
    budget = [0.0]
    for steps in range(1, STEPS + 1):
        # Of the queries that 30% of each change moves, by normal values.
        moved = round(queries * (1 - 0.7**steps))
        spread = np.append(ndtri((np.arange(moved) + 0.5) / moved), np.zeros(queries - moved))
        gains = -0.001 + spread * (0.0822 * math.sqrt(steps) / spread.std())
        before = np.full(queries, 0.5)
        values = Paired(METRIC, tuple(map(str, range(queries))), before, before + gains)
        slide = slide_of(values, steps, level=level, rule=GATES[gate].rule)
        budget.append(slide.budget / values.differences.error)
    return np.array(budget)


def stopped_by_guard(of: Played, gate: str, level: float) -> BoolArray:
    """Return which pull requests the guard stops."""
    stopped: BoolArray = of.merged & (of.z < -budgets(gate, level, 100)[of.steps])
    return stopped


def outcome(of: Played, stopped: BoolArray) -> tuple[float, float]:
    """Return the share of histories that are stopped, and the mean loss merged before."""
    before = np.cumsum(stopped, axis=1) == 0
    return float(stopped.any(axis=1).mean()), float((of.merged & before).sum(axis=1).mean() * FALL)


class Floor:
    """The best rule for a sum of normal changes, in noises of one change, and how it does.

    Args:
        fall: the true fall of each change.
        weight: what stopping an innocent history costs, in merged changes.
    """

    _WIDTH = 0.05

    def __init__(self, fall: float, weight: float) -> None:
        self._fall = fall
        self._places = np.arange(-40, 40 + self._WIDTH, self._WIDTH)
        self.stops = self._stops(weight)
        """``[steps, places]`` whether it stops where the changes have added up to a place."""

    def _step(self, fall: float) -> FloatArray:
        edges = np.arange(-6, 6 + self._WIDTH, self._WIDTH) + self._WIDTH / 2
        step: FloatArray = np.diff(ndtr(edges + fall), prepend=0)
        return step / step.sum()

    def _stops(self, weight: float) -> BoolArray:
        """Go back from the last change: stop where going on costs more than stopping."""
        ahead, stops = np.zeros(len(self._places)), []
        for k in range(STEPS, 0, -1):
            # The likelihood of the place without a fall, over that with it.
            innocence = np.exp(self._fall * self._places + self._fall**2 * k / 2)
            stop, go_on = weight * innocence, 1 + ahead
            stops.append(stop < go_on)
            ahead = np.convolve(np.minimum(stop, go_on), self._step(self._fall)[::-1], "same")
        return np.array(stops[::-1])

    def share_stopped(self, fall: float) -> float:
        """Return the share of histories with a fall that are stopped."""
        there = (np.abs(self._places) < self._WIDTH / 2).astype(float)
        for stops in self.stops:
            there = np.where(stops, 0.0, np.convolve(there, self._step(fall), "same"))
        return 1 - float(there.sum())

    def stopped(self, moved: FloatArray, noise: float) -> BoolArray:
        """Return which of the measured changes it stops."""
        sums = np.cumsum(moved, axis=1) / noise
        places = np.rint((sums - self._places[0]) / self._WIDTH).astype(int)
        return self.stops[np.arange(STEPS), np.clip(places, 0, len(self._places) - 1)]

    @classmethod
    def at(cls, fall: float, level: float) -> Floor:
        """Return the best rule that stops a share of innocent histories."""
        low, high = 0.1, 10_000.0
        for _ in range(25):
            weight = math.sqrt(low * high)
            low, high = (
                (weight, high) if cls(fall, weight).share_stopped(0) > level else (low, weight)
            )
        return cls(fall, high)


SHAPES: Mapping[str, Callable[[IntArray], FloatArray]] = {
    "`c * sqrt(1 + 1 / k)` (the guard)": lambda k: np.sqrt(1 + 1 / k),
    "constant (Pocock)": lambda k: np.ones(k.shape),
    "`c * sqrt(50 / k)` (O'Brien and Fleming)": lambda k: np.sqrt(STEPS / k),
    "normal mixture, best at 5 (Howard et al.)": lambda k: np.sqrt(
        (1 + 5 / k) * np.log1p((k + 5) / 5)
    ),
    "normal mixture, best at 25": lambda k: np.sqrt((1 + 25 / k) * np.log1p((k + 25) / 25)),
}
"""Bounds in standard errors after k changes, but for a factor."""


# --- the tables ------------------------------------------------------------------------------


def all_played(histories: int, names: list[str]) -> Mapping[tuple[str, str, bool], Played]:
    """Play everything, in two processes: by process, gate, and whether it slides."""
    tasks = [
        (process, gate, slides, part)
        for process in names
        for gate in _gates(process)
        for slides in (False, True)
        for part in range(max(1, histories // _PART))
    ]
    parts: dict[tuple[str, str, bool], list[Played]] = {}
    with Pool(2) as pool:
        sizes = min(histories, _PART)
        done = pool.starmap(_task, [(*task, sizes) for task in tasks], chunksize=1)
    for (process, gate, slides, _), result in zip(tasks, done, strict=True):
        parts.setdefault((process, gate, slides), []).append(result)
    return {
        key: Played(*(np.concatenate([getattr(part, name) for part in found]) for name in _FIELDS))
        for key, found in parts.items()
    }


def _gates(process: str) -> list[str]:
    return RENEWED if PROCESSES[process].is_renewed else list(GATES)


_FIELDS = ("merged", "z", "steps", "moved")


def _task(process: str, gate: str, slides: bool, part: int, count: int) -> Played:
    given = PROCESSES[process]
    made = Process(given.queries, given.changed, given.noise, FALL * slides, given.is_renewed)
    return played(GATES[gate], made, count, 1000 * slides + part)


def curve(found: Mapping[tuple[str, str, bool], Played], process: str) -> Iterator[str]:
    """Yield the table of loss merged and innocent histories stopped, by gate and level."""
    given = PROCESSES[process]
    noise = given.noise * math.sqrt(given.changed / given.queries)
    heads = " | ".join(f"{level:.0%}" for level in LEVELS)
    yield f"| alpha of the guard | no guard | {heads} |"
    yield f"|---|---|{'---|' * len(LEVELS)}"
    for gate in _gates(process):
        innocent, sliding = (found[process, gate, slides] for slides in (False, True))
        cells = [f"{outcome(sliding, np.zeros_like(sliding.merged))[1]:.3f}"]
        for level in LEVELS:
            share, _ = outcome(innocent, stopped_by_guard(innocent, gate, level))
            _, loss = outcome(sliding, stopped_by_guard(sliding, gate, level))
            cells.append(f"{loss:.3f} ({share:.1%})")
        yield f"| {gate} | {' | '.join(cells)} |"
        if given.is_renewed:
            continue
        cells = [""]
        for level in LEVELS:
            floor = Floor.at(FALL / noise, level)
            share, _ = outcome(innocent, floor.stopped(innocent.moved, noise))
            _, loss = outcome(sliding, floor.stopped(sliding.moved, noise))
            cells.append(f"{loss:.3f} ({share:.1%})")
        yield f"| - the floor | {' | '.join(cells)} |"


def shapes(found: Mapping[tuple[str, str, bool], Played], process: str) -> Iterator[str]:
    """Yield the table of other shapes, each at 10% of innocent histories."""
    yield "| bound after k changes | loss merged |"
    yield "|---|---|"
    innocent, sliding = (found[process, next(iter(GATES)), slides] for slides in (False, True))
    for name, shape in SHAPES.items():
        furthest = (-innocent.z / shape(innocent.steps)).max(axis=1)
        factor = np.quantile(furthest, 0.9)
        stopped = sliding.z < -factor * shape(sliding.steps)
        yield f"| {name} | {outcome(sliding, stopped)[1]:.3f} |"


def main() -> None:
    """Print the tables, and write them into the manual if requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--histories", type=int, default=4000)
    parser.add_argument(
        "--processes", nargs="+", choices=PROCESSES, default=["kept", "noisier", "renewed"]
    )
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = all_played(given.histories, given.processes)
    texts = {process: "\n".join(curve(found, process)) for process in given.processes}
    if "kept" in given.processes:
        texts["shapes"] = "\n".join(shapes(found, "kept"))
    error = 2 * math.sqrt(0.1 * 0.9 / given.histories)
    note = (
        f"{given.histories:,} histories per cell: two standard errors of a share of 10% are "
        f"{error:.1%}, those of a loss at most {2 * 0.05 / math.sqrt(given.histories):.3f}."
    )
    text = "\n\n".join((*(f"**{name}**\n\n{table}" for name, table in texts.items()), note))
    print(text)
    if given.write:
        for name, table in texts.items():
            whole = f"{table}\n\n{note}\n" if name == given.processes[0] else f"{table}\n"
            write_part(PAGE, f"slide, {name}", whole)


if __name__ == "__main__":
    main()
