"""Processes that are measured in turns: ours and the fastest peers, one after the other."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

CLOSE = 1.25
"""A peer within this factor of the fastest one in the first round, by either clock, goes on."""

TOLERANCE = 1e-6
LIMIT = 900
"""Seconds after which a measurement is given up."""


@dataclass
class Series:
    """The measurements of one contestant."""

    runs: list[dict[str, Any]] = field(default_factory=list)

    def middle(self, figure: str) -> float:
        """Return the median of ``cpu``, ``wall`` (seconds) or ``peak_mb``."""
        return median(float(run[figure]) for run in self.runs)

    @property
    def means(self) -> dict[str, float]:
        """The means that the contestant computed."""
        return dict(self.runs[0]["means"])


@dataclass(frozen=True)
class Entry:
    """Who is measured on what.

    Attributes:
        contestant: a name of worker.py.
        folder: the files of the shape.
        warm: the files of a small set of that shape, to be measured first.
        python: the interpreter, where the contestant needs other versions of its libraries.
        modules: what is imported before the clock starts, beyond what the small set needs.
    """

    contestant: str
    form: str
    folder: Path
    warm: Path
    python: str = sys.executable
    modules: tuple[str, ...] = ()

    def measure(self) -> dict[str, Any]:
        """Measure once, in a new process."""
        command = [
            *(self.python, "-m", "speed.worker", self.contestant, self.form),
            *(str(self.folder), str(self.warm), *self.modules),
        ]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, check=True, env=environment(), timeout=LIMIT
        )
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        clocks = f"{result['cpu']:9.3f} s CPU {result['wall']:9.3f} s"
        what = f"  {self.folder.name:9} {self.form:9} {self.contestant:21}{clocks}"
        print(what, file=sys.stderr, flush=True)
        return result


def in_turns(entries: Mapping[str, Entry], runs: int) -> dict[str, Series]:
    """Measure every entry ``runs`` times, in an order that changes with each round."""
    series = {name: Series() for name in entries}
    for turn in range(runs):
        order = list(entries)
        random.Random(turn).shuffle(order)
        for name in order:
            series[name].runs.append(entries[name].measure())
    return series


def environment() -> dict[str, str]:
    """Return the environment of a measured process: it finds the modules of this benchmark."""
    here = str(Path(__file__).parents[1])
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONWARNINGS": "ignore"}


def close_to_the_fastest(first: Mapping[str, Series], peers: Sequence[str]) -> list[str]:
    """Return the peers that are near the fastest one after the first round, by either clock."""
    return [
        name
        for name in peers
        if any(
            first[name].middle(clock) <= CLOSE * min(first[one].middle(clock) for one in peers)
            for clock in ("cpu", "wall")
        )
    ]


def agreed(series: Mapping[str, Series]) -> dict[str, list[str]]:
    """Return the metrics of which contestants computed the same mean, and who computed each.

    Raises:
        SystemExit: two contestants differ by more than `TOLERANCE`.
    """
    names = sorted({name for own in series.values() for name in own.means})
    found: dict[str, list[str]] = {}
    for name in names:
        values = {who: own.means[name] for who, own in series.items() if name in own.means}
        if max(values.values()) - min(values.values()) > TOLERANCE:
            raise SystemExit(f"the contestants disagree on {name}: {values}")
        found[name] = list(values)
    return found
