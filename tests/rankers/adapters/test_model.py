"""Learning-to-rank models, and the real libraries."""

import json
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, RankerError, Run, evaluate, rank
from pytest_rankcheck.rankers import model
from pytest_rankcheck.rankers.adapters.model_ranker import model_features
from tests import reference

TABLE = (
    "query_id,query,doc_id,relevance,f,g,boost\n"
    "q1,red,a,1,1,5,2\nq1,red,b,0,3,4,2\nq2,blue,a,1,2,1,1\nq2,blue,c,0,1,9,1\n"
)


@pytest.fixture
def golden(tmp_path: Path) -> GoldenSet:
    (tmp_path / "set.csv").write_text(TABLE)
    return GoldenSet.load(tmp_path / "set.csv", attributes=["boost"])


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
    estimator.feature_name_ = ["Column_0", "Column_1"]  # type: ignore[attr-defined]
    rank(model(estimator, ["f", "g"]), golden)
    assert isinstance(estimator.got, np.ndarray)


def test_the_features_of_a_model_are_described(tmp_path: Path) -> None:
    """Over all candidates: f, j and k vary, g is the same, h has one of four, i has none."""
    (tmp_path / "set.csv").write_text(
        "query_id,doc_id,relevance,boost,f,g,h,i,j,k,l\n"
        "q1,a,1,2,1000,5,,,-0.2,9,x\nq1,b,0,2,3000,5,4,,-0.3,-8,y\n"
        "q2,a,1,1,0,5,,,-0.25,2,x\nq2,c,0,1,9000,5,,,0,-4,x\n"
    )
    golden = GoldenSet.load(tmp_path / "set.csv", attributes=["boost"])
    names = ["f", "g", "h", "i", "j", "k", "l", "boost"]
    assert model_features(model(Sum(*[1] * 8), names), golden) == {
        "feature f": "varying (order of 1000)",
        "feature g": "constant",
        "feature h": "constant, 75% missing",
        "feature i": "missing",
        "feature j": "varying (order of -0.1)",
        "feature k": "varying (order of ±1)",
        "feature l": "varying",
        "feature boost": "varying",
    }
    assert [*model_features(model(Sum(1), ["g"]), golden)] == ["feature g"], "only what it uses"
    with pytest.raises(RankerError, match="are not known; remove model:features"):
        model_features(len, golden)


LETOR = "1 qid:1 3:5 1:2 # a\n0 qid:1 1:1 # b\n"


@pytest.fixture
def letor(tmp_path: Path) -> GoldenSet:
    (tmp_path / "letor.txt").write_text(LETOR)
    return GoldenSet.load(tmp_path / "letor.txt", "letor")


def trained(*weights: float, **about: object) -> Any:
    """Return a `Sum` with the attributes of a trained model."""
    estimator = Sum(*weights)
    for name, value in about.items():
        setattr(estimator, name, value)
    return estimator


def test_numbered_features_are_named_in_the_order_of_the_model(letor: GoldenSet) -> None:
    """LightGBM and XGBoost read the file themselves with feature 1 in column 1, not 0."""
    for about in (
        {},
        {"feature_name": lambda: ["Column_0", "Column_1", "Column_2"]},
        {"feature_names_": ["0", "1", "2"]},  # CatBoost, on a matrix
        {"feature_names": ["f0", "f1", "f2"]},
    ):
        estimator = trained(1, 10, 100, **about)
        assert rankings_of(model(estimator, range(1, 4)), letor) == {"1": ["a", "b"]}
        assert isinstance(estimator.got, np.ndarray)
        assert estimator.got.tolist() == [[2, 0, 5], [1, 0, 0]]
        with pytest.raises(
            RankerError, match=r"up to 3, and the model does not .*range\(1, 4\), or"
        ):
            rank(model(estimator), letor)


def test_numbered_features_with_names_from_0_are_asked_about(letor: GoldenSet) -> None:
    for attribute in ("feature_names_in_", "feature_names_"):
        estimator = trained(*range(4), **{attribute: ["0", "1", "2", "3"]})
        with pytest.raises(
            RankerError,
            match=r"give them in its order, such as features=range\(1, 4\), or features=range\(4\) if",
        ):
            rank(model(estimator), letor)
        rank(model(estimator, range(4)), letor)
        assert np.asarray(estimator.got).tolist() == [[0, 2, 0, 5], [0, 1, 0, 0]]


def test_a_model_with_names_gets_exactly_these_or_an_error(letor: GoldenSet) -> None:
    estimator = trained(1, 10, feature_names_in_=["tf", "idf"])
    with pytest.raises(RankerError, match=r"no column tf, idf; they have 1, 3\. If the model's"):
        rank(model(estimator), letor)
    rank(model(estimator, [3, 1]), letor)
    assert estimator.got.to_dict("list") == {"tf": [5, 0], "idf": [2, 1]}
    with pytest.raises(RankerError, match=r"features=1 does not match the names .* tf, idf"):
        rank(model(estimator, ["1"]), letor)
    from_one = trained(1, 10, feature_names_in_=["2", "1"])
    rank(model(from_one), letor)
    assert from_one.got.to_dict("list") == {"2": [0, 0], "1": [2, 1]}
    for names in (["f1", "f3"], ["feature_1", "feature_3"]):
        with pytest.raises(RankerError, match=f"no column {names[0]}, {names[1]}"):
            rank(model(trained(1, 1, feature_names_in_=names)), letor)


def test_numbered_columns_of_a_table_are_a_matrix_only_in_order() -> None:
    rows = [("q", "a", 1, 5, 7, 2), ("q", "b", 0, 3, 8, 1)]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "1", "10", "2"])
    golden, estimator = GoldenSet.from_frame(frame), trained(1, 0, 0)
    with pytest.raises(RankerError, match="features 1, 10, 2 are numbers, but not in their order"):
        rank(model(estimator), golden)
    rank(model(estimator, [1, 2, 10]), golden)
    assert estimator.got.tolist() == [[5, 2, 7], [3, 1, 8]]


def test_booleans_and_names_with_spaces_are_features(tmp_path: Path) -> None:
    table = "query_id,doc_id,relevance,in stock,price,x\nq,a,1,True,5,\nq,b,0,False,6,true\n"
    (tmp_path / "set.csv").write_text(table)
    golden = GoldenSet.load(tmp_path / "set.csv")
    estimator = Sum(1, 1, 0)
    with pytest.raises(RankerError, match="the score of document 'a' is nan"):
        rank(model(estimator), golden)
    assert estimator.got.dtype == float
    assert np.array_equal(estimator.got, [[1, 5, np.nan], [0, 6, 1]], equal_nan=True)
    spaced = trained(1, 1, feature_name_=["price", "in_stock"])  # as LightGBM renames them
    rank(model(spaced, ["price", "in stock"]), golden)
    assert spaced.got.to_dict("list") == {"price": [5, 6], "in_stock": [1, 0]}
    frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0]})
    frame["sale"], frame["price"] = [True, False], [2, 3]
    estimator = Sum(1, 1)
    rank(model(estimator), GoldenSet.from_frame(frame))
    assert estimator.got.tolist() == [[1, 2], [0, 3]]


@pytest.mark.oracle
def test_lightgbm_gets_the_categories_that_it_was_trained_with() -> None:
    import lightgbm

    frame = pd.DataFrame({"query_id": [f"q{i // 4}" for i in range(80)]})
    frame["doc_id"] = [f"d{i}" for i in range(80)]
    frame["relevance"] = [int(i % 4 == 1) for i in range(80)]
    frame["brand"], frame["price"] = [f"b{i % 4}" for i in range(80)], range(80)
    features = frame[["brand", "price"]].astype({"brand": "category"})
    ranker = lightgbm.LGBMRegressor(verbose=-1, min_child_samples=2, n_jobs=1)
    ranker.fit(features, frame["relevance"])
    golden = GoldenSet.from_frame(frame[frame["brand"] != "b0"])  # other codes than in training
    for estimator in (ranker, ranker.booster_):
        scores = rank(model(estimator), golden).scores("q1")
        direct = ranker.predict(features)[5:8]
        assert sorted(scores) == pytest.approx(sorted(direct))


class Wrong:
    def __init__(self, answer: object) -> None:
        self.answer = answer

    def predict(self, table: object) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_wrong_prediction_is_refused(golden: GoldenSet) -> None:
    for answer, message in (
        ([1.0] * 3, r"Wrong.predict returned numbers of the shape 3, not one for each of 4"),
        (np.ones((4, 3)), "shape 4 x 3, not one for each of 4"),
        ([1.0, float("nan"), 1.0, 1.0], "first on 'q1' .*the score of document 'b' is nan"),
    ):
        with pytest.raises(RankerError, match=message):
            rank(model(Wrong(answer)), golden)


def test_invalid_models_and_features_are_refused(golden: GoldenSet) -> None:
    with pytest.raises(RankerError, match="model: object has no predict"):
        model(object())
    with pytest.raises(RankerError, match="no column ff; did you mean 'f'"):
        rank(model(Sum(1), ["ff"]), golden)
    bare = GoldenSet.from_dict({"q": {"d": 1}}, {"q": "x"})
    with pytest.raises(RankerError, match="the golden set has no candidates with features"):
        rank(model(Sum(1)), bare)


# --- the real libraries ------------------------------------------------------------------------

FEATURES = [str(number) for number in range(1, 301)]


def training() -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return features, grades and sizes of the reference collection's training file."""
    from sklearn import datasets

    path = reference.data("lightgbm-lambdarank/rank.train")
    features, grades = datasets.load_svmlight_file(str(path), n_features=300)
    sizes = [int(line) for line in path.with_name("rank.train.query").read_text().split()]
    return features.toarray(), grades, sizes


@pytest.mark.oracle
def test_lightgbm_reaches_the_ndcg_that_it_reports() -> None:
    """The model is trained like its authors' example; the values are from its own evaluation."""
    import lightgbm

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
    """Return a model of each installed library, beside the one above."""
    from sklearn.ensemble import GradientBoostingRegressor

    features, grades, sizes = training()
    query_ids = np.repeat(np.arange(len(sizes)), sizes)
    frame = pd.DataFrame(features, columns=FEATURES)
    found: list[Any] = [GradientBoostingRegressor(n_estimators=10, random_state=0)]
    found[0].fit(frame, grades)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if find_spec("xgboost"):
            from xgboost import XGBRanker

            ranker = XGBRanker(n_estimators=10, random_state=0)
            found.append(ranker.fit(features, grades, qid=query_ids))
        if find_spec("catboost"):
            from catboost import CatBoostRanker

            ranker = CatBoostRanker(10, verbose=False, random_seed=0, allow_writing_files=False)
            found.append(ranker.fit(features, grades, group_id=query_ids))
    return found


@pytest.mark.oracle
def test_every_library_ranks_better_than_chance() -> None:
    golden = GoldenSet.load(reference.data("lightgbm-lambdarank/rank.test"))
    as_given = {query_id: golden.candidates_of(query_id) for query_id in golden.query_ids}
    chance = evaluate(Run.from_dict(as_given), golden).mean("nDCG@10")
    frame = golden.candidates.reindex(columns=FEATURES, fill_value=0.0)
    for estimator in estimators():
        by_number = None if hasattr(estimator, "feature_names_in_") else FEATURES
        run = rank(model(estimator, by_number), golden)
        assert evaluate(run, golden).mean("nDCG@10") > chance + 0.03, type(estimator)
        table = frame if hasattr(estimator, "feature_names_in_") else frame.to_numpy()
        direct = np.asarray(estimator.predict(table)).reshape(-1)
        start = 0
        for query_id in golden.query_ids:
            docs = golden.candidates_of(query_id)
            scores = dict(zip(docs, direct[start : start + len(docs)].tolist(), strict=True))
            assert list(run[query_id]) == sorted(docs, key=lambda d: (scores[d], d), reverse=True)
            start += len(docs)
