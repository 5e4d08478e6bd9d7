"""What the advice is worth, on few draws of the simulation in benchmarks/advice.py."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from pytest_rankcheck import Metric, Resolutions
from tests.reference import data

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import advice
import advice_sets
from planted_falls import FALLS, FallKind, changed

LOSSES = tuple(kind for kind in FALLS if kind.is_loss)
ORDERS = tuple(kind for kind in FALLS if not kind.is_loss)
DRAWS = 40
"""Of each kind of fall."""
pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")


@cache
def single_answers() -> advice_sets.RankedSet:
    return advice_sets.single_answers()


def cells(
    ranked: advice_sets.RankedSet,
    kinds: tuple[FallKind, ...],
    metrics: tuple[str, ...],
    *,
    is_null: bool = False,
) -> list[advice.Cell]:
    chosen = tuple(map(Metric.parse, dict.fromkeys(metrics)))
    return [advice.cell(ranked, kind, DRAWS, is_null=is_null, metrics=chosen) for kind in kinds]


def power(found: list[advice.Cell], *metrics: str) -> float:
    choice = tuple(map(Metric.parse, metrics))
    return fmean(cell.rate(choice).share for cell in found)


def test_of_single_answers_the_advice_sees_losses_that_one_metric_misses() -> None:
    """120 draws each: two standard errors of a difference are at most 0.13, and less if paired."""
    ranked = single_answers()
    chosen = [str(metric) for metric in Resolutions.of(ranked.evaluation, advice.CANDIDATES).gated]
    assert chosen == ["nDCG@10", "R@50"]
    former = [str(metric) for metric in advice.former_choice(ranked.evaluation)]
    losses, orders = (cells(ranked, kinds, (*chosen, *former)) for kinds in (LOSSES, ORDERS))
    assert power(losses, *chosen) >= power(losses, *former)
    assert power(losses, *chosen) >= power(losses, "nDCG@10")
    # The second gate costs little of what the first sees.
    assert power(orders, *chosen) >= power(orders, "nDCG@10") - 0.1


def test_on_cranfield_the_advice_sees_more_than_before() -> None:
    ranked = advice_sets.cranfield(data(""))
    chosen = [str(metric) for metric in Resolutions.of(ranked.evaluation, advice.CANDIDATES).gated]
    former = [str(metric) for metric in advice.former_choice(ranked.evaluation)]
    assert (chosen, former) == (["nDCG@10", "R@50"], ["AP", "ERR@10"])
    losses, orders = (cells(ranked, kinds, (*chosen, *former)) for kinds in (LOSSES, ORDERS))
    assert power(losses, *chosen) > power(losses, *former) + 0.1
    both = (power(losses, *chosen) + power(orders, *chosen)) / 2
    assert both > (power(losses, *former) + power(orders, *former)) / 2
    assert both > (power(losses, "nDCG@10") + power(orders, "nDCG@10")) / 2


def test_changes_of_equal_quality_are_seldom_blocked() -> None:
    """240 changes: at a rate of 5%, more than 22 are blocked with a probability of 0.2%."""
    found = cells(single_answers(), FALLS, ("nDCG@10", "R@50"), is_null=True)
    assert power(found, "nDCG@10", "R@50") <= 22 / 240


def test_a_fall_hits_only_the_queries_that_it_is_given() -> None:
    rankings, random = single_answers().rankings, np.random.default_rng(5)
    draws, nobody = 20, np.zeros((20, 200), dtype=np.bool_)
    for kind in FALLS:
        metric = [Metric.parse("R@50" if kind.is_loss else "RR")]
        values = [
            rankings.values(metric, changed(rankings, kind, is_hit, random), draws).mean()
            for is_hit in (nobody, ~nobody)
        ]
        assert values[0] > values[1] + 0.001, kind.name
    # Without hits, the changes of all kinds are innocent: their means are the same but for chance.
    # 20 x 200 values with a standard deviation of 0.4 or less have a standard error of 0.006.
    innocent = [
        rankings.values([Metric.parse("RR")], changed(rankings, kind, nobody, random), draws).mean()
        for kind in FALLS
    ]
    assert np.ptp(innocent) < 0.03


def test_a_tail_that_is_lost_ends_at_rank_20_and_a_slice_that_collapses_keeps_its_documents() -> (
    None
):
    rankings, random = single_answers().rankings, np.random.default_rng(5)
    everybody = np.ones((10, 200), dtype=np.bool_)
    tail, collapse = (
        next(kind for kind in FALLS if kind.name == name)
        for name in ("tail lost", "a slice collapses")
    )
    cut = changed(rankings, tail, everybody, random).counts
    assert set(cut.ravel().tolist()) == {20.0, 100.0}
    assert (cut == 20).mean() == pytest.approx(tail.size, abs=0.03)  # two standard errors: 0.015
    kept = changed(rankings, collapse, everybody, random)
    assert np.isnan(kept.grades).sum() == np.isnan(rankings.grades).sum() * 10
