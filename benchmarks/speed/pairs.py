"""Processes that are measured in turns: ours and the fastest peers, one after the other."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
        modules: what is imported before the clock starts, beyond what the small set needs.
    """

    contestant: str
    form: str
    folder: Path
    warm: Path
    modules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Machine:
    """The Pythons that run the contestants, and where our package is.

    Attributes:
        pythons: the interpreter of a contestant that needs other versions of its libraries.
    """

    pythons: Mapping[str, str] = field(default_factory=dict)

    def python(self, contestant: str) -> str:
        """Return the interpreter of a contestant."""
        return self.pythons.get(contestant, sys.executable)

    def measure(self, entry: Entry) -> dict[str, Any] | None:
        """Measure once, in a new process; None if the contestant cannot take the form."""
        command = [
            *(self.python(entry.contestant), "-m", "speed.worker", entry.contestant, entry.form),
            *(str(entry.folder), str(entry.warm), *entry.modules),
        ]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, check=True, env=environment(), timeout=LIMIT
        )
        result: dict[str, Any] | None = json.loads(done.stdout.splitlines()[-1])
        if result is not None:
            clocks = f"{result['cpu']:9.3f} s CPU {result['wall']:9.3f} s"
            print(
                f"  {entry.folder.name:9} {entry.form:9} {entry.contestant:21}{clocks}",
                file=sys.stderr,
                flush=True,
            )
        return result

    def rehearsed(self, entry: Entry) -> Entry | None:
        """Return the entry with the modules that its work imports; None if it takes no such form.

        What we import depends on the size of the data, so the small set does not show all of it.
        """
        result = self.measure(entry)
        return None if result is None else replace(entry, modules=tuple(result["imported"]))

    def in_turns(self, entries: Mapping[str, Entry], runs: int) -> dict[str, Series]:
        """Measure every entry ``runs`` times, in an order that changes with each round."""
        series: dict[str, Series] = {name: Series() for name in entries}
        for turn in range(runs):
            order = list(entries)
            random.Random(turn).shuffle(order)
            for name in order:
                result = self.measure(entries[name])
                if result is not None:
                    series[name].runs.append(result)
        return {name: own for name, own in series.items() if own.runs}


def environment() -> dict[str, str]:
    """Return the environment of a measured process: it finds the modules of this benchmark."""
    here = str(Path(__file__).parents[1])
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONWARNINGS": "ignore"}


def close_to_the_fastest(first: Mapping[str, Series], peers: Sequence[str]) -> list[str]:
    """Return the peers that are near the fastest one after the first round, by either clock."""
    there = [name for name in peers if name in first]
    return [
        name
        for name in there
        if any(
            first[name].middle(clock) <= CLOSE * min(first[one].middle(clock) for one in there)
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
