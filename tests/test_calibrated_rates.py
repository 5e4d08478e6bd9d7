"""The arithmetic of the calibration: errors of rates, and whether a table keeps a stated rate."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pytest_rankcheck import Metric
from pytest_rankcheck.comparison.paired_values import Paired

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
import rules_of_tools
import special_designs
from rates import Rate, above, sentence


def test_the_error_of_a_rate() -> None:
    assert Rate(200, 4000).error == pytest.approx(0.003446, abs=1e-6)  # sqrt(0.05 0.95 / 4000)
    assert str(Rate(0, 0)) == "refused"


def test_cells_are_tested_together() -> None:
    """P(X >= 8), X binomial (100, 0.05), is 0.128; of 14 it is 0.00046, times 20 cells 0.0092."""
    assert above([Rate(8, 100)], 0.05) == [False]
    assert above([Rate(14, 100), *[Rate(0, 100)] * 19], 0.05) == [True] + [False] * 19
    assert above([Rate(14, 100), *[Rate(0, 100)] * 29], 0.05) == [False] * 30


def test_a_sentence_says_whether_a_rate_holds() -> None:
    cells = {"a": Rate(8, 100), "b": Rate(2, 100), "c": Rate(0, 0)}
    assert sentence("It blocks", cells, 0.05) == (
        "It blocks (5%): holds in all 2 cells; the worst is 8.0% ± 2.7% (a)."
    )
    cells["b"] = Rate(20, 100)
    assert sentence("It blocks", cells, 0.05) == (
        "It blocks (5%): exceeded in 1 of 2 cells, by up to 15.0 points; the worst is 20.0% ± "
        "4.0% (b)."
    )


def pairs(*gains: float) -> Paired:
    ids = tuple(map(str, range(len(gains))))
    before = np.full(len(gains), 0.5)
    return Paired(Metric.parse("nDCG@10"), ids, before, before + np.array(gains))


def test_other_tools_follow_their_documentation() -> None:
    # README of toolkit-rag-quality: 4 of 8 queries lose everything, so p = 0.125, and --alpha passes.
    lost = pairs(*[-0.5] * 4, *[0.0] * 4)
    assert rules_of_tools.toolkit_rag_quality(lost)
    assert not rules_of_tools.toolkit_rag_quality_alpha(lost)
    assert not rules_of_tools.retrieval_eval_gate(lost)
    assert rules_of_tools.toolkit_rag_quality(pairs(-0.0101))
    assert not rules_of_tools.toolkit_rag_quality(pairs(-0.0099))  # 2% of 0.5 is allowed
    # README of rag-ci: one of six questions is lost; the interval spans [-0.5, 0], so it passes.
    assert not rules_of_tools.rag_ci(pairs(-0.5, *[0.0] * 5))
    assert rules_of_tools.rag_ci(pairs(*[-0.5] * 6))
    assert not rules_of_tools.rag_ci(pairs(*[-0.019] * 50))  # significant, but below min-effect
    assert rules_of_tools.retrieval_eval_gate(pairs(*[-0.019] * 50))


def test_two_samples_have_the_stated_fall() -> None:
    """Over 4,000 draws the standard errors are 0.0003 and 0.005."""
    rates = [one.gain for one in special_designs.two_rates(0.02, 4000)]
    assert np.mean(rates) == pytest.approx(-0.02, abs=0.0015)
    deviation = special_designs.deviation_of_durations()
    assert deviation == pytest.approx(2.1612, abs=1e-4)  # sqrt((e - 1) e)
    durations = [one.gain for one in special_designs.two_durations(0.2, 4000)]
    assert np.mean(durations) == pytest.approx(-0.2 * deviation, abs=0.03)


def test_one_query_has_30_percent_of_the_weight() -> None:
    weights = special_designs.one_heavy(np.random.default_rng(1), 50)
    assert weights.sum() == pytest.approx(1)
    assert sorted(weights)[-2:] == pytest.approx([0.7 / 49, 0.3])
