"""The tables of a year: the ratchet of innocent pull requests, and the slide of small falls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from pull_requests import LastMerged, Process, RaiseRule, any_gain, by_the_gate, never, play
from rates import Rate
from verdict_counts import ALPHA, PROCESSES

from pytest_rankcheck import Gate
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.gates.gate_rule import RAISE_ALPHA
from pytest_rankcheck.gates.slide import SLIDE_LEVEL, slide_of

FALL = 0.003
SHOWN = (1, 10, 30, 50)
CHUNK = 50
"""The number of histories that are played at once."""


@dataclass(frozen=True)
class Policy:
    """A gate, and what it compares pull requests with."""

    name: str
    gate: Gate
    raises: RaiseRule = by_the_gate
    compares_last_merged: bool = False
    has_guard: bool = False

    def guard(self, pairs: Paired, steps: int) -> bool:
        """Return whether the guard against the slide stops a pull request."""
        return slide_of(pairs, steps, rule=self.gate.rule).exceeds


def _rises(level: float) -> str:
    return f"rises on a gain significant at {level:.1%}"


RATCHET = (
    Policy("rises on any gain", Gate.significant(alpha=ALPHA), any_gain),
    *(
        Policy(_rises(level), Gate.significant(alpha=ALPHA, raise_alpha=level))
        for level in (0.05, 0.01, 0.005, 0.002, 0.001)
    ),
    Policy("never rises", Gate.significant(alpha=ALPHA), never),
    Policy(
        "is the mean of the last five merged",
        Gate.significant(alpha=ALPHA),
        compares_last_merged=True,
    ),
)
"""What the baseline does, under ``significant``."""

SLIDE_GATES = {
    "significant": Gate.significant(alpha=ALPHA),
    "tolerance, 0.01": Gate.tolerance(abs=0.01),
    "noninferior, 0.02": Gate.noninferior(0.02, alpha=ALPHA),
}


@dataclass(frozen=True)
class _Job:
    policy: Policy
    process: Process
    histories: int
    seed: int


def _played(job: _Job) -> tuple[np.ndarray, np.ndarray]:
    """Return what was blocked and what was stopped in each history, ``[histories, steps]``."""
    policy = job.policy
    played = [
        play(
            history,
            policy.gate,
            guard=policy.guard if policy.has_guard else None,
            raise_rule=policy.raises,
            reference=LastMerged if policy.compares_last_merged else None,
        )
        for history in job.process.histories(job.histories, job.seed)
    ]
    return np.array([one.blocked for one in played]), np.array([one.stopped for one in played])


def play_all(
    settings: Sequence[tuple[Policy, Process]], histories: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each setting what was blocked and what was stopped, ``[histories, steps]``.

    The same histories are played under each policy.
    """
    starts = range(0, histories, CHUNK)
    jobs = [
        _Job(policy, process, min(CHUNK, histories - start), start)
        for policy, process in settings
        for start in starts
    ]
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        parts = pool.map(_played, jobs)
        for _ in settings:
            blocked, stopped = zip(*(next(parts) for _ in starts), strict=True)
            yield np.concatenate(blocked), np.concatenate(stopped)


def ratchet_table(histories: int) -> tuple[list[str], dict[str, Rate]]:
    """Return the table of the ratchet, and the blocked share at the 50th pull request."""
    lines = [
        f"| the baseline | {' | '.join(f'pull request {step}' for step in SHOWN)} |",
        f"|---|{'---|' * len(SHOWN)}",
    ]
    at_the_end = {}
    process = Process(is_renewed=True)
    settings = [(policy, process) for policy in RATCHET]
    for policy, (blocked, _) in zip(RATCHET, play_all(settings, histories), strict=True):
        rates = [Rate(int(blocked[:, step - 1].sum()), len(blocked)) for step in SHOWN]
        usual = " (the default)" if policy.name == _rises(RAISE_ALPHA) else ""
        lines.append(f"| {policy.name}{usual} | {' | '.join(map(str, rates))} |")
        at_the_end[policy.name] = rates[-1]
    return lines, at_the_end


def slide_table(histories: int) -> list[str]:
    """Return the table of the slide, without and with the guard."""
    settings = []
    for name, gate in SLIDE_GATES.items():
        for has_guard in (False, True):
            policy = Policy(name, gate, has_guard=has_guard)
            settings += [(policy, Process(fall=FALL)), (policy, Process())]
    played = play_all(settings, histories)
    lines = [
        "| gate | merged loss | merged until the first stop | stopped | innocent, stopped |",
        "|---|---|---|---|---|",
    ]
    for policy, process in settings:
        if not process.fall:
            continue
        (blocked, stopped), (_, innocent) = next(played), next(played)
        merged = ~(blocked | stopped)
        until = merged & (np.cumsum(stopped, axis=1) == 0)
        cells = [f"{FALL * each.sum(axis=1).mean():.3f}" for each in (merged, until)]
        stops = [
            str(Rate(int(each.any(axis=1).sum()), histories)) if policy.has_guard else "-"
            for each in (stopped, innocent)
        ]
        guard = f" and the guard ({SLIDE_LEVEL:.0%})" if policy.has_guard else ""
        lines.append(f"| {policy.name}{guard} | {' | '.join([*cells, *stops])} |")
    return lines
