"""How often the gates are wrong: ``python benchmarks/calibration.py [--draws 1000] [--write]``.

Three questions, on simulated differences and on real runs:

- **False blocks**: how many changes without an effect are blocked? Stated: at most alpha.
- **False passes**: how many falls of exactly the margin does ``noninferior`` pass? At most alpha.
- **Power**: how many falls as large as the smallest detectable one are blocked? Stated: 80%.

The differences of a change without an effect rise and fall equally often by any amount, as the
*symmetric* differences do. The *skewed* ones (many small falls, a few large gains, mean zero) do
not; they are included because gates meet them too. *Real* ones come from queries of the reference
collections, each ranked twice with noise in the scores; which of the two is the old ranking is
random, so nothing changed.

``--write`` puts the tables into ``docs/gates.md``.
"""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from pytest_rankcheck import Gate, GoldenSet, Metric, Outcome, Run, evaluate
from pytest_rankcheck.comparison.compared_values import Paired
from pytest_rankcheck.gates.decision_family import FamilySet, decide_sets
from pytest_rankcheck.statistics.array_types import FloatArray
from pytest_rankcheck.statistics.mean_differences import Differences

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / os.environ.get("RANKCHECK_REFERENCE_DATA", "../shared/data")
METRIC = Metric.parse("nDCG@10")
ALPHA = 0.05
SIZES = (25, 50, 100, 200, 500)
SHARES = (0.1, 0.3, 0.6)
_VERSIONS = 20
BLOCKED = frozenset({Outcome.REGRESSED})

Draw = Callable[[np.random.Generator, int], FloatArray]

GATES: dict[str, Gate] = {
    "fixed 2%": Gate.tolerance(abs=0.01),
    "significant": Gate.significant(alpha=ALPHA),
    "significant, t": Gate.significant(alpha=ALPHA, test="t"),
    "noninferior": Gate.noninferior(margin=0.02, alpha=ALPHA),
}
"""The fixed tolerance is 2% of a mean of 0.5, as teams set it; the margin is 0.02."""


def paired(gains: FloatArray) -> Paired:
    """Return differences as the values of a metric before and after."""
    ids = tuple(map(str, range(len(gains))))
    return Paired(METRIC, ids, np.full(len(gains), 0.5), 0.5 + gains)


def outcomes(gate: Gate, draw: Draw, count: int, draws: int) -> Iterator[Outcome]:
    """Yield what the gate decides on each draw of differences."""
    random = np.random.default_rng(count)
    for _ in range(draws):
        (decision,), _ = decide_sets([FamilySet(gate.rule, paired(draw(random, count)))])
        yield decision.outcome


def rate(gate: Gate, draw: Draw, count: int, draws: int, wanted: frozenset[Outcome]) -> float:
    """Return the share of draws with one of the wanted outcomes."""
    return sum(outcome in wanted for outcome in outcomes(gate, draw, count, draws)) / draws


def simulated(share: float, *, skewed: bool = False, fall: float = 0.0) -> Draw:
    """Return a draw of differences with mean ``-fall``, a share of them not constant."""

    def draw(random: np.random.Generator, count: int) -> FloatArray:
        sizes = random.exponential(0.2, count) - 0.2 if skewed else random.normal(0, 0.2, count)
        return np.round(np.where(random.random(count) < share, sizes, 0.0) - fall, 6)

    return draw


def real(name: str) -> Draw:
    """Return a draw of queries of a real collection, each ranked twice with noise."""
    golden, run = collection(name)
    pool = np.random.default_rng(0)
    versions = np.array([noisy_values(golden, run, pool) for _ in range(_VERSIONS)])

    def draw(random: np.random.Generator, count: int) -> FloatArray:
        places = random.integers(len(golden), size=count)
        new = random.integers(_VERSIONS, size=count)
        old = (new + random.integers(1, _VERSIONS, size=count)) % _VERSIONS
        return np.round(versions[new, places] - versions[old, places], 6)

    return draw


def collection(name: str) -> tuple[GoldenSet, Run]:
    """Return a golden set and a run of the reference data."""
    if name == "cranfield":
        codes = {1: 4, 2: 3, 3: 2, 4: 1, -1: 0}
        golden = GoldenSet.load(DATA / "cranfield" / "cran.qrels", grades=codes)
        return golden, Run.load(DATA / "cranfield" / "bm25s.run")
    folder = DATA / "lightgbm-lambdarank"
    return GoldenSet.load(folder / "rank.test.qrels"), Run.load(folder / "rank.test.lgbm.run")


def noisy_values(golden: GoldenSet, run: Run, random: np.random.Generator) -> FloatArray:
    """Return nDCG@10 of each query, with noise of a tenth of their spread added to the scores."""
    noisy: dict[str, dict[str, float]] = {}
    for query_id, listing in run.listings().items():
        assert listing.scores is not None
        scores = np.array(listing.scores)
        noise = random.normal(0, 0.1 * float(np.ptp(scores)), len(scores))
        noisy[query_id] = dict(zip(listing.doc_ids, (scores + noise).tolist(), strict=True))
    return evaluate(Run.from_dict(noisy), golden).values(METRIC)


# --- the tables ----------------------------------------------------------------------------------


def table_of_false_blocks(draws: int) -> Iterator[str]:
    """Yield the table of how many changes without an effect each gate blocks."""
    yield f"| differences | {' | '.join(f'{count} queries' for count in SIZES)} |"
    yield f"|---|{'---|' * len(SIZES)}"
    cases: dict[str, Draw] = {
        f"symmetric, {share:.0%} changed": simulated(share) for share in SHARES
    }
    cases |= {f"skewed, {share:.0%} changed": simulated(share, skewed=True) for share in SHARES}
    if DATA.is_dir():
        cases |= {f"real, {name}": real(name) for name in ("cranfield", "lightgbm")}
    for gate_name, gate in GATES.items():
        for case, draw in cases.items():
            if ", " in gate_name and any(f"{share:.0%}" in case for share in (0.1, 0.6)):
                continue  # for the other tests the middle share is enough
            rates = [rate(gate, draw, count, draws, BLOCKED) for count in SIZES]
            cells = " | ".join(f"{blocked:.1%}" for blocked in rates)
            yield f"| **{gate_name}**, {case} | {cells} |"


def table_of_passes_and_power(draws: int) -> Iterator[str]:
    """Yield the table of false passes and of power, on symmetric differences."""
    yield f"| rate, 30% changed | {' | '.join(f'{count} queries' for count in SIZES)} |"
    yield f"|---|{'---|' * len(SIZES)}"
    passed = frozenset(set(Outcome) - {Outcome.REGRESSED, Outcome.INCONCLUSIVE})
    gate = GATES["noninferior"]
    at_margin = simulated(0.3, fall=0.02)
    rates = [rate(gate, at_margin, count, draws, passed) for count in SIZES]
    yield f"| noninferior passes a fall of its margin | {' | '.join(f'{r:.1%}' for r in rates)} |"
    powers = []
    for count in SIZES:
        spread = Differences.of(simulated(0.3)(np.random.default_rng(1), 200_000)).deviation
        scaled = np.tile([1.0, -1.0], count)[:count]
        plan = Differences.of(scaled / float(np.std(scaled, ddof=1)) * spread)
        falling = simulated(0.3, fall=plan.smallest_detectable(ALPHA))
        powers.append(rate(GATES["significant"], falling, count, draws, BLOCKED))
    yield (
        "| significant blocks the smallest detectable fall | "
        f"{' | '.join(f'{power:.1%}' for power in powers)} |"
    )
    yield f"| ten slices together, significant | {' | '.join(families(draws))} |"


def families(draws: int) -> Iterator[str]:
    """Yield how often one of ten slices is blocked though nothing changed."""
    draw = simulated(0.3)
    for count in SIZES:
        random = np.random.default_rng(count)
        wrong = 0
        for _ in range(draws // 5):
            rule = GATES["significant"].rule
            decisions, _ = decide_sets(
                [FamilySet(rule, paired(draw(random, count)), "slice") for _ in range(10)]
            )
            wrong += any(decision.outcome is Outcome.REGRESSED for decision in decisions)
        yield f"{wrong / (draws // 5):.1%}"


def main() -> None:
    """Print the tables, and write them into the manual if requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    error = 2 * math.sqrt(ALPHA * (1 - ALPHA) / given.draws)
    text = "\n".join(
        (
            *table_of_false_blocks(given.draws),
            "",
            *table_of_passes_and_power(given.draws),
            "",
            f"{given.draws:,} draws per cell: two standard errors of a rate of 5% are {error:.1%}.",
            "",
        )
    )
    print(text)
    if given.write:
        page = ROOT / "docs" / "gates.md"
        pattern = r"(<!-- table of rates[^\n]*-->\n).*?(<!-- end of table -->)"
        made = re.sub(
            pattern,
            lambda match: f"{match[1]}{text}{match[2]}",
            page.read_text("utf-8"),
            flags=re.S,
        )
        page.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
