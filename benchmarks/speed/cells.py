"""One cell of the table: a shape in a form, ours against the peers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from speed.inputs import FORMS
from speed.pairs import Entry, Machine, Series, agreed, close_to_the_fastest
from speed.peers import PEERS, Peer
from speed.shapes import SHAPES, Shape, folder_of

FAST, PLAIN = "rankcheck", "rankcheck, no polars"
LONG = 4.0
"""Seconds: a cell whose fastest peer takes longer is measured three times, not five."""


@dataclass(frozen=True)
class Plan:
    """What is measured, how often, and where the data is."""

    machine: Machine
    cache: Path
    scale: float
    runs: int
    peers: Sequence[str]

    def entry(self, contestant: str, form: str, shape: Shape) -> Entry:
        """Return an entry for a shape."""
        folder = folder_of(self.cache, shape, shape.scaled(self.scale))
        return Entry(contestant, form, folder, folder_of(self.cache, shape, 20))

    def shorter(self, seconds: float) -> int:
        """Return how often something is measured that takes this long."""
        return min(self.runs, 3) if seconds > LONG else self.runs


def forms_of(shape: str) -> list[str]:
    """Return the forms of a shape: arrays only where every document is judged."""
    return [form for form in FORMS if form != "arrays" or shape == "c"]


def ours(form: str) -> str:
    """Return the contestant of ours that takes a form."""
    return PLAIN if form == "plain" else FAST


def takes(peer: Peer, shape: Shape, form: str) -> bool:
    """Return whether a peer computes the same from a shape in a form."""
    return form in peer.forms and (len(shape.grades) == 2 or not peer.binary)


def cell(plan: Plan, letter: str, form: str) -> dict[str, Any] | None:
    """Return the measurements of a cell; None if this version of ours cannot take the form."""
    shape, mine = SHAPES[letter], ours(form)
    entry = plan.machine.rehearsed(plan.entry(mine, form, shape))
    if entry is None:
        return None
    peers = [name for name in plan.peers if takes(PEERS[name], shape, form)]
    entries = {mine: entry, **{name: plan.entry(name, form, shape) for name in peers}}
    first = plan.machine.in_turns(entries, 1)
    metrics = agreed(first)
    kept = close_to_the_fastest(first, peers)
    runs = plan.shorter(min((first[name].middle("wall") for name in kept), default=0))
    later = {name: entries[name] for name in (mine, *kept)}
    for name, series in plan.machine.in_turns(later, runs - 1).items():
        first[name].runs += series.runs
    return {
        "ours": figures(first[mine]),
        "peers": {name: figures(first[name]) for name in kept},
        "slower": {name: figures(first[name]) for name in peers if name not in kept},
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
