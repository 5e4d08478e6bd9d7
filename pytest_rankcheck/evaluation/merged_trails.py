"""Merge the judged events of several parts of a session log."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.session_trails import Trails

__all__ = ["with_states"]


def with_states(whole: Trails, parts: Sequence[Trails], kept: Sequence[IntArray]) -> Trails:
    """Return the trails of a whole log, with the judged hits from its parts.

    Args:
        whole: the trails of all sessions.
        parts: the trails of each part, with their judged hits.
        kept: for each part, the places of its sessions that the whole log keeps, in its order.
    """
    states, sessions, places, before = list[JudgedHits](), [], [], 0
    for trails, own in zip(parts, kept, strict=True):
        assert trails.states is not None
        assert trails.session_of is not None
        assert trails.place_of is not None
        number = np.full(len(trails.events), -1, np.int64)
        number[own] = np.arange(before, before + len(own))
        before += len(own)
        chosen = np.flatnonzero(number[trails.session_of] >= 0)
        states.append(_rows(trails.states, chosen))
        sessions.append(number[trails.session_of[chosen]].astype(np.intp))
        places.append(trails.place_of[chosen])
    return whole.judged(_stacked(states), np.concatenate(sessions), np.concatenate(places))


def _rows(hits: JudgedHits, rows: IntArray) -> JudgedHits:
    return JudgedHits(
        hits.ranks[rows], hits.grades[rows], hits.retrieved[rows], hits.ideal[rows], hits.max_grade
    )


def _stacked(blocks: Sequence[JudgedHits]) -> JudgedHits:
    return JudgedHits(
        _padded([block.ranks for block in blocks]),
        _padded([block.grades for block in blocks]),
        np.concatenate([block.retrieved for block in blocks]),
        _padded([block.ideal for block in blocks]),
        blocks[0].max_grade,
    )


def _padded(matrices: Sequence[FloatArray]) -> FloatArray:
    """Stack matrices on top of each other, padding narrower ones with NaN."""
    width = max(matrix.shape[1] for matrix in matrices)
    return np.concatenate(
        [
            np.pad(matrix, ((0, 0), (0, width - matrix.shape[1])), constant_values=np.nan)
            for matrix in matrices
        ]
    )
