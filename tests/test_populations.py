"""The populations of the calibration: their true mean, and the pairs that they are made of."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pytest_rankcheck import Metric, Run, evaluate
from tests.reference import data

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
import cranfield_bm25
import populations
import real_pairs

SUCCESS = next(family for family in real_pairs.FAMILIES if family.name == "Success@1")


def pair(*gains: float) -> real_pairs.RealPair:
    after = np.array(gains)
    return real_pairs.RealPair(SUCCESS, "made up", np.zeros(len(after)), after)


def test_tilting_gives_the_wanted_mean() -> None:
    """Worked by hand: weights 1/u, 1 and u on -1, 0 and 1 have the mean (u - 1/u)/(u + 1 + 1/u).

    It is -1/2 if 3u^2 + u - 1 = 0, so u = (sqrt(13) - 1)/6 = 0.43426, and the weights are
    2.30278/3.73703 = 0.61620, 1/3.73703 = 0.26759 and 0.43426/3.73703 = 0.11620.
    """
    made = populations.tilted(pair(*[-1, 0, 1] * 60), -0.5, 0.02)
    assert made is not None
    assert made.weights[:3] * 60 == pytest.approx([0.61620, 0.26759, 0.11620], abs=1e-5)
    assert made.mean == pytest.approx(-0.5, abs=1e-12)


def test_a_mean_that_few_queries_carry_is_refused() -> None:
    gains = (*[0.0] * 300, *[-1.0] * 20)
    assert populations.tilted(pair(*gains), 0.0, 0.02) is None  # no query gained
    assert populations.tilted(pair(*gains, 1.0), -0.01, 0.02) is not None
    assert populations.tilted(pair(*gains, 1.0), 0.5, 0.02) is None  # one query would carry it


def test_the_direction_says_where_the_long_tail_is() -> None:
    one = pair(*[-0.1] * 60, *[0.5] * 10, *[0.0] * 30)
    for direction, sign in zip(populations.DIRECTIONS, (-1, 1), strict=True):
        made = populations.tilted(populations.oriented(one, direction), 0.0, 0.02)
        assert made is not None
        assert np.sign(made.skewness) == sign


def test_samples_have_the_population_s_mean_and_keep_its_values() -> None:
    made = populations.tilted(pair(*[-1, 0, 1] * 60), -0.5, 0.02)
    assert made is not None
    drawn = [each.gains for each in made.samples(np.random.default_rng(1), 200, 50)]
    assert np.mean(drawn) == pytest.approx(-0.5, abs=0.03)  # the standard error is 0.0069
    assert set(np.unique(drawn)) == {-1, 0, 1}


def test_the_small_bm25_ranks_as_another_implementation_does() -> None:
    """bm25s ranked with the same k1 and b, but has its own stop words."""
    folder = data("cranfield")
    golden, metric = cranfield_bm25.golden_set(folder), Metric.parse("nDCG@10")
    runs = (
        cranfield_bm25.ranked(folder, cranfield_bm25.Settings()),
        Run.load(folder / "bm25s.run"),
    )
    ours, theirs = (evaluate(run, golden).values(metric) for run in runs)
    assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=0.01)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95


@pytest.mark.slow
@pytest.mark.oracle
def test_the_pairs_cover_every_family(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    kept = tmp_path / "pairs.npz"
    pairs = real_pairs.cached(kept, data(""))
    for family in real_pairs.FAMILIES:
        of_family = [each for each in pairs if each.family is family]
        assert len(of_family) == (2 if family.name == "duration" else 16)
        for direction in populations.DIRECTIONS:
            made, refused = populations.populations(pairs, family.name, direction, 1)
            assert len(made) + refused == len(of_family)
            assert refused <= 2
            assert all(each.mean == pytest.approx(-each.margin) for each in made)
    again = real_pairs.cached(kept, Path("missing"))
    assert [(each.name, *each.gains) for each in again] == [(p.name, *p.gains) for p in pairs]


def test_the_missing_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="RANKCHECK_REFERENCE_DATA"):
        real_pairs.build(tmp_path / "missing")
