"""Time pytest-rankcheck against its peers on every shape and form, for the manual.

    pip install -e '.[benchmark]'
    python benchmarks/compare.py --json speed.json     # measure everything, keep it and print it
    python benchmarks/compare.py --json speed.json --shapes b --forms dicts lists    # only a part
    python benchmarks/compare.py --json speed.json --shapes --write    # no measuring
    python benchmarks/compare.py --json other.json --scale 0.1 --forms pairs prebuilt+tied --write

Forms with other scores, such as ``prebuilt+tied``, have a table of their own.

RecTools needs another numpy and so a Python of its own, ``--python RecTools=/path/to/bin/python``;
`nox -s benchmark` makes both.

Method. Every measurement runs in a process of its own (speed/worker.py): it does the same work on
20 queries first, so what libraries do once is over; imports what the work needs (a process that
does not count finds out what that is for ours); makes the input of the form; and does the work
once. It reports the CPU time of all threads, the wall time, and the peak memory while the work
runs. In the first round every peer runs, and all must compute the same means within 1e-6 (the page
names what a peer computes otherwise). Then ours and the peers within a quarter of the fastest one
take turns, five times in all, or three times if the peer takes more than four seconds. Medians
count. Each tool uses as many threads as it does by default. A ratio is the fastest peer's time
divided by ours.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from manual_parts import DOCS, write_part
from speed.cells import Plan, cell, forms_of
from speed.inputs import FORMS, OTHERS
from speed.page import as_markdown, figures_as_markdown, others_as_markdown, with_forms
from speed.peers import PEERS
from speed.results import Results, this_machine, versions
from speed.shapes import SHAPES, described


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for option, known in (
        ("--shapes", list(SHAPES)),
        ("--forms", [*FORMS, *OTHERS]),
        ("--peers", list(PEERS)),
    ):
        parser.add_argument(
            option, nargs="*", choices=known, default=known, help="all if not given"
        )
    cache = Path.home() / ".cache" / "rankcheck-benchmark"
    parser.add_argument("--runs", type=int, default=5, help="how often a cell is measured")
    parser.add_argument("--scale", type=float, default=1.0, help="the part of the queries")
    parser.add_argument("--cache", type=Path, default=cache, help="where the data is kept")
    parser.add_argument("--json", type=Path, help="a file of results, which is added to")
    text = "the Python that has this peer, where it is not the one that runs this"
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PATH", help=text)
    parser.add_argument("--write", action="store_true", help="write the tables into the manual")
    return parser.parse_args()


def measure(plan: Plan, chosen: argparse.Namespace, results: Results) -> None:
    """Measure what is chosen, one thing after the other, and keep each result."""
    for letter in chosen.shapes:
        folder = plan.entry("rankcheck", "trec", SHAPES[letter]).folder
        results.keep("shapes", letter, described(folder))
        for form in forms_of(letter):
            if form in chosen.forms:
                results.keep("cells", f"{letter}/{form}", cell(plan, letter, form))


def main() -> None:
    """Measure, keep and print, and write if requested."""
    chosen = arguments()
    pythons = dict(one.split("=", 1) for one in chosen.python)
    known = versions(pythons)
    results = Results(chosen.json, this_machine(chosen.scale))
    if chosen.shapes:
        for name, version in known.items():
            results.keep("versions", name, version)
    peers = [name for name in chosen.peers if known[name]]
    measure(Plan(pythons, chosen.cache, chosen.scale, chosen.runs, peers), chosen, results)
    for name, of_figures, forms, page in (
        ("speed", "figures of speed", FORMS, as_markdown),
        (
            "speed of other scores",
            "figures of speed of other scores",
            OTHERS,
            others_as_markdown,
        ),
    ):
        found = with_forms(results.content, forms)
        if found["cells"]:
            text, figures = page(found), figures_as_markdown(found, forms)
            print(text, figures, sep="\n")
            if chosen.write:
                write_part(DOCS / "reference" / "speed.md", name, text)
                write_part(DOCS / "reference" / "speed.md", of_figures, figures)


if __name__ == "__main__":
    main()
