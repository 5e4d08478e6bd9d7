"""What an executor costs per query over a serial ranking, of a ranker that takes no time.

    python benchmarks/executors.py [queries]

The golden set has ten judged documents a query; the ranker returns ten documents. Each row is the
median of three. A ranker that takes longer than the overhead per query gains from two workers.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pytest_rankcheck import GoldenSet, rank

REPEATS = 3
DOCUMENTS = [f"d{n}" for n in range(10)]


def search(text: str) -> list[str]:
    """Return ten documents at once."""
    return list(DOCUMENTS)


def golden_set(queries: int) -> GoldenSet:
    """Return a golden set with ten judged documents a query."""
    return GoldenSet.from_dict(
        {f"q{n}": dict.fromkeys(DOCUMENTS, n % 3) for n in range(queries)},
        {f"q{n}": f"query {n}" for n in range(queries)},
    )


def seconds(rank_all: Callable[[], object]) -> float:
    """Return the median time of some calls."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        rank_all()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(queries: int = 20_000) -> None:
    """Print a table: seconds, and microseconds a query over serial."""
    golden = golden_set(queries)
    serial = seconds(lambda: rank(search, golden))
    print(f"{queries:,} queries\n{'':34}  seconds  us a query over serial")
    print(f"{'serial':34}  {serial:7.2f}")

    def show(label: str, taken: float) -> None:
        print(f"{label:34}  {taken:7.2f}  {(taken - serial) / queries * 1e6:8.1f}")

    with ThreadPoolExecutor(2) as threads:
        show("threads, chunk=50", seconds(lambda: rank(search, golden, executor=threads)))
    for chunk in (10, 50, 500):
        taken = seconds(lambda: rank(search, golden, executor="processes:2", chunk=chunk))  # noqa: B023
        show(f"processes:2 with start, chunk={chunk}", taken)
    with tempfile.TemporaryDirectory() as folder:
        parts = Path(folder) / "parts"
        taken = seconds(lambda: rank(search, golden, resume=parts, resume_key="benchmark"))
        show("serial, kept in chunks of 50", taken)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
