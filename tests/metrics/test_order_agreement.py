"""The agreement of two orders: against scipy, and against loops over all pairs of documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from worked import UNJUDGED, value

from tests.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

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
