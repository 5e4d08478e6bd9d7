"""Time making, writing and reading baseline records, in one file and in two.

    python benchmarks/records.py --write            # and write the table into docs/baselines.md
    python benchmarks/records.py --base FOLDER      # also against an older checkout of this project

Each query has a ranking of 20 documents, and three metrics are recorded. Every measurement runs in
its own process, which starts its clocks when the evaluation is ready: a record is made of it and
written, or read from its files. The contestants take turns, and the medians of the ratios within
each turn count.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from manual_parts import write_part

PAGE = Path(__file__).parents[1] / "docs" / "baselines.md"
SIZES = (1_000, 5_000, 20_000, 100_000)
METRICS = ("nDCG@10", "RR", "R@10")
DEPTH, JUDGED, ROUNDS = 20, 3, 5
ONE, TWO, BASE = "one file", "two files", "before"
NAME = "test_ranking--web.json"

Result = Mapping[str, float]


def evaluation_of(queries: int) -> Any:
    """Return an evaluation of rankings that find some of the judged documents."""
    from pytest_rankcheck import GoldenSet, Run, evaluate

    random = np.random.default_rng(7)
    documents = random.integers(0, 10 * queries, (queries, DEPTH))
    judged = random.permuted(documents, axis=1)[:, :JUDGED]
    names = [f"q{number}" for number in range(queries)]
    rankings = {
        name: list(dict.fromkeys(f"d{document}" for document in row))
        for name, row in zip(names, documents.tolist(), strict=True)
    }
    judgments = {
        name: {f"d{document}": 1 + document % 3 for document in row}
        for name, row in zip(names, judged.tolist(), strict=True)
    }
    evaluation = evaluate(Run.from_dict(rankings), GoldenSet.from_dict(judgments, name="web"))
    for metric in METRICS:
        evaluation.mean(metric)
    assert len(evaluation.query_fingerprints) == queries
    assert evaluation.golden.fingerprint
    return evaluation


def work(task: str, form: str, queries: int, path: Path) -> Result:
    """Make and write a record, or read it; return seconds of CPU and wall, and the memory in MB."""
    from pytest_rankcheck import Metric, Record

    if task == "write":
        metrics = [Metric.parse(name) for name in METRICS]
        evaluation, write = evaluation_of(queries), writer(form)
        return clocked(lambda: write(path, Record.of(evaluation, metrics, test="test_ranking")))
    return clocked(lambda: Record.load(path))


def writer(form: str) -> Callable[[Path, Any], object]:
    """Return a function that writes a record in a form."""
    from pytest_rankcheck.baselines import record_writer
    from pytest_rankcheck.files.whole_files import write_whole

    if form == TWO:
        record_writer.data_file.COMPACT_FROM = 1
        return record_writer.write_record
    return lambda path, record: write_whole(path, record_writer.record_text(record))


def clocked(do: Callable[[], object]) -> Result:
    """Return what it takes to do something once."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    result = do()
    taken = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    del result
    return {**taken, "memory": (after - before) / 1024}


def measured(task: str, form: str, queries: int, path: Path, base: Path | None) -> Result:
    """Do a piece of work in a process of its own."""
    root = base if form == BASE and base is not None else Path(__file__).parents[1]
    arguments = ["--work", task, form, str(queries), str(path)]
    output = subprocess.check_output(
        [sys.executable, "-W", "ignore", __file__, *arguments],
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    result: Result = json.loads(output)
    return result


def compared(
    queries: int, folder: Path, rounds: int, base: Path | None
) -> Mapping[str, Mapping[str, float]]:
    """Return the medians of each form, and how many times as long the first one takes."""
    forms = [*([BASE] if base else []), ONE, TWO]
    turns: dict[str, list[dict[str, float]]] = {form: [] for form in forms}
    for turn in range(rounds):
        for form in forms if turn % 2 else forms[::-1]:
            path = folder / form.replace(" ", "-") / NAME
            path.parent.mkdir(exist_ok=True)
            parts = {task: measured(task, form, queries, path, base) for task in ("write", "read")}
            total = {
                clock: parts["write"][clock] + parts["read"][clock] for clock in ("cpu", "wall")
            }
            memory = max(part["memory"] for part in parts.values())
            size = sum(file.stat().st_size for file in path.parent.iterdir()) / 1e6
            read = parts["read"]["cpu"]
            turns[form].append({**total, "read": read, "memory": memory, "size": size})
    slowest = turns[forms[0]]
    return {
        form: {
            **{name: median(turn[name] for turn in results) for name in results[0]},
            **{
                f"{clock} ratio": median(
                    first[clock] / turn[clock] for first, turn in zip(slowest, results, strict=True)
                )
                for clock in ("cpu", "wall")
            },
        }
        for form, results in turns.items()
    }


def table(sizes: Sequence[int], rounds: int, base: Path | None) -> str:
    """Return the table of the manual."""
    rows = [
        "| queries | form | size | all: CPU | all: wall | read: CPU | memory | times as fast |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for queries in sizes:
        with tempfile.TemporaryDirectory() as folder:
            results = compared(queries, Path(folder), rounds, base)
        rows += [
            f"| {queries:,} | {form} | {result['size']:.1f} MB | {result['cpu']:.3f} s | "
            f"{result['wall']:.3f} s | {result['read']:.3f} s | {result['memory']:.0f} MB | "
            f"{result['cpu ratio']:.1f} CPU, {result['wall ratio']:.1f} wall |"
            for form, result in results.items()
        ]
    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    rows += ["", f"Measured with {versions}; {os.cpu_count()} cores; {rounds} rounds."]
    return "\n".join(rows) + "\n"


def main() -> None:
    """Print the table, or do the work of one process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--base", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--work", nargs=4)
    chosen = parser.parse_args()
    if chosen.work:
        task, form, queries, path = chosen.work
        print(json.dumps(work(task, form, int(queries), Path(path))))
        return
    made = table(chosen.sizes, chosen.rounds, chosen.base)
    print(made)
    if chosen.write:
        write_part(PAGE, "speed of records", made)


if __name__ == "__main__":
    main()
