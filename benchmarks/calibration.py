"""How often the gates are wrong: ``python benchmarks/calibration.py [--draws 4000] [--write]``.

The populations are made from real pairs (real_pairs.py, populations.py), so that the true change is
known. An *innocent* change has a true mean of zero. Sections, chosen with ``--sections``:

- ``pairs``: false blocks, false passes, power and inconclusive verdicts for every kind of metric,
  both directions of skew and 25 to 500 queries; other tests; fixed tolerances and other tools.
- ``designs``: weights, clusters, two samples, ten slices together, and simulated differences.
- ``sessions``: simulated logs of users, devices and groups (session_samples.py); a quarter of the
  draws.
- ``ratchet`` and ``slide``: fifty pull requests on one golden set (pull_requests.py).
- ``replays``: simulated logs, replayed under right and wrong assumptions (replayed_logs.py).

``--write`` puts the tables into ``docs/calibration.md``, and a summary into ``docs/gates.md``. All
of it takes about half an hour on two idle cores.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from design_tables import designs_table, slices_table
from manual_parts import DOCS, write_part
from pair_tables import PairCounts, all_tables, summary, tools_table
from real_pairs import cached, require_data
from replay_tables import SIZES, draws_of, estimates_table, replay_tables
from session_tables import groups_table, mix_table, users_tables
from verdict_counts import ALPHA
from year_tables import ratchet_table, slide_table

SUMMARY, PAGE = DOCS / "gates.md", DOCS / "calibration.md"


@dataclass(frozen=True)
class Settings:
    """What the command was asked for."""

    pairs: Path
    draws: int
    histories: int

    @property
    def error(self) -> str:
        """The line that states the Monte Carlo error."""
        two = 2 * math.sqrt(ALPHA * (1 - ALPHA) / self.draws)
        return f"{self.draws:,} draws per cell: two standard errors of a rate of 5% are {two:.1%}."

    @property
    def error_of_years(self) -> str:
        """The line that states the Monte Carlo error of the years."""
        two = 2 * math.sqrt(0.1 * 0.9 / self.histories)
        return (
            f"{self.histories:,} years per row: two standard errors of a rate of 10% are {two:.1%}."
        )


@dataclass(frozen=True)
class Block:
    """A part of a page that this script writes."""

    page: Path
    name: str
    lines: list[str]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines) + "\n"

    def write(self) -> None:
        """Put it into the page."""
        write_part(self.page, self.name, self.text)


def pairs_section(settings: Settings) -> Iterator[Block]:
    """Yield the tables on real pairs."""
    counts = PairCounts.of(settings.pairs, settings.draws)
    lines = []
    for title, table in all_tables(counts):
        lines += [f"**{title}**", "", *table, ""]
    refused = {
        "a fall of the margin": counts.refused(1),
        "a fall of twice the margin": counts.refused(2),
        "the smallest detectable fall": counts.refused(-1),
    }
    for what, names in refused.items():
        if names:
            lines += [f"Populations that were refused for {what}: {names}.", ""]
    yield Block(PAGE, "rates on real pairs", [*lines, settings.error])
    yield Block(PAGE, "other tools", [*tools_table(counts), "", settings.error])
    yield Block(SUMMARY, "rates", [*summary(counts), "", settings.error])


def designs_section(settings: Settings) -> Iterator[Block]:
    """Yield the tables of weights, clusters, two samples, slices and simulated differences."""
    pairs = cached(settings.pairs)
    lines = [*designs_table(pairs, settings.draws), "", *slices_table(pairs, settings.draws)]
    yield Block(PAGE, "rates of designs", [*lines, "", settings.error])


def ratchet_section(settings: Settings) -> Iterator[Block]:
    """Yield the table of the ratchet."""
    lines, _ = ratchet_table(settings.histories)
    yield Block(PAGE, "the ratchet", [*lines, "", settings.error_of_years])


def sessions_section(settings: Settings) -> Iterator[Block]:
    """Yield the tables of users, of a shift of the mix, and of groups."""
    quarter = replace(settings, draws=settings.draws // 4)
    yield Block(PAGE, "users", [*users_tables(quarter.draws), quarter.error])
    yield Block(PAGE, "mix", [*mix_table(quarter.draws), "", quarter.error])
    yield Block(PAGE, "groups", [*groups_table(quarter.draws), "", quarter.error])


def replays_section(settings: Settings) -> Iterator[Block]:
    """Yield the tables of replayed logs."""
    lines = list(replay_tables(settings.draws))
    two = [200 * math.sqrt(0.05 * 0.95 / draws_of(settings.draws, size)) for size in SIZES]
    shown = ", ".join(f"{each:.1f}%" for each in two)
    yield Block(PAGE, "replays", [*lines, f"Two standard errors of a rate of 5% are {shown}."])
    logs = settings.draws // 20
    text = f"{logs:,} logs of two rankers per row, with nine propensities each."
    yield Block(PAGE, "estimated propensities", [*estimates_table(logs), "", text])


def slide_section(settings: Settings) -> Iterator[Block]:
    """Yield the table of the slide."""
    lines = slide_table(settings.histories)
    yield Block(PAGE, "the slide", [*lines, "", settings.error_of_years])


SECTIONS: dict[str, Callable[[Settings], Iterator[Block]]] = {
    "pairs": pairs_section,
    "designs": designs_section,
    "ratchet": ratchet_section,
    "slide": slide_section,
    "sessions": sessions_section,
    "replays": replays_section,
}


def main() -> None:
    """Print the tables, and write them into the manual if requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--histories", type=int, default=4000)
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--pairs", type=Path, help="keep the pairs in this file (.npz)")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    require_data()
    with tempfile.TemporaryDirectory() as folder:
        kept = given.pairs or Path(folder) / "pairs.npz"
        cached(kept)
        settings = Settings(kept, given.draws, given.histories)
        for name in given.sections:
            for block in SECTIONS[name](settings):
                print(f"{block.name}\n\n{block.text}", flush=True)
                if given.write:
                    block.write()


if __name__ == "__main__":
    main()
