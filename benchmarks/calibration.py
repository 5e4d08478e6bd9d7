"""How often the gates are wrong: ``python benchmarks/calibration.py [--draws 4000] [--write]``.

The populations are made from real pairs (real_pairs.py, populations.py), so that the true change is
known. An *innocent* change has a true mean of zero. Sections, chosen with ``--sections``:

- ``pairs``: false blocks, false passes, power and inconclusive verdicts for every kind of metric,
  both directions of skew and 25 to 500 queries; fixed tolerances.
- ``choice``: which gate to take, by the number of queries (gate_choice.py).
- ``lost``: queries that lost their answers (lost_answers.py).
- ``proved``: whether what ``prove`` says holds for real rankers (proved_gates.py).
- ``designs``: weights, clusters, two samples, ten slices together, and a rare large gain.
- ``sessions``: simulated users with many sessions (user_sessions.py); a quarter of the draws.
- ``retraining``: LambdaRank models that differ in the seed alone (retraining.py).
- ``ratchet``: fifty pull requests on one golden set (ratchet.py).
- ``replays``: simulated logs, replayed under right and wrong assumptions (replayed_logs.py); half
  of the draws.

``--write`` puts the tables into ``docs/reference/calibration.md`` and ``docs/which-gate.md``.
All of it takes about half an hour on two idle cores.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gate_choice import choice_tables
from lost_answers import lost_answers_tables
from manual_parts import DOCS, write_part
from pair_tables import PairCounts, all_tables, summary, tolerances_table
from proved_gates import SAMPLED, proved_tables
from ratchet import ratchet_table
from real_pairs import DATA, cached
from replayed_logs import SEARCHES, replays_table
from retraining import retraining_table
from special_designs import designs_table, slices_table
from user_sessions import users_tables
from verdict_counts import ALPHA

PAGE = DOCS / "reference" / "calibration.md"
CHOICE = DOCS / "which-gate.md"


Part = tuple[Path, str, list[str]]
"""A page, the name of its part, and the lines of that."""


@dataclass(frozen=True)
class Settings:
    """What the command was asked for."""

    pairs: Path
    draws: int
    histories: int


def error_of(draws: int) -> str:
    """Return the line that states the Monte Carlo error."""
    two = 2 * math.sqrt(ALPHA * (1 - ALPHA) / draws)
    return f"{draws:,} draws per cell: two standard errors of a rate of 5% are {two:.1%}."


def pairs_section(settings: Settings) -> Iterator[Part]:
    """Yield the tables on real pairs."""
    counts, error = PairCounts.of(settings.pairs, settings.draws), error_of(settings.draws)
    yield PAGE, "rates on real pairs", [*all_tables(counts), error]
    yield PAGE, "tolerances", [*tolerances_table(counts), "", error]
    yield PAGE, "rates", [*summary(counts), "", error]


def choice_section(settings: Settings) -> Iterator[Part]:
    """Yield the tables of gates by the number of queries."""
    yield CHOICE, "rates by size", [*choice_tables(settings.pairs, settings.draws)]


def lost_section(settings: Settings) -> Iterator[Part]:
    """Yield the tables of lost answers."""
    error = f"The first four rows are exact. {error_of(settings.draws)}"
    tables = lost_answers_tables(DATA, settings.draws)
    yield PAGE, "lost answers", [*tables, "", f"{error} The second table has a quarter of them."]


def proved_section(settings: Settings) -> Iterator[Part]:
    """Yield the table of harms that are blocked, beside worse rankers."""
    samples = max(1, settings.draws // SAMPLED)
    counted = f"{samples:,} samples of the queries per column."
    yield PAGE, "proved gates", [*proved_tables(DATA, samples), "", counted]


def designs_section(settings: Settings) -> Iterator[Part]:
    """Yield the tables of weights, clusters, two samples and slices."""
    pairs, draws = cached(settings.pairs), settings.draws
    lines = [*designs_table(pairs, draws), "", *slices_table(pairs, draws), "", error_of(draws)]
    yield PAGE, "rates of designs", lines


def retraining_section(settings: Settings) -> Iterator[Part]:
    """Yield the table of models that are trained anew."""
    draws = settings.draws // 2
    table = retraining_table(DATA / "lightgbm-lambdarank", draws)
    yield PAGE, "retraining", [*table, "", error_of(draws)]


def ratchet_section(settings: Settings) -> Iterator[Part]:
    """Yield the table of the ratchet."""
    two = 2 * math.sqrt(0.1 * 0.9 / settings.histories)
    years = f"{settings.histories:,} years per row: two standard errors of a rate of 10% are"
    yield PAGE, "the ratchet", [*ratchet_table(settings.histories), "", f"{years} {two:.1%}."]


def sessions_section(settings: Settings) -> Iterator[Part]:
    """Yield the tables of users."""
    draws = settings.draws // 4
    yield PAGE, "users", [*users_tables(draws), error_of(draws)]


def replays_section(settings: Settings) -> Iterator[Part]:
    """Yield the table of replayed logs."""
    draws = settings.draws // 2
    title = f"**{SEARCHES:,} searches** ({draws:,} logs per row)"
    two = 2 * math.sqrt(0.05 * 0.95 / draws)
    error = f"Two standard errors of a rate of 5% are {two:.1%}."
    yield PAGE, "replays", [title, "", *replays_table(draws), "", error]


SECTIONS: dict[str, Callable[[Settings], Iterator[Part]]] = {
    "pairs": pairs_section,
    "choice": choice_section,
    "lost": lost_section,
    "proved": proved_section,
    "designs": designs_section,
    "retraining": retraining_section,
    "ratchet": ratchet_section,
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
    with tempfile.TemporaryDirectory() as folder:
        kept = given.pairs or Path(folder) / "pairs.npz"
        cached(kept)
        settings = Settings(kept, given.draws, given.histories)
        for name in given.sections:
            for page, part, lines in SECTIONS[name](settings):
                text = "\n".join(lines) + "\n"
                print(f"{part}\n\n{text}", flush=True)
                if given.write:
                    write_part(page, part, text)


if __name__ == "__main__":
    main()
