"""How often a change that loses nothing is inconclusive, against deciding on such changes."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    Gate,
    GoldenSet,
    Metric,
    MetricWarning,
    Run,
    evaluate,
    plan,
)
from pytest_rankcheck.comparison.inconclusive_odds import any_inconclusive, shares_inconclusive
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.gates.set_decisions import FamilySet, decide_sets
from pytest_rankcheck.gates.verdict import Outcome

RR = Metric.parse("RR")


def changed(draw: np.random.Generator, count: int) -> Paired:
    """Return values of which 30% change, without a fall on average."""
    gains = np.where(draw.random(count) < 0.3, draw.normal(0, 0.2, count), 0.0).round(6)
    return Paired(RR, tuple(map(str, range(count))), np.full(count, 0.5), 0.5 + gains)


@pytest.mark.parametrize(
    ("sizes", "margin"), [((40,) * 5, 0.05), ((40,) * 5, 0.02), ((150, 60, 30), 0.05)]
)
def test_the_odds_are_those_of_decisions(sizes: tuple[int, ...], margin: float) -> None:
    draw = np.random.default_rng(11)
    rule = Gate.noninferior(margin=margin).rule
    inconclusive, estimates, draws = np.zeros(len(sizes)), [], 250
    any_of = 0
    for _ in range(draws):
        slices = [changed(draw, size) for size in sizes]
        whole = Paired(
            RR,
            tuple(map(str, range(sum(sizes)))),
            np.concatenate([part.before for part in slices]),
            np.concatenate([part.after for part in slices]),
        )
        sets = [FamilySet(rule, whole)]
        sets += [FamilySet(rule, part, "slice", str(n)) for n, part in enumerate(slices)]
        decisions, _ = decide_sets(sets)
        flags = [each.outcome is Outcome.INCONCLUSIVE for each in decisions[1:]]
        inconclusive += flags
        any_of += any(flags)
        estimates.append(shares_inconclusive(slices, margin, 0.05))
    means = np.mean(estimates, axis=0)
    # An estimate knows the spread of one draw only, and Holm's steps only on average.
    assert means == pytest.approx(inconclusive / draws, abs=0.1)
    shares = np.mean([any_inconclusive(row) for row in estimates])
    assert shares == pytest.approx(any_of / draws, abs=0.12)


def test_the_odds_by_hand() -> None:
    """Ten gains of +-0.1: s = 0.1 sqrt(10 / 9), the error is 0.1 / 3, t(9) at 95% is 1.8331."""
    gains = np.tile([0.1, -0.1], 5)
    pairs = Paired(RR, tuple("abcdefghij"), np.full(10, 0.5), 0.5 + gains)
    half = pairs.differences.mean - pairs.differences.lower_bound(0.05)
    assert half >= 1.8331 * 0.1 / 3 - 1e-4
    # A margin of half the width of the bound is ruled out in one of two cases.
    # With one slice the level is 5% / (1 + share), so that the share is a fixed point.
    (share,) = shares_inconclusive([pairs], half, 0.05)
    wider = pairs.differences.mean - pairs.differences.lower_bound(0.05 / (1 + share))
    assert share == pytest.approx(NormalDist().cdf((wider - half) / (0.1 / 3)), abs=1e-6)
    assert 0.5 < share < 0.9
    assert shares_inconclusive([pairs], half + 1, 0.05) == [pytest.approx(0, abs=1e-9)]
    assert shares_inconclusive([pairs] * 9, half, 0.05)[0] > share


def test_what_does_not_vary_has_no_odds() -> None:
    same = Paired(RR, ("a", "b"), np.ones(2), np.ones(2))
    assert math.isnan(shares_inconclusive([same], 0.02, 0.05)[0])
    assert any_inconclusive([math.nan, 0.5, 0.5]) == 0.75
    assert any_inconclusive([]) == 0


# --- plan(by=) -----------------------------------------------------------------------------------

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {"x": 1} for n in range(400)},
    attributes={f"q{n}": {"locale": "de" if n < 12 else "en"} for n in range(400)},
)


def ranked(second: range) -> Evaluation:
    rankings = {
        q: ["n", "x"] if n in second else ["x", "n"] for n, q in enumerate(GOLDEN.query_ids)
    }
    return evaluate(Run.from_dict(rankings), GOLDEN)


def test_a_plan_warns_of_slices_that_are_too_small_for_the_margin() -> None:
    now, before = ranked(range(3, 13)), ranked(range(10))
    with pytest.warns(MetricWarning, match=r"noninferior\(margin=0.02\) by 'locale'.*locale=de\b"):
        table = plan(now, "RR", [0.02, 0.9], before, by="locale")
    odds = table.attrs["inconclusive"]
    assert odds[0.02]["de"] > 0.8
    assert odds[0.02]["en"] < 0.2
    assert max(odds[0.9].values()) < 0.01
    with pytest.raises(ConfigurationError, match="by=locale needs other="):
        plan(now, "RR", 0.02, by="locale")
