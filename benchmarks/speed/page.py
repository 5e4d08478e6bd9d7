"""The tables of docs/speed.md, made from kept results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from speed.cells import fastest, ratios
from speed.inputs import FORMS
from speed.ours import METRICS
from speed.peers import PEERS
from speed.shapes import SHAPES

Results = Mapping[str, Any]


def as_markdown(results: Results) -> str:
    """Return everything that the benchmark writes into the manual."""
    parts: list[Iterable[str]] = [
        _shapes(results),
        _overview(results["cells"]),
        _details(results["cells"]),
        _metrics(results["cells"]),
        _machine(results),
    ]
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


def _measured(cells: Mapping[str, Any], letter: str, form: str) -> dict[str, Any] | None:
    """Return a cell that can be compared; None if it has not been measured or has no peer."""
    measured: dict[str, Any] | None = cells.get(f"{letter}/{form}")
    return measured if measured and measured["peers"] else None


def _letters(cells: Mapping[str, Any]) -> list[str]:
    found = {name.partition("/")[0] for name in cells}
    return [letter for letter in SHAPES if letter in found]


def _shapes(results: Results) -> Iterator[str]:
    yield from _table(
        [
            "shape",
            "",
            "queries x documents",
            "judged per query",
            "of these ranked",
            "grades",
            "ids",
        ],
        (
            [
                letter,
                SHAPES[letter].title,
                _size(letter, results["machine"]["scale"]),
                f"{SHAPES[letter].judged:,}",
                f"{known['ranked']:.0%}",
                "1"
                if len(SHAPES[letter].grades) == 2
                else f"0 to {len(SHAPES[letter].grades) - 1}",
                f"`{known['ids'][0]}`, `{known['ids'][1]}`",
            ]
            for letter, known in results["shapes"].items()
        ),
    )


def _size(letter: str, scale: float) -> str:
    return f"{SHAPES[letter].scaled(scale):,} x {SHAPES[letter].documents:,}"


def _ratio(value: float) -> str:
    """Return a ratio with two digits that count, bold where the peer is faster."""
    text = f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"
    return text if value >= 0.995 else f"**{text}**"


def _overview(cells: Mapping[str, Any]) -> Iterator[str]:
    letters = _letters(cells)

    def entry(letter: str, form: str) -> str:
        measured = _measured(cells, letter, form)
        if not measured:
            return "-"
        return " / ".join(_ratio(value) for value in ratios(measured).values())

    yield from _by_form("The fastest peer's time divided by ours, CPU / wall", letters, entry)


def _by_form(title: str, letters: Sequence[str], entry: Callable[[str, str], str]) -> Iterator[str]:
    """Yield a table with a row for each form and a column for each shape, without empty rows."""
    rows = ([name, *(entry(letter, form) for letter in letters)] for form, name in FORMS.items())
    filled = (row for row in rows if set(row[1:]) - {"-"})
    yield from _table(["form", *letters], filled, title)


def _details(cells: Mapping[str, Any]) -> Iterator[str]:
    def entry(letter: str, form: str) -> str:
        measured = _measured(cells, letter, form)
        if not measured:
            return "-"
        own, peer = measured["ours"], fastest(measured, "cpu")[1]
        clocks = f"{own['cpu']:.2g} / {peer['cpu']:.2g}"
        return f"{clocks}; {own['peak_mb']:.0f} / {peer['peak_mb']:.0f}"

    title = "Ours / the fastest peer's: CPU seconds; MB of memory"
    yield from _by_form(title, _letters(cells), entry)


def _metrics(cells: Mapping[str, Any]) -> Iterator[str]:
    """Yield which of the five metrics each peer computed with the same result."""
    for peer, known in PEERS.items():
        shared = {
            metric
            for measured in filter(None, cells.values())
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
    measured = [cell for cell in results["cells"].values() if cell]
    dates = sorted({cell["date"] for cell in measured})
    yield (
        f"Measured {' to '.join(dict.fromkeys([*dates[:1], *dates[-1:]]))} on {machine['cores']} "
        f"cores of {machine['cpu']}, Python {machine['python']}, {versions}."
    )
    load = max((cell["load"] for cell in measured), default=0)
    if load > machine["cores"] + 1:
        yield (
            f"Other work used the cores meanwhile (load average up to {load:.0f}): trust the CPU "
            "times, and measure again before you quote a wall time."
        )
