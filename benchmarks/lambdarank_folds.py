"""LightGBM's LambdaRank on its example data, so that every query is ranked by a model.

The queries of ``rank.train`` and ``rank.test`` are split in two halves; a model that is trained on
one half ranks the other.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pytest_rankcheck import GoldenSet, Run

USUAL: dict[str, Any] = {
    "objective": "lambdarank",
    "num_leaves": 31,
    "learning_rate": 0.1,
    "min_data_in_leaf": 50,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.9,
    "bagging_freq": 1,
    "seed": 1,
    "deterministic": True,
    "num_threads": 1,
    "verbosity": -1,
}


def golden_set(folder: Path) -> GoldenSet:
    """Return the judgments of all queries of both files."""
    _, grades, groups = _data(folder)
    judged = {}
    for query, of_query in enumerate(np.split(grades, np.cumsum(groups)[:-1])):
        judged[str(query)] = {str(doc): int(grade) for doc, grade in enumerate(of_query)}
    return GoldenSet.from_dict(judged)


def ranked(folder: Path, rounds: int = 50, **parameters: Any) -> Run:
    """Rank the documents of every query by a model trained on the queries of the other half."""
    import lightgbm

    features, grades, groups = _data(folder)
    half = np.arange(len(groups)) % 2
    half_of_row = np.repeat(half, groups)
    scores = np.zeros(len(grades))
    for part in (0, 1):
        rows = half_of_row == part
        data = lightgbm.Dataset(features[~rows], grades[~rows], group=groups[half != part])
        model = lightgbm.train({**USUAL, **parameters}, data, num_boost_round=rounds)
        scores[rows] = model.predict(features[rows])
    split = np.split(scores, np.cumsum(groups)[:-1])
    return Run.from_dict(
        {
            str(query): {str(doc): float(score) for doc, score in enumerate(of_query)}
            for query, of_query in enumerate(split)
        }
    )


@cache
def _data(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features, the grades, and the number of documents of each query."""
    from sklearn.datasets import load_svmlight_files

    names = ("rank.train", "rank.test")
    loaded = load_svmlight_files([folder / name for name in names], zero_based=True)
    sizes = [np.loadtxt(folder / f"{name}.query", dtype=int) for name in names]
    features = np.vstack([loaded[0].toarray(), loaded[2].toarray()])
    return features, np.concatenate([loaded[1], loaded[3]]), np.concatenate(sizes)
