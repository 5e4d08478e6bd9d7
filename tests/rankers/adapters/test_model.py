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


@pytest.mark.parametrize("pattern", ["x{}", "f{}", "Column_{}", "{}", "feature_{}"])
def test_scikit_learn_has_only_names_that_the_user_gave(golden: GoldenSet, pattern: str) -> None:
    """A model that was trained on a DataFrame with the columns x0 and x1 needs these."""
    names = [pattern.format(place) for place in range(2)]
    with pytest.raises(
        RankerError, match=rf"no column {names[0]}, {names[1]}.*features=\[\.\.\.\]"
    ):
        rank(model(trained(1, 1, feature_names_in_=names)), golden)
    estimator = trained(1, 0, feature_names_in_=names)
    rank(model(estimator, ["g", "f"]), golden)
    assert estimator.got.to_dict("list") == {names[0]: [5, 4, 1, 9], names[1]: [1, 3, 2, 1]}


@pytest.mark.parametrize(
    ("attribute", "pattern", "is_made_up"),
    [
        ("feature_name_", "Column_{}", True),
        ("feature_names_", "{}", True),
        ("feature_names", "f{}", True),
        ("feature_names", "x{}", False),
        ("feature_name_", "f{}", False),
        ("feature_names_", "Column_{}", False),
    ],
)
def test_names_are_made_up_only_where_a_library_makes_them_up(
    golden: GoldenSet, attribute: str, pattern: str, is_made_up: bool
) -> None:
    names = [pattern.format(place) for place in range(2)]
    estimator = trained(1, 1, **{attribute: names})
    if is_made_up:
        rank(model(estimator), golden)
        assert isinstance(estimator.got, np.ndarray)
    else:
        with pytest.raises(RankerError, match=f"no column {names[0]}, {names[1]}"):
            rank(model(estimator), golden)


class HandlesMissing(Sum):
    """Takes missing features for 0."""

    def __init__(self, *weights: float, n_features_in_: int) -> None:
        super().__init__(*weights)
        self.n_features_in_ = n_features_in_

    def predict(self, table: Any) -> Any:
        scores = super().predict(np.nan_to_num(table))
        self.got = table
        return scores


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


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"n_features_in_": np.int64(3)},
        {"num_feature": lambda: 3},
        {"num_features": lambda: 3},
        {"feature_name": lambda: ["Column_0", "Column_1", "Column_2"]},
        {"feature_names_": ["0", "1", "2"]},  # CatBoost, on a matrix
        {"feature_names": ["f0", "f1", "f2"]},
    ],
)
def test_numbered_features_are_ordered_and_gaps_are_zeros(
    letor: GoldenSet, about: dict[str, object]
) -> None:
    estimator = trained(1, 10, 100, **about)
    assert rankings_of(model(estimator), letor) == {"1": ["a", "b"]}
    assert isinstance(estimator.got, np.ndarray)
    assert estimator.got.tolist() == [[2, 0, 5], [1, 0, 0]]


def test_numbered_features_reach_up_to_the_highest_of_the_model(tmp_path: Path) -> None:
    estimator = trained(*range(5), n_features_in_=5)
    (tmp_path / "zero.txt").write_text("1 qid:1 2:5 0:2 # a\n0 qid:1 0:1 # b\n")
    rank(model(estimator), GoldenSet.load(tmp_path / "zero.txt", "letor"))
    assert estimator.got.tolist() == [[2, 0, 5, 0, 0], [1, 0, 0, 0, 0]]
    (tmp_path / "one.txt").write_text(f"# Column indices are one-based\n{LETOR}")
    rank(model(estimator), GoldenSet.load(tmp_path / "one.txt", "letor"))
    assert estimator.got.tolist() == [[2, 0, 5, 0, 0], [1, 0, 0, 0, 0]]


HEADER = "# Generated by dump_svmlight_file from scikit-learn 1.7.2\n# Column indices are zero-based\n#\n"


def test_the_header_of_scikit_learn_says_where_features_begin(tmp_path: Path) -> None:
    """In this file, feature 0 never occurs."""
    (tmp_path / "zero.txt").write_text(HEADER + LETOR)
    golden = GoldenSet.load(tmp_path / "zero.txt", "letor")
    for estimator in (trained(*range(4)), trained(*range(6), n_features_in_=6)):
        rank(model(estimator), golden)
        assert estimator.got[:, :4].tolist() == [[0, 2, 0, 5], [0, 1, 0, 0]]
    for part in (golden.sample(1), golden.merge(GoldenSet.from_dict({"2": {"c": 1}}))):
        rank(model(estimator), part)
        assert estimator.got[:, :4].tolist() == [[0, 2, 0, 5], [0, 1, 0, 0]]
    with pytest.raises(RankerError, match=r"with 3 features, but .* the features 0 to 3"):
        rank(model(trained(1, 1, 1, n_features_in_=3)), golden)


@pytest.mark.parametrize("count", [4, 5])
@pytest.mark.parametrize(
    "about", [{}, {"feature_importances_": [1, 1, 1, 1]}, {"feature_importances_": [0, 1, 1, 1]}]
)
def test_a_model_that_may_count_features_from_0_is_asked_about(
    letor: GoldenSet, count: int, about: dict[str, object]
) -> None:
    """LightGBM and XGBoost read the file themselves with feature 1 in column 1, not 0."""
    estimator = trained(*range(count), n_features_in_=count, **about)
    message = (
        rf"first feature is unclear.*give features=range\({count}\); if .*range\(1, {count + 1}\)"
    )
    with pytest.raises(RankerError, match=message):
        rank(model(estimator), letor)
    rank(model(estimator, range(count)), letor)
    assert estimator.got[:, :4].tolist() == [[0, 2, 0, 5], [0, 1, 0, 0]]
    rank(model(estimator, range(1, count + 1)), letor)
    assert estimator.got[:, :4].tolist() == [[2, 0, 5, 0], [1, 0, 0, 0]]
    names = [str(number) for number in range(count)]
    for attribute in ("feature_names_in_", "feature_names_"):
        with pytest.raises(RankerError, match=message):
            rank(model(trained(*range(count), **{attribute: names})), letor)


def test_numbered_columns_of_a_table_are_a_matrix_only_in_order() -> None:
    rows = [("q", "a", 1, 5, 7, 2), ("q", "b", 0, 3, 8, 1)]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "1", "10", "2"])
    golden = GoldenSet.from_frame(frame)
    estimator = trained(1, 0, 0)
    with pytest.raises(RankerError, match="features 1, 10, 2 are numbers, but not in their order"):
        rank(model(estimator), golden)
    rank(model(estimator, [1, 2, 10]), golden)
    assert estimator.got.tolist() == [[5, 2, 7], [3, 1, 8]]
    rank(model(trained(1, 0, 0, feature_names_in_=["2", "1", "10"])), golden)
    in_order = GoldenSet.from_frame(frame[["query_id", "doc_id", "relevance", "1", "2", "10"]])
    rank(model(estimator), in_order)
    assert estimator.got.tolist() == [[5, 2, 7], [3, 1, 8]]


def test_numbered_features_that_do_not_fit_are_refused(letor: GoldenSet, tmp_path: Path) -> None:
    with pytest.raises(RankerError, match=r"trained with 2 features, but .* the features 1 to 3"):
        rank(model(trained(1, 1, n_features_in_=2)), letor)
    (tmp_path / "wide.txt").write_text("1 qid:1 4000000000:1\n")
    wide = GoldenSet.load(tmp_path / "wide.txt", "letor")
    with pytest.raises(RankerError, match="the matrix would have 4,000,000,000 columns"):
        rank(model(Sum(1)), wide)
    (tmp_path / "named.txt").write_text("1 qid:1 bm25:1 1:2\n")
    named = GoldenSet.load(tmp_path / "named.txt", "letor")
    with pytest.raises(RankerError, match="the feature 'bm25' has no number, so the order"):
        rank(model(Sum(1, 1)), named)
    estimator = trained(1, 1, feature_names_in_=["1", "bm25"])
    rank(model(estimator), named)
    assert estimator.got.to_dict("list") == {"1": [2], "bm25": [1]}


def test_a_model_with_names_gets_exactly_these_or_an_error(letor: GoldenSet) -> None:
    estimator = trained(1, 10, feature_names_in_=["tf", "idf"])
    with pytest.raises(RankerError, match=r"no column tf, idf; they have 1, 3\. The model was tr"):
        rank(model(estimator), letor)
    rank(model(estimator, [3, 1]), letor)
    assert estimator.got.to_dict("list") == {"tf": [5, 0], "idf": [2, 1]}
    with pytest.raises(RankerError, match=r"features=1 does not match the names .* tf, idf"):
        rank(model(estimator, ["1"]), letor)
    with pytest.raises(RankerError, match="features=tf, 1 does not match the names"):
        rank(model(estimator, ["tf", "1"]), letor)
    from_one = trained(1, 10, feature_names_in_=["2", "1"])
    rank(model(from_one), letor)
    assert from_one.got.to_dict("list") == {"2": [0, 0], "1": [2, 1]}
    for names in (["f1", "f3"], ["feature_1", "feature_3"]):
        with pytest.raises(RankerError, match=f"no column {names[0]}, {names[1]}"):
            rank(model(trained(1, 1, feature_names_in_=names)), letor)


def test_a_name_that_is_missing_never_becomes_a_matrix(golden: GoldenSet) -> None:
    for names in (["f", "h"], ["f", "g", "boost", "h"], ["h"]):
        with pytest.raises(
            RankerError, match=r"no column h.*; they have f, g, and the attr.*boost"
        ):
            rank(model(trained(*range(len(names)), feature_names_in_=names)), golden)
    with pytest.raises(RankerError, match="no column f0; did you mean 'f'"):
        rank(model(trained(1, 1, feature_names=["f0", "g"])), golden)


def test_the_number_of_features_must_be_that_of_the_model(golden: GoldenSet) -> None:
    with pytest.raises(RankerError, match=r"trained with 3 features, but gets 2: f, g; .*boost"):
        rank(model(trained(1, 1, 1, n_features_in_=3)), golden)
    with pytest.raises(RankerError, match="trained with 1 feature, but gets 2: f, g"):
        rank(model(trained(1, feature_name=lambda: ["Column_0"])), golden)
    estimator = trained(1, n_features_in_=1)
    rank(model(estimator, ["g"]), golden)
    assert estimator.got.tolist() == [[5], [4], [1], [9]]


def test_default_names_that_are_columns_are_names() -> None:
    rows = [("q", "a", 1, 0.0, 7.0), ("q", "b", 0, 1.0, 8.0)]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "f1", "f0"])
    estimator = trained(1, 1, feature_names=["f0", "f1"])
    rank(model(estimator), GoldenSet.from_frame(frame))
    assert estimator.got.to_dict("list") == {"f0": [7, 8], "f1": [0, 1]}
    shifted = frame.rename(columns={"f0": "f2"})
    with pytest.raises(RankerError, match="no column f0"):
        rank(model(estimator), GoldenSet.from_frame(shifted))


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
    rank(model(spaced), golden)
    assert spaced.got.to_dict("list") == {"price": [5, 6], "in_stock": [1, 0]}
    frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0]})
    frame["sale"], frame["price"] = [True, False], [2, 3]
    estimator = Sum(1, 1)
    rank(model(estimator), GoldenSet.from_frame(frame))
    assert estimator.got.tolist() == [[1, 2], [0, 3]]


def test_a_decimal_comma_in_a_feature_is_explained(tmp_path: Path) -> None:
    table = "query_id;doc_id;relevance;price\nq;a;1;4,99\nq;b;0;5\n"
    (tmp_path / "set.csv").write_text(table)
    with pytest.raises(
        RankerError, match=r"the feature 'price' is '4,99'; write 4\.99, with a dec"
    ):
        rank(model(Sum(1)), GoldenSet.load(tmp_path / "set.csv"))
    (tmp_path / "set.csv").write_text(table.replace(";5", ";red"))
    with pytest.raises(RankerError, match="could not convert string to float"):
        rank(model(Sum(1)), GoldenSet.load(tmp_path / "set.csv"))


def test_lightgbm_gets_the_categories_that_it_was_trained_with() -> None:
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
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


@pytest.mark.parametrize("kept", [["q", "p"], ["q"], ["p"]])
def test_columns_keep_the_order_of_the_file_where_cells_are_empty(
    tmp_path: Path, kept: list[str]
) -> None:
    table = "query_id,doc_id,relevance,f,g\nq,a,1,,5\nq,b,0,,4\np,a,1,2,\np,b,0,3,1\n"
    (tmp_path / "set.csv").write_text(table)
    golden = GoldenSet.load(tmp_path / "set.csv").subset(kept)
    assert list(golden.candidates.columns) == ["query_id", "doc_id", "f", "g"]
    estimator = HandlesMissing(1, 10, n_features_in_=2)
    rank(model(estimator), golden)
    rows = {"q": [[np.nan, 5], [np.nan, 4]], "p": [[2, np.nan], [3, 1]]}
    expected = [row for query_id in golden.query_ids for row in rows[query_id]]
    assert np.array_equal(estimator.got, expected, equal_nan=True)
    merged = golden.merge(GoldenSet.from_dict({"r": {"d": 1}}))
    assert list(merged.candidates.columns) == ["query_id", "doc_id", "f", "g"]


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


def test_a_series_of_predictions_is_aligned_by_its_index(golden: GoldenSet) -> None:
    scores = pd.Series([1.0, 3.0, 2.0, 1.0])  # of a and b for q1, of a and c for q2
    by_f = {"q1": ["b", "a"], "q2": ["a", "c"]}
    for answer in (scores, scores.sort_values(), scores.to_frame().iloc[::-1]):
        assert rankings_of(model(Wrong(answer), ["f"]), golden) == by_f
    assert rankings_of(model(Wrong(scores.sort_values().to_numpy())), golden) != by_f
    for labels in (list("wxyz"), [1, 2, 3, 4], [0, 1, 1, 2]):
        message = r"predict returned a pandas Series with the index .*; return its .to_numpy\(\) if"
        with pytest.raises(RankerError, match=message):
            rank(model(Wrong(pd.Series(scores.to_numpy(), labels))), golden)


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


@pytest.mark.oracle
def test_a_model_that_lightgbm_trained_on_the_file_counts_from_0() -> None:
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    path = reference.data("lightgbm-lambdarank/rank.train")
    options = {"objective": "lambdarank", "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(options, lightgbm.Dataset(str(path), params={"verbose": -1}), 5)
    golden = GoldenSet.load(reference.data("lightgbm-lambdarank/rank.test"))
    with pytest.raises(RankerError, match=r"with 301 features, .* give features=range\(301\)"):
        rank(model(booster), golden)
    run = rank(model(booster, range(301)), golden)
    direct = iter(booster.predict(str(reference.data("lightgbm-lambdarank/rank.test"))).tolist())
    for query_id in golden.query_ids:
        scores = {doc: next(direct) for doc in golden.candidates_of(query_id)}
        assert list(run[query_id]) == sorted(
            scores, key=lambda doc: (scores[doc], doc), reverse=True
        )


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
        run = rank(model(estimator), golden)  # features by number, or by name
        assert evaluate(run, golden).mean("nDCG@10") > chance + 0.03, type(estimator)
        table = frame if hasattr(estimator, "feature_names_in_") else frame.to_numpy()
        direct = np.asarray(estimator.predict(table)).reshape(-1)
        start = 0
        for query_id in golden.query_ids:
            docs = golden.candidates_of(query_id)
            scores = dict(zip(docs, direct[start : start + len(docs)].tolist(), strict=True))
            assert list(run[query_id]) == sorted(docs, key=lambda d: (scores[d], d), reverse=True)
            start += len(docs)
