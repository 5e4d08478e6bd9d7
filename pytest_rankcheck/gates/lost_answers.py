"""Lost answers: obvious to anybody on a small golden set, but invisible to a test of the mean.

A query loses its answers if a relevant document was among its first three and none is in its top
ten now. How many of them block, and at which share, was chosen on real pairs of rankings: see
``benchmarks/lost_answers.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.rank_changes import FIRST, TOP
from pytest_rankcheck.errors import plural

SHARE = 0.04
"""The smallest share of the compared queries that blocks."""


@dataclass(frozen=True, slots=True)
class LostAnswers:
    """The queries of an assertion that lost their answers, and whether that blocks.

    A cluster of queries counts once.
    """

    queries: tuple[str, ...] = ()
    lost: int = 0
    """How many independent units they are: queries, or clusters."""
    compared: int = 0
    """How many units are compared."""
    unit: str = "query"
    blocks: bool = False
    """Whether there are enough of them, and no query gained an answer in the same way."""
    is_known: bool = True
    """False if the baseline keeps too little of its rankings to tell."""
    fewest: float = math.inf
    """How many units it takes to block."""

    @property
    def text(self) -> str:
        """What blocks, in words."""
        of = plural(self.compared, self.unit, "queries" if self.unit == "query" else "")
        queries_of = "" if self.unit == "query" else "queries of "
        return (
            f"{queries_of}{self.lost:,} of {of} lost every relevant document of their top {TOP} "
            f"(one was in the first {FIRST}), and none gained one in the same way"
        )


def lost_answers_in(comparison: Comparison, fewest: int) -> LostAnswers | None:
    """Return which queries lost their answers; None where rankings are not compared.

    On the replay of a log nothing is compared, because users could only select what was shown.

    Args:
        comparison: what is compared.
        fewest: how many of them block, at least 1.
    """
    evaluation = comparison.evaluation
    if not evaluation.kind.recur or evaluation.golden.replay is not None:
        return None
    sides = (comparison.other, evaluation)
    for side in sides:
        side.read_rankings(TOP)
    if any(side.known_depth is not None and side.known_depth < TOP for side in sides):
        return LostAnswers(is_known=False)
    lost, gained = (
        [place for place, query_id in enumerate(comparison.query_ids) if query_id in those]
        for those in comparison.answers
    )
    clusters = comparison.clusters(comparison.places, comparison.other_places)
    units: IntArray = np.arange(len(comparison.query_ids)) if clusters is None else clusters
    count, compared = len(set(units[lost].tolist())), len(set(units.tolist()))
    needed = fewest_of(compared, fewest)
    return LostAnswers(
        tuple(map(comparison.query_ids.__getitem__, lost)),
        count,
        compared,
        "query" if clusters is None else "cluster",
        blocks=count >= needed and not gained,
        fewest=needed,
    )


def fewest_of(compared: int, fewest: int) -> float:
    """Return how many of the compared units must have lost their answers to block."""
    return max(fewest, SHARE * compared)
