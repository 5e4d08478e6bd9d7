"""The agreement of two orders: by hand, against scipy, and against loops over all pairs."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from worked import UNJUDGED, evaluation_of, value

from tests.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

LAW_VARIANTS = [
    "KendallTau(ties=a)",
    "KendallTau(ties=c)@5",
    "KendallDistance(normalised=pairs)",
    "KendallDistance(normalised=graded)@3",
    "TauAP(ties=b)",
    "TauAP(ties=b)@6",
]

# Pairs of 3, 1, 2, 0: in order 31, 32, 30, 10, 20; against it 12.
UNTIED = (3, 1, 2, 0)
# Pairs of 2, 1, 2, unjudged: in order 21, 2u, 1u, 2u; against 12; tied 22.
TIED = (2, 1, 2, UNJUDGED)


def test_agreement_of_the_ranking_with_the_grades() -> None:
    for metric, ranked, expected in (
        ("KendallTau", UNTIED, 4 / 6),
        ("KendallTau(ties=a)", UNTIED, 4 / 6),
        ("KendallTau(ties=a)", TIED, 3 / 6),
        # 3 / sqrt(6 * 5)
        ("KendallTau", TIED, 3 / math.sqrt(30)),
        # n = 4, three distinct grades: 2 * 3 / (16 * 2/3)
        ("KendallTau(ties=c)", TIED, 0.5625),
        # 2, 1, 2: one pair in order, one against, one tied
        ("KendallTau(judged_only=true)", TIED, 0),
        # 3, 1, 2
        ("KendallTau@3", UNTIED, 1 / 3),
        ("KendallDistance", UNTIED, 1),
        ("KendallDistance(normalised=pairs)", UNTIED, 1 / 6),
        ("KendallDistance(normalised=graded)", TIED, 1 / 5),
        # ranks by grade 1, 3, 2, 4; 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15)
        ("Spearman", UNTIED, 0.8),
        # ranks by grade 1.5, 3, 1.5, 4; deviations -1, 0.5, -1, 1.5 and -1.5, -0.5, 0.5, 1.5:
        # 3 / sqrt(4.5 * 5)
        ("Spearman", TIED, 3 / math.sqrt(22.5)),
        # second: 1; third: one higher and one lower above, 0; fourth: 3/3
        ("TauAP", UNTIED, 2 / 3),
        # second: 1; third: one tied, one lower, -1/2; fourth: 1
        ("TauAP", TIED, 1.5 / 3),
        # by the ranking: 2 (1 + 0 + 1)/3 - 1 = 1/3; by the grades: of the two higher than 1 one is
        # above it, all three are above the unjudged: 2 (1/2 + 1)/2 - 1 = 1/2
        ("TauAP(ties=b)", TIED, (1 / 3 + 1 / 2) / 2),
    ):
        assert value(metric, ranked) == pytest.approx(expected, abs=1e-12), metric


def test_an_undefined_agreement_is_zero() -> None:
    for metric in ("KendallTau", "KendallTau(ties=c)", "Spearman", "TauAP"):
        for ranked in ((3,), (2, 2, 2), (UNJUDGED, 0), (-1, 0)):
            assert evaluation_of(ranked, (1,)).per_query(metric)["q"] == 0, (metric, ranked)


# The data and values of the R package ircor (tests/testthat), by the authors of the paper.
IRCOR = [
    (
        (0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992),
        (0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988),
        (0.8519, 0.8333),
    ),
    (
        (0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445),
        (0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25),
        (-0.6971, -0.668),
    ),
]


@pytest.mark.parametrize(("true", "estimated", "expected"), IRCOR)
def test_tau_ap_is_that_of_its_authors(
    true: tuple[float, ...], estimated: tuple[float, ...], expected: tuple[float, float]
) -> None:
    order = sorted(range(len(true)), key=lambda i: -estimated[i])
    ranked = tuple(true[i] for i in order)
    assert value("TauAP", ranked) == pytest.approx(expected[0], abs=6e-5)
    assert value("TauAP(ties=b)", ranked) == pytest.approx(expected[1], abs=6e-5)


# --- other implementations --------------------------------------------------------------------

ranked_of = st.lists(st.one_of(st.none(), st.integers(-1, 4)), min_size=2, max_size=40)


@examples(200)
@given(ranked=ranked_of, cutoff=st.integers(2, 45))
def test_scipy_agrees_on_the_agreement_of_two_orders(ranked: list[int | None], cutoff: int) -> None:
    top = [max(grade or 0, 0) for grade in ranked[:cutoff]]
    places = -np.arange(len(top))
    assume(len(set(top)) > 1)
    expected = {
        f"KendallTau@{cutoff}": kendalltau(places, top, variant="b").statistic,
        f"KendallTau(ties=c)@{cutoff}": kendalltau(places, top, variant="c").statistic,
        f"Spearman@{cutoff}": spearmanr(places, top).statistic,
    }
    for metric, theirs in expected.items():
        assert value(metric, tuple(ranked), (1,)) == pytest.approx(theirs, abs=1e-9), metric


@examples(100)
@given(ranked=ranked_of, judged_only=st.booleans())
def test_agreement_and_gap_from_their_definitions_document_by_document(
    ranked: list[int | None], judged_only: bool
) -> None:
    """The closed forms over judged hits against loops over all documents of the ranking."""
    kept = [g for g in ranked if g is not UNJUDGED and g >= 0] if judged_only else ranked
    top = [max(grade or 0, 0) for grade in kept]
    n = len(top)
    brackets = "(judged_only=true)" if judged_only else ""
    signs = [[np.sign(top[j] - top[i]) for j in range(i)] for i in range(n)]
    if n > 1:
        tau_ap = sum(sum(row) / len(row) for row in signs[1:]) / (n - 1)
        assert value(f"TauAP{brackets}", tuple(ranked), (1,)) == pytest.approx(tau_ap, abs=1e-9)
    discordant = sum(sign < 0 for row in signs for sign in row)
    assert value(f"KendallDistance{brackets}", tuple(ranked), (1,)) == discordant
    gap = sum(
        sum(min(top[j], top[i]) for j in range(i + 1)) / (i + 1) for i in range(n) if top[i] > 0
    )
    possible = sum(max(grade or 0, 0) for grade in ranked) + 1
    found = value(f"GAP{brackets}", tuple(ranked), (1,))
    assert found == pytest.approx(gap / possible, abs=1e-9)
