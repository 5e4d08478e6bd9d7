"""Asking a ranker from several threads at the same time."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker, answer_differences
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.rank import Attempt
from pytest_rankcheck.rankers.run import Run

__all__ = ["asked_by_threads"]

_THREADS_MEET = 0.2
"""The shortest time, in seconds, for which each thread keeps asking all queries."""
_SWITCH_INTERVAL = 1e-5
"""Seconds after which Python switches threads: short, so that races become visible."""


def asked_by_threads(
    ranker: RepeatedRanker, golden: GoldenSet, threads: int, run: Run
) -> Sequence[Attempt]:
    """Ask from several threads at once; each asks all queries, starting at a different one.

    A fast ranker is asked repeatedly for a short time, so that the threads overlap.

    Args:
        ranker: the ranker.
        golden: the queries.
        threads: how many threads.
        run: the answers to compare with; a thread stops at the first difference.

    Returns:
        The last answers of each thread.
    """
    barrier = Barrier(threads)

    def ask(number: int) -> Attempt:
        ids, start = golden.query_ids, len(golden) * number // threads
        part = golden.ordered((*ids[start:], *ids[:start]))
        barrier.wait()
        end = time.monotonic() + _THREADS_MEET
        attempt = ranker.rerun(part)
        while time.monotonic() < end and not answer_differences(run, attempt, ""):
            attempt = ranker.rerun(part)
        return attempt

    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(ask, range(threads)))
    finally:
        sys.setswitchinterval(interval)
