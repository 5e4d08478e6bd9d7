"""Learning-to-rank models, and the real libraries."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, RankerError, Run, evaluate, rank
from pytest_rankcheck.rankers import model
from tests import reference

TABLE = (
    "query_id,query,doc_id,relevance,f,g,boost\n"
    "q1,red,a,1,1,5,2\nq1,red,b,0,3,4,2\nq2,blue,a,1,2,1,1\nq2,blue,c,0,1,9,1\n"
)


@pytest.fixture
def golden(tmp_path: Path) -> GoldenSet:
    (tmp_path / "set.csv").write_text(TABLE)
    return GoldenSet.load(tmp_path / "set.csv")


class Sum:
    """Predicts the weighted sum of its input, and keeps the input."""

    def __init__(self, *weights: float) -> None:
        self.weights = weights
        self.got: Any = None

    def predict(self, table: Any) -> Any:
        self.got = table
        return np.asarray(table, dtype=float) @ np.array(self.weights)


def rankings_of(ranker: object, golden: GoldenSet) -> dict[str, list[str]]:
    run = rank(ranker, golden)
    return {query_id: list(run[query_id]) for query_id in run}


def test_candidates_are_ranked_by_the_prediction(golden: GoldenSet) -> None:
    by_f, by_g = {"q1": ["b", "a"], "q2": ["a", "c"]}, {"q1": ["a", "b"], "q2": ["c", "a"]}
    assert rankings_of(model(Sum(1), ["f"]), golden) == by_f
    assert rankings_of(model(Sum(1), ["g"]), golden) == by_g
    assert rankings_of(model(Sum(1, 0)), golden) == by_f  # all columns: f, g
    assert rankings_of(model(Sum(1, 0), size=1), golden) == by_f


def test_attributes_of_queries_can_be_features(golden: GoldenSet) -> None:
    estimator = Sum(1, 10)
    rank(model(estimator, ["f", "boost"]), golden)
    assert np.asarray(estimator.got, dtype=float).tolist() == [[1, 2], [3, 2], [2, 1], [1, 1]]


def test_a_model_with_feature_names_gets_a_frame(golden: GoldenSet) -> None:
    estimator = Sum(1, 0)
    estimator.feature_names_in_ = np.array(["g", "f"])  # type: ignore[attr-defined]
    assert rankings_of(model(estimator), golden)["q1"] == ["a", "b"]
    assert isinstance(estimator.got, pd.DataFrame)
    assert list(estimator.got.columns) == ["g", "f"]
    estimator.feature_names_in_ = np.array(["Column_0", "Column_1"])  # type: ignore[attr-defined]
    rank(model(estimator, ["f", "g"]), golden)
    assert isinstance(estimator.got, np.ndarray)


class Wrong:
    def __init__(self, answer: object) -> None:
        self.answer = answer

    def predict(self, table: object) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0] * 3, r"Wrong.predict returned numbers of the shape 3, not one for each of 4"),
        (np.ones((4, 3)), "shape 4 x 3, not one for each of 4"),
        (["x"] * 4, "returned list, not numbers"),
        ([1.0, float("nan"), 1.0, 1.0], "first on 'q1' .*the score of document 'b' is nan"),
        (ValueError("14 features, not 2"), "ValueError: 14 features, not 2"),
    ],
)
def test_a_wrong_prediction_is_refused(golden: GoldenSet, answer: object, message: str) -> None:
    with pytest.raises(RankerError, match=message):
        rank(model(Wrong(answer)), golden)


def test_invalid_models_and_features_are_refused(golden: GoldenSet) -> None:
    with pytest.raises(RankerError, match="model: object has no predict"):
        model(object())
    with pytest.raises(RankerError, match="no column 'ff'; did you mean 'f'"):
        rank(model(Sum(1), ["ff"]), golden)
    bare = GoldenSet.from_dict({"q": {"d": 1}}, {"q": "x"})
    with pytest.raises(RankerError, match="the golden set has no candidates with features"):
        rank(model(Sum(1)), bare)


# --- the real libraries ------------------------------------------------------------------------

FEATURES = [str(number) for number in range(1, 301)]


def training() -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return features, grades and sizes of the reference collection's training file."""
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    path = reference.data("lightgbm-lambdarank/rank.train")
    features, grades = datasets.load_svmlight_file(str(path), n_features=300)
    sizes = [int(line) for line in path.with_name("rank.train.query").read_text().split()]
    return features.toarray(), grades, sizes


@pytest.mark.oracle
def test_lightgbm_reaches_the_ndcg_that_it_reports() -> None:
    """The model is trained like its authors' example; the values are from its own evaluation."""
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    features, grades, sizes = training()
    ranker = lightgbm.LGBMRanker(
        n_estimators=20, random_state=0, deterministic=True, force_row_wise=True, verbose=-1
    )
    ranker.fit(features, grades, group=sizes)
    golden = GoldenSet.load(reference.data("lightgbm-lambdarank/rank.test"))
    run = rank(model(ranker, FEATURES), golden, ties="input")  # as LightGBM breaks ties
    values = evaluate(run, golden).table([f"nDCG(gain=exponential)@{k}" for k in (1, 3, 5, 10)])
    said = json.loads(reference.data("lightgbm-lambdarank/rank.test.lgbm.eval.json").read_text())
    if said["lightgbm"] != lightgbm.__version__:
        pytest.skip(f"the reference is of LightGBM {said['lightgbm']}")
    for k in (1, 3, 5, 10):
        ours = values[f"nDCG(gain=exponential)@{k}"].mean()
        assert ours == pytest.approx(said["metrics"][f"ndcg@{k}"], abs=1e-9)
    theirs = Run.load(reference.data("lightgbm-lambdarank/rank.test.lgbm.run"))
    for place, query_id in enumerate(golden.query_ids, start=1):
        first = int(golden.candidates_of(query_id)[0])
        ours = [f"q{place}d{int(doc) - first:03}" for doc in run[query_id]]
        assert set(ours) == set(theirs[f"q{place}"])


def estimators() -> list[Any]:
    """Return a model of each installed library."""
    features, grades, sizes = training()
    query_ids = np.repeat(np.arange(len(sizes)), sizes)
    found: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import xgboost

            found.append(
                xgboost.XGBRanker(n_estimators=10, random_state=0).fit(
                    features, grades, qid=query_ids
                )
            )
        except ImportError:
            pass
        try:
            import catboost

            ranker = catboost.CatBoostRanker(
                iterations=10, verbose=False, random_seed=0, allow_writing_files=False
            )
            found.append(ranker.fit(features, grades, group_id=query_ids))
        except ImportError:
            pass
        try:
            import lightgbm

            data = lightgbm.Dataset(features, grades, group=sizes)
            options = {"objective": "lambdarank", "verbose": -1, "num_threads": 1}
            found.append(lightgbm.train(options, data, 10))
        except ImportError:
            pass
        from sklearn.ensemble import GradientBoostingRegressor

        frame = pd.DataFrame(features, columns=FEATURES)
        found.append(GradientBoostingRegressor(n_estimators=10, random_state=0).fit(frame, grades))
    return found


@pytest.mark.oracle
def test_every_library_ranks_better_than_chance() -> None:
    golden = GoldenSet.load(reference.data("lightgbm-lambdarank/rank.test"))
    as_given = {query_id: golden.candidates_of(query_id) for query_id in golden.query_ids}
    chance = evaluate(Run.from_dict(as_given), golden).mean("nDCG@10")
    frame = golden.candidates.reindex(columns=FEATURES, fill_value=0.0)
    for estimator in estimators():
        run = rank(model(estimator, FEATURES), golden)
        assert evaluate(run, golden).mean("nDCG@10") > chance + 0.03, type(estimator)
        table = frame if hasattr(estimator, "feature_names_in_") else frame.to_numpy()
        direct = np.asarray(estimator.predict(table)).reshape(-1)
        start = 0
        for query_id in golden.query_ids:
            docs = golden.candidates_of(query_id)
            scores = dict(zip(docs, direct[start : start + len(docs)].tolist(), strict=True))
            assert list(run[query_id]) == sorted(docs, key=lambda d: (scores[d], d), reverse=True)
            start += len(docs)
