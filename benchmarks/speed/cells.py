"""One cell of the table: a shape in a form, ours against the peers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from speed.inputs import FORMS, OTHERS, Inputs
from speed.pairs import Entry, Series, agreed, close_to_the_fastest, in_turns
from speed.peers import PEERS, Peer
from speed.shapes import SHAPES, Shape, folder_of

FAST, PLAIN = "rankcheck", "rankcheck, no polars"
LONG = 4.0
"""Seconds: a cell whose fastest peer takes longer is measured three times, not five."""


@dataclass(frozen=True)
class Plan:
    """What is measured, how often, with which Pythons, and where the data is."""

    pythons: Mapping[str, str]
    cache: Path
    scale: float
    runs: int
    peers: Sequence[str]

    def entry(self, contestant: str, form: str, shape: Shape) -> Entry:
        """Return an entry for a shape."""
        folder = folder_of(self.cache, shape, shape.scaled(self.scale))
        python = self.pythons.get(contestant, sys.executable)
        return Entry(contestant, form, folder, folder_of(self.cache, shape, 20), python)


def forms_of(shape: str) -> list[str]:
    """Return the forms of a shape: arrays only where every document is judged."""
    return [form for form in (*FORMS, *OTHERS) if form != "arrays" or shape == "c"]


def takes(peer: Peer, shape: Shape, form: str) -> bool:
    """Return whether a peer computes the same from a shape in a form.

    Those that take every grade as 1 also trust the ranks, which other scores do not have.
    """
    known, _, scores = form.partition("+")
    return known in peer.forms and (not peer.binary or (len(shape.grades) == 2 and not scores))


def cell(plan: Plan, letter: str, form: str) -> dict[str, Any]:
    """Return the measurements of a cell.

    What we import depends on the size of the data, so the small set does not show all of it: a
    first process, which does not count, finds out.
    """
    shape, mine = SHAPES[letter], PLAIN if form == "plain" else FAST
    entry = plan.entry(mine, form, shape)
    for folder in (entry.folder, entry.warm):
        Inputs(folder, form.partition("+")[2]).write_text()
    entry = replace(entry, modules=tuple(entry.measure()["imported"]))
    peers = [name for name in plan.peers if takes(PEERS[name], shape, form)]
    entries = {mine: entry, **{name: plan.entry(name, form, shape) for name in peers}}
    first = in_turns(entries, 1)
    metrics = agreed(first)
    kept = close_to_the_fastest(first, peers)
    is_long = min((first[name].middle("wall") for name in kept), default=0) > LONG
    runs = min(plan.runs, 3) if is_long else plan.runs
    later = {name: entries[name] for name in (mine, *kept)}
    for name, series in in_turns(later, runs - 1).items():
        first[name].runs += series.runs
    return {
        "ours": figures(first[mine]),
        "peers": {name: figures(first[name]) for name in kept},
        "metrics": metrics,
        "runs": runs,
        "date": date.today().isoformat(),
        "load": os.getloadavg()[0],
    }


def figures(series: Series) -> dict[str, float]:
    """Return the medians of a contestant."""
    return {name: series.middle(name) for name in ("cpu", "wall", "peak_mb")}


def fastest(measured: dict[str, Any], clock: str) -> tuple[str, dict[str, float]]:
    """Return the peer that is fastest by a clock, and its figures."""
    name = min(measured["peers"], key=lambda peer: measured["peers"][peer][clock])
    return name, measured["peers"][name]


def ratios(measured: dict[str, Any]) -> dict[str, float]:
    """Return the fastest peer's time divided by ours, by both clocks."""
    return {
        clock: fastest(measured, clock)[1][clock] / measured["ours"][clock]
        for clock in ("cpu", "wall")
    }
