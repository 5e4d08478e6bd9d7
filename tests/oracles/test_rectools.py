"""Metrics of what is shown, of 2,000 random users, against RecTools and scipy."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

from pytest_rankcheck import Evaluation, GoldenSet, Run, evaluate

pytestmark = pytest.mark.oracle
NEEDS_RECTOOLS = pytest.mark.needs("rectools")

CUTOFFS = (1, 3, 10)
_DRAW = random.Random(33)
ITEMS = [f"i{number}" for number in range(300)]
INTERACTED = ITEMS[:250]
"""The other items are new: nobody has interacted with them."""

RANKINGS = {f"u{user}": _DRAW.sample(ITEMS, user % 11) for user in range(2000)}
INTERACTIONS = pd.DataFrame(
    # The first items are the popular ones; users beyond the 2,000 get no recommendations.
    [
        (f"u{_DRAW.randrange(2400)}", INTERACTED[int(250 * _DRAW.random() ** 3)])
        for _ in range(9000)
    ],
    columns=["user_id", "item_id"],
)
ONCE = INTERACTIONS.drop_duplicates()
BRANDS = {item: None if number % 9 == 4 else number % 7 for number, item in enumerate(ITEMS)}
VECTORS = {item: np.random.default_rng(number).normal(size=8) for number, item in enumerate(ITEMS)}
RECO = pd.DataFrame(
    [(user, item, rank) for user, top in RANKINGS.items() for rank, item in enumerate(top, 1)],
    columns=["user_id", "item_id", "rank"],
)


def ours(
    interactions: pd.DataFrame = INTERACTIONS, catalogue: Mapping[str, int | None] = BRANDS
) -> Evaluation:
    """Return the evaluation of the rankings, with what is known of users and items."""
    frame = pd.DataFrame({"doc_id": [*catalogue], "brand": [*catalogue.values()]}, dtype=object)
    golden = GoldenSet.from_dict(
        {user: {} for user in RANKINGS},
        documents=frame.assign(vector=[VECTORS[item] for item in catalogue]),
        interactions=interactions,
    )
    return evaluate(Run.from_dict(RANKINGS), golden)


def assert_equal(found: pd.Series, theirs: pd.Series, empty: float) -> None:
    """Compare values by user; RecTools has none for a user without recommendations."""
    assert set(theirs.index) == {user for user, top in RANKINGS.items() if top}
    wanted = [theirs.get(user, empty) for user in RANKINGS]
    assert found.tolist() == pytest.approx(wanted, abs=1e-9, nan_ok=True)


@NEEDS_RECTOOLS
@pytest.mark.parametrize("k", CUTOFFS)
def test_novelty_is_mean_inverse_user_frequency(k: int) -> None:
    from rectools.metrics import MeanInvUserFreq

    theirs = MeanInvUserFreq(k=k).calc_per_user(RECO, INTERACTIONS)
    assert_equal(ours().per_query(f"Novelty@{k}"), theirs, np.nan)


@NEEDS_RECTOOLS
@pytest.mark.parametrize("k", CUTOFFS)
def test_popularity_is_that_of_rectools_where_each_pair_is_once(k: int) -> None:
    """RecTools counts interactions, and so a user as often as they come back."""
    from rectools.metrics import AvgRecPopularity

    metric = AvgRecPopularity(k=k)
    assert len(ONCE) < len(INTERACTIONS)
    theirs = metric.calc_per_user(RECO, ONCE)
    found = ours().per_query(f"AvgPopularity@{k}")
    assert_equal(found, theirs, np.nan)
    assert_equal(ours(ONCE).per_query(f"AvgPopularity@{k}"), theirs, np.nan)

    returned = set(INTERACTIONS[INTERACTIONS.duplicated()]["item_id"])
    shown = {user for user, top in RANKINGS.items() if not returned.isdisjoint(top[:k])}
    more = metric.calc_per_user(RECO, INTERACTIONS) - theirs
    assert shown
    assert set(more[more > 1e-9].index) == shown
    assert more.min() == 0


@NEEDS_RECTOOLS
@pytest.mark.parametrize("k", CUTOFFS)
def test_coverage_is_that_of_rectools_where_the_catalogue_has_all_items(k: int) -> None:
    """RecTools counts recommended items that are not in the catalogue, and can exceed 1."""
    from rectools.metrics import CatalogCoverage

    metric = CatalogCoverage(k=k, normalize=True)
    assert ours().mean(f"CatalogCoverage@{k}") == pytest.approx(metric.calc(RECO, ITEMS), abs=1e-9)

    catalogue = ITEMS[:100]
    found = ours(catalogue={item: BRANDS[item] for item in catalogue})
    known = RECO[RECO["item_id"].isin(catalogue)]
    wanted = metric.calc(known, catalogue)
    assert found.mean(f"CatalogCoverage@{k}") == pytest.approx(wanted, abs=1e-9)
    assert metric.calc(RECO, catalogue) > 1 >= wanted


@NEEDS_RECTOOLS
@pytest.mark.filterwarnings("ignore:Some items has absent feature values")
@pytest.mark.parametrize("k", CUTOFFS)
def test_diversity_of_brands_is_that_of_the_hamming_distance(k: int) -> None:
    """Where no pair has two known brands, RecTools has no value, and we have 0."""
    from rectools.metrics import IntraListDiversity, PairwiseHammingDistanceCalculator

    brands: Any = pd.DataFrame({"brand": pd.Series(BRANDS, dtype=float)})
    metric = IntraListDiversity(k=k, distance_calculator=PairwiseHammingDistanceCalculator(brands))
    theirs = metric.calc_per_user(RECO)
    unknown = {
        user
        for user, top in RANKINGS.items()
        if len(top[:k]) > 1 and sum(BRANDS[item] is not None for item in top[:k]) < 2
    }
    assert set(theirs[theirs.isna()].index) == unknown
    assert unknown or k == 1
    assert_equal(ours().per_query(f"ILD(by=brand)@{k}"), theirs.fillna(0), 0)


@pytest.mark.parametrize("k", CUTOFFS)
def test_diversity_of_vectors_is_that_of_the_cosine_distance(k: int) -> None:
    wanted = [
        pdist([VECTORS[item] for item in top[:k]], "cosine").mean() if len(top[:k]) > 1 else 0.0
        for top in RANKINGS.values()
    ]
    found = ours().per_query(f"ILD(by=vector)@{k}")
    assert found.tolist() == pytest.approx(wanted, abs=1e-9)
