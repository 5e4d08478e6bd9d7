"""Time the history of records over many commits: how it grows with their number.

    python benchmarks/history.py

Each commit rewrites two records of 200 queries. The seconds are CPU time of this process, without
git's; their ratio says whether the cost is linear.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from pytest_rankcheck import GoldenSet, Metric, Run, evaluate
from pytest_rankcheck.baselines.history import histories
from pytest_rankcheck.baselines.record import Record

QUERIES, RECORDS = 200, 2
COMMITS = (250, 500, 1_000)
METRICS = [Metric.parse(name) for name in ("nDCG@10", "RR")]


def record(rng: np.random.Generator) -> str:
    """Return the text of a record of random ranks."""
    ids = [f"q{number:03}" for number in range(QUERIES)]
    golden = GoldenSet.from_dict({query: {"good": 1} for query in ids}, name="web")
    ranks = rng.integers(1, 11, size=QUERIES)
    rankings = [[f"d{place}" for place in range(1, rank)] + ["good"] for rank in ranks]
    run = Run.from_dict(dict(zip(ids, rankings, strict=True)))
    return Record.of(evaluate(run, golden), METRICS).text


def imported(folder: Path, commits: int) -> None:
    """Make a repository with a commit for each pair of records."""
    rng, stream = np.random.default_rng(7), []
    for number in range(commits):
        stream.append(
            f"commit refs/heads/main\ncommitter Ada <a@x> {number * 3600} +0000\ndata 0\n"
        )
        for each in range(RECORDS):
            text = record(rng)
            path = f"tests/baselines/test_rank/test_{each}--web.json"
            stream.append(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=folder, check=True, input="".join(stream).encode()
    )


def main() -> None:
    """Print the seconds for each number of commits."""
    for commits in COMMITS:
        with tempfile.TemporaryDirectory() as folder:
            imported(Path(folder), commits)
            start = time.process_time()
            found = histories(Path(folder))
            seconds = time.process_time() - start
        points = sum(len(each.points) for each in found)
        print(f"{commits:6,} commits  {points:6,} records  {seconds:6.2f} s")


if __name__ == "__main__":
    main()
