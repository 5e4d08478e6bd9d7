"""The tables of docs/reference/speed.md, made from kept results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from speed.cells import fastest, ratios
from speed.inputs import FORMS, OTHERS
from speed.ours import METRICS
from speed.peers import PEERS
from speed.shapes import SHAPES

Results = Mapping[str, Any]


def as_markdown(results: Results) -> str:
    """Return what the benchmark writes into docs/reference/speed.md: ratios."""
    cells = results["cells"]
    return _joined(
        _shapes(results),
        _by_form(FORMS, cells, "The fastest peer's time divided by ours, CPU / wall", _both_ratios),
        _metrics(cells),
        _machine(results),
    )


def others_as_markdown(results: Results) -> str:
    """Return what the benchmark writes into docs/reference/speed.md about other scores."""
    return _joined(_by_form(OTHERS, results["cells"], "", _cpu_ratio))


def figures_as_markdown(results: Results, forms: Mapping[str, str] = FORMS) -> str:
    """Return what the benchmark writes into docs/reference/speed.md: seconds and memory.

    For other scores, the machine too.
    """
    machine = _machine(results) if forms is OTHERS else ()
    return _joined(_by_form(forms, results["cells"], "", _figures), machine)


def with_forms(results: Results, forms: Mapping[str, str]) -> Results:
    """Return the results of some forms."""
    cells = results["cells"].items()
    return {**results, "cells": {name: cell for name, cell in cells if name[2:] in forms}}


def _joined(*parts: Iterable[str]) -> str:
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part))) + "\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> Iterator[str]:
    """Yield the lines of a table with its title, or nothing if it has no rows."""
    rows = list(rows)
    if not rows:
        return
    if title:
        yield f"**{title}**"
        yield ""
    yield f"| {' | '.join(header)} |"
    yield "|---" * len(header) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _shapes(results: Results) -> Iterator[str]:
    def row(letter: str, known: Mapping[str, Any]) -> Iterator[str]:
        shape = SHAPES[letter]
        queries, levels = shape.scaled(results["machine"]["scale"]), len(shape.grades)
        yield from (letter, shape.title, f"{queries:,} x {shape.documents:,}", f"{shape.judged:,}")
        yield from (f"{known['ranked']:.0%}", "1" if levels == 2 else f"0 to {levels - 1}")
        yield "`{}`, `{}`".format(*known["ids"])

    head = ["shape", "", "queries x documents", "judged per query", "of these ranked", "grades"]
    rows = (list(row(letter, known)) for letter, known in results["shapes"].items())
    yield from _table([*head, "ids"], rows)


def _ratio(value: float) -> str:
    """Return a ratio with two digits that count, bold where the peer is faster."""
    text = f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"
    return text if value >= 0.995 else f"**{text}**"


def _by_form(
    forms: Mapping[str, str],
    cells: Mapping[str, Any],
    title: str,
    entry: Callable[[dict[str, Any]], str],
) -> Iterator[str]:
    """Yield a table with a row for each form and a column for each shape, without empty rows."""

    def shown(letter: str, form: str) -> str:
        measured = cells.get(f"{letter}/{form}")
        return entry(measured) if measured and measured["peers"] else "-"

    found = {name.partition("/")[0] for name in cells}
    letters = [letter for letter in SHAPES if letter in found]
    rows = ([name, *(shown(letter, form) for letter in letters)] for form, name in forms.items())
    filled = (row for row in rows if set(row[1:]) - {"-"})
    yield from _table(["form", *letters], filled, title)


def _both_ratios(measured: dict[str, Any]) -> str:
    return " / ".join(_ratio(value) for value in ratios(measured).values())


def _cpu_ratio(measured: dict[str, Any]) -> str:
    return _ratio(ratios(measured)["cpu"])


def _figures(measured: dict[str, Any]) -> str:
    own, peer = measured["ours"], fastest(measured, "cpu")[1]
    clocks = f"{own['cpu']:.2g} / {peer['cpu']:.2g}"
    return f"{clocks}; {own['peak_mb']:.0f} / {peer['peak_mb']:.0f}"


def _metrics(cells: Mapping[str, Any]) -> Iterator[str]:
    """Yield which of the five metrics each peer computed with the same result."""
    for peer, known in PEERS.items():
        shared = {
            metric
            for measured in cells.values()
            for metric, who in measured["metrics"].items()
            if peer in who and metric in METRICS
        }
        if shared:
            names = ", ".join(metric for metric in METRICS if metric in shared)
            differs = f" ({known.differs})" if known.differs else ""
            yield f"- {peer} agrees on {names}{differs}."


def _machine(results: Results) -> Iterator[str]:
    machine = results["machine"]
    versions = ", ".join(
        f"{name} {version}" for name, version in results["versions"].items() if version
    )
    measured = results["cells"].values()
    dates = sorted({cell["date"] for cell in measured})
    scale = machine["scale"]
    some = "" if scale == 1 else f", with {scale:.0%} of the queries"
    yield (
        f"Measured {' to '.join(dict.fromkeys([*dates[:1], *dates[-1:]]))} on {machine['cores']} "
        f"cores of {machine['cpu']}, Python {machine['python']}, {versions}{some}."
    )
    load = max((cell["load"] for cell in measured), default=0)
    if load > machine["cores"] + 1:
        yield (
            f"Other work used the cores meanwhile (load average up to {load:.0f}): trust the CPU "
            "times, and measure again before you quote a wall time."
        )
