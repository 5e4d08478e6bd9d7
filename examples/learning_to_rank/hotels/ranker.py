"""The ranker: LightGBM, trained on ``training/hotels.csv`` on demand."""

from __future__ import annotations

from pathlib import Path

import lightgbm

from pytest_rankcheck import GoldenSet, rankers
from pytest_rankcheck.rankers.adapter_protocol import Adapter

TRAINING = Path(__file__).parent.parent / "training" / "hotels.csv"
TRIPS = ["business", "family", "romance"]
FEATURES = ["price", "rating", "distance", "pool"]


class TripRanker:
    """A ranker with one model for each kind of trip, because tastes differ."""

    def __init__(self, features: list[str], seed: int) -> None:
        self.features = features
        self.seed = seed
        self.feature_names_in_ = ["trip", *features]
        self._models: dict[str, lightgbm.LGBMRanker] = {}

    def fit(self, golden: GoldenSet) -> TripRanker:
        """Train on the candidates and grades of a golden set."""
        for trip in TRIPS:
            part = golden.subset(trip=trip)
            rows = part.candidates
            pairs = zip(rows["query_id"], rows["doc_id"], strict=True)
            grades = [part.grades(query_id)[doc_id] for query_id, doc_id in pairs]
            ranker = lightgbm.LGBMRanker(
                n_estimators=60, num_leaves=15, subsample=0.7, subsample_freq=1,
                random_state=self.seed, deterministic=True, force_row_wise=True, n_jobs=1,
                verbose=-1,
            )  # fmt: skip
            sizes = [len(part.candidates_of(query_id)) for query_id in part.query_ids]
            self._models[trip] = ranker.fit(rows[self.features], grades, group=sizes)
        return self

    def predict(self, table: object) -> list[float]:
        """Return a score for each row of a DataFrame with ``trip`` and the features."""
        scores: dict[int, float] = {}
        for trip, rows in table.groupby("trip"):  # type: ignore[attr-defined]
            predictions = self._models[trip].predict(rows[self.features])
            scores.update(zip(rows.index, predictions.tolist(), strict=True))
        return [scores[row] for row in table.index]  # type: ignore[attr-defined]


def current(replicate: int) -> Adapter:
    """Return the ranker in production, trained with the seed of a replicate."""
    return rankers.model(TripRanker(FEATURES, replicate).fit(GoldenSet.load(TRAINING)))


def without_distance(replicate: int) -> Adapter:
    """Return a ranker that lost a feature, to see a regression blocked."""
    features = [name for name in FEATURES if name != "distance"]
    return rankers.model(TripRanker(features, replicate).fit(GoldenSet.load(TRAINING)))
