"""Lists of different lengths in one array: what was shown in each event, what was selected."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.statistics.array_types import IntArray

__all__ = ["places_of"]


def places_of(starts: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return where the items of some rows are, in the order of the rows, and their new starts.

    Args:
        starts: ``[N + 1]`` where the items of each row begin, and where the last end.
        rows: which rows, ``[n]``.

    Returns:
        The places of their items, and ``[n + 1]`` the starts among these.
    """
    lengths = starts[rows + 1] - starts[rows]
    ends = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    shift = np.repeat(starts[rows] - ends[:-1], lengths)
    return np.arange(ends[-1], dtype=np.int64) + shift, ends
