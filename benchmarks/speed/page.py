"""The tables of docs/speed.md, made from kept results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from speed.cells import fastest, ratios
from speed.floors import FLOORS
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
        _floors(results["cells"]),
        _details(results["cells"]),
        _growth(results["growth"]),
        _rows(results["rows"]),
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


def _floors(cells: Mapping[str, Any]) -> Iterator[str]:
    """Yield how fast the plainest code is, by the same measure, and what that code does."""

    def entry(letter: str, form: str) -> str:
        measured = _measured(cells, letter, form)
        if not measured or "floor" not in measured:
            return "-"
        return f"{fastest(measured, 'cpu')[1]['cpu'] / measured['floor']['cpu']:.1f}"

    title = "The fastest peer's CPU time divided by the floor's"
    table = list(_by_form(title, _letters(cells), entry))
    if not table:
        return
    yield (
        "No code can be much faster than the floor: the plainest code that gets from the same "
        "input to the judged documents that are ranked, without metrics, checks, ties or messages."
    )
    yield ""
    yield from table
    yield ""
    measured_forms = {name.partition("/")[2] for name, known in cells.items() if known}
    for form, name in FORMS.items():
        if form in measured_forms:
            yield f"- {name}: {FLOORS[form][1]}."


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.995 else f"{1000 * value:.0f} ms"


def _details(cells: Mapping[str, Any]) -> Iterator[str]:
    def row(letter: str, form: str, measured: dict[str, Any]) -> list[str]:
        own = measured["ours"]
        (by_cpu, cpu), (by_wall, wall) = fastest(measured, "cpu"), fastest(measured, "wall")
        other = "" if by_wall == by_cpu else f"{by_wall} "
        return [
            letter,
            FORMS[form],
            f"{_seconds(own['cpu'])} / {_seconds(own['wall'])}",
            f"{by_cpu} {_seconds(cpu['cpu'])} / {other}{_seconds(wall['wall'])}",
            f"{own['peak_mb']:.0f} MB",
            f"{cpu['peak_mb']:.0f} MB",
        ]

    yield from _table(
        ["shape", "form", "rankcheck", "fastest peer", "memory", "the peer's"],
        (
            row(letter, form, measured)
            for letter in _letters(cells)
            for form in FORMS
            if (measured := _measured(cells, letter, form))
        ),
        "Seconds (CPU / wall) and peak memory",
    )


def _growth(growth: Mapping[str, Any]) -> Iterator[str]:
    letters = _letters(growth)

    def entry(letter: str, form: str) -> str:
        measured = growth.get(f"{letter}/{form}")
        return f"{measured['2']['cpu'] / measured['1']['cpu']:.2f}" if measured else "-"

    title = "Twice the queries: our CPU time divided by that of the shape"
    yield from _by_form(title, letters, entry)


def _rows(rows: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of what does not belong to a shape."""
    lines = []
    if whole := rows.get("whole process"):
        for name, clocks in whole.items():
            title = f"200 queries x 100 from text, the whole process with its imports: {name}"
            lines.append([title, _clocks(clocks)])
        if "pytrec_eval" in whole:
            own, peer = whole["rankcheck"], whole["pytrec_eval"]
            ratio = " / ".join(_ratio(peer[clock] / own[clock]) for clock in ("cpu", "wall"))
            lines.append(["the same, pytrec_eval's time divided by ours", ratio])
    if golden := rows.get("golden set"):
        count, added = golden["judgments"], golden["peak_mb"] - golden["before_mb"]
        title = f"a golden set of {count:,} judgments, loaded from Parquet"
        each = f"{1e6 * golden['cpu'] / count:.2f} µs and {added * 2**20 / count:.0f} bytes each"
        lines.append([title, f"{_clocks(golden)}; {each}"])
    if hundred := rows.get("hundred metrics"):
        title = "100 metrics on c, when the judged hits are found"
        lines.append([title, _clocks(hundred)])
    nothing = rows.get("imports", {}).get("nothing")
    for name, clocks in rows.get("imports", {}).items():
        if name != "nothing":
            more = {clock: clocks[clock] - nothing[clock] for clock in clocks}
            lines.append([f"imports of {name}", _clocks(more)])
    if lines:
        yield from _table(["beside the shapes", "CPU / wall"], lines)


def _clocks(clocks: Mapping[str, float]) -> str:
    return f"{_seconds(clocks['cpu'])} / {_seconds(clocks['wall'])}"


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
        f"{name} {version}" for name, version in results["rows"]["versions"].items() if version
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
