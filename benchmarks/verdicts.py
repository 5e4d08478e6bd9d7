"""Time the verdicts of 10,000 queries, 10 metrics and 20 slices against the evaluation itself.

    pip install -e '.[benchmark]'
    python benchmarks/verdicts.py --write     # and write the table into docs/gates.md

The evaluation reads the golden set and the run (100 documents per query) from their files and
computes the ten metrics. The verdicts compare it with the record of another ranker and decide on
every metric, over all queries and by slice, as one assertion per metric does. Both run in one
process, in turns; medians of CPU time count.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
from manual_parts import DOCS, write_part

from pytest_rankcheck import Evaluation, Gate, GoldenSet, Metric, Record, Run, compare, evaluate

PAGE = DOCS / "gates.md"
METRICS = [
    *("nDCG@10", "RR", "AP", "P@10", "R@100"),
    *("ERR@20", "RBP(p=0.8)", "Success@5", "nDCG@100", "Rprec"),
]
GATES = [
    Gate.tolerance(abs=0.01),
    Gate.significant(),
    Gate.noninferior(0.01),
    Gate.noninferior(0.01, test="t"),
]
DOCUMENTS, JUDGED, SLICES = 100, 10, 20

Result = TypeVar("Result")


def write_files(folder: Path, queries: int) -> None:
    """Write a golden set, the run of a ranker, and that of one with noise in its scores."""
    random = np.random.default_rng(11)
    grades = {
        f"q{query}": {
            f"d{doc}": int(random.integers(0, 4))
            for doc in random.choice(2 * DOCUMENTS, JUDGED, replace=False)
        }
        for query in range(queries)
    }
    attributes = {query: {"part": f"s{place % SLICES}"} for place, query in enumerate(grades)}
    GoldenSet.from_dict(grades, attributes=attributes).save(folder / "golden.jsonl")
    scores = {query: random.normal(size=2 * DOCUMENTS) for query in grades}
    for name, noise in (("before", 0.0), ("after", 0.3)):
        run = {}
        for query, own in scores.items():
            noisy = own + noise * random.normal(size=own.size)
            run[query] = {f"d{doc}": float(noisy[doc]) for doc in np.argsort(-noisy)[:DOCUMENTS]}
        Run.from_dict(run).save(folder / f"{name}.run")


def evaluated(folder: Path, name: str) -> Evaluation:
    """Read the golden set and a run, and compute the metrics."""
    golden = GoldenSet.load(folder / "golden.jsonl")
    evaluation = evaluate(Run.load(folder / f"{name}.run"), golden)
    for metric in METRICS:
        evaluation.mean(metric)
    return evaluation


def decided(evaluation: Evaluation, record: Record, gate: Gate) -> int:
    """Decide on every metric; return the number of decisions."""
    comparison = compare(evaluation, record)
    verdicts = [gate.decide(comparison, metric, "part") for metric in METRICS]
    return sum(1 + len(verdict.slices) for verdict in verdicts)


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the seconds of CPU time that the work took, and its result."""
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def table(queries: int, rounds: int) -> str:
    """Measure, and return the table."""
    seconds: dict[str, list[float]] = {"evaluation": []}
    decisions = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_files(folder, queries)
        record = Record.of(evaluated(folder, "before"), map(Metric.parse, METRICS))
        decided(evaluated(folder, "after"), record, GATES[1])  # warm-up: imports scipy
        for _ in range(rounds):
            for gate in GATES:
                took, evaluation = timed(partial(evaluated, folder, "after"))
                seconds["evaluation"].append(took)
                took, decisions = timed(partial(decided, evaluation, record, gate))
                seconds.setdefault(f"`{gate}`", []).append(took)
    whole = median(seconds.pop("evaluation"))
    lines = [
        f"| {decisions} verdicts | CPU time | of the evaluation's {whole:.2f} s |",
        "|---|---|---|",
        *(
            f"| {name} | {median(times):.2f} s | {median(times) / whole:.0%} |"
            for name, times in seconds.items()
        ),
    ]
    return "\n".join(lines) + f"\n\n{rounds} rounds, medians.\n"


def main() -> None:
    """Measure and print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--write", action="store_true", help=f"write it into {PAGE.name}")
    chosen = parser.parse_args()
    text = table(chosen.queries, chosen.rounds)
    print(text)
    if chosen.write:
        write_part(PAGE, "times of verdicts", text)


if __name__ == "__main__":
    main()
