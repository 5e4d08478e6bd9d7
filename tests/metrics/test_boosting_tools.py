"""LightGBM's, XGBoost's and CatBoost's own numbers, on a real collection with their own models."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from pytest_rankcheck import Conventions, evaluate_arrays
from tests import reference

CUTOFFS = (1, 2, 3, 4, 5, 8, 10, 20)
TREES = (1, 60)
FOLDER = "lightgbm-lambdarank/"
needs = pytest.mark.needs


@cache
def collection(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features, the labels and the sizes of the groups."""
    from sklearn.datasets import load_svmlight_file

    path = reference.data(FOLDER + name)
    features, labels = load_svmlight_file(str(path), n_features=300)
    sizes = np.loadtxt(path.with_name(f"{name}.query"), dtype=np.int64)
    return features.toarray(), labels, sizes


def without_answers(labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return labels in which each fifth group has no relevant row, and the last group only one."""
    changed, end = labels.copy(), np.cumsum(sizes)
    for number in range(0, len(sizes), 5):
        changed[end[number] - sizes[number] : end[number]] = 0
    changed[end[-1] - sizes[-1] : end[-1]] = 0
    changed[end[-1] - 1] = 1
    return changed


def of_lightgbm(trees: int, labels: np.ndarray) -> tuple[np.ndarray, Mapping[str, float]]:
    """Return the scores of the test rows, and what LightGBM prints of them."""
    import lightgbm

    features, grades, sizes = collection("rank.train")
    tested, _, test_sizes = collection("rank.test")
    train = lightgbm.Dataset(features, grades, group=sizes)
    test = lightgbm.Dataset(tested, labels, group=test_sizes, reference=train)
    reported: dict[str, dict[str, list[float]]] = {}
    options = {
        "objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": CUTOFFS, "verbose": -1,
        "num_threads": 1, "deterministic": True, "force_row_wise": True, "seed": 0,
    }  # fmt: skip
    recorder = lightgbm.record_evaluation(reported)
    booster = lightgbm.train(options, train, trees, valid_sets=[test], callbacks=[recorder])
    return booster.predict(tested), {name: found[-1] for name, found in reported["valid_0"].items()}


def of_xgboost(trees: int, labels: np.ndarray) -> tuple[np.ndarray, Mapping[str, float]]:
    import xgboost

    features, grades, sizes = collection("rank.train")
    tested, _, test_sizes = collection("rank.test")
    train = xgboost.DMatrix(features, grades)
    train.set_group(sizes)
    test = xgboost.DMatrix(tested, labels)
    test.set_group(test_sizes)
    kinds = ("ndcg", "map") if labels.max() == 1 else ("ndcg",)
    options = {
        "objective": "rank:ndcg", "nthread": 1, "seed": 0, "disable_default_eval_metric": 1,
        "eval_metric": [f"{kind}@{k}" for kind in kinds for k in CUTOFFS],
    }  # fmt: skip
    booster = xgboost.train(options, train, trees)
    printed = re.findall(r"test-(\S+):(\S+)", booster.eval(test, "test"))
    scores = booster.predict(test, output_margin=True).astype(np.float64)
    return scores, {name: float(value) for name, value in printed}


def of_catboost(trees: int, labels: np.ndarray) -> tuple[np.ndarray, Mapping[str, float]]:
    import catboost
    from catboost.utils import eval_metric

    features, grades, sizes = collection("rank.train")
    tested, _, test_sizes = collection("rank.test")
    pool = catboost.Pool(features, grades, group_id=np.repeat(np.arange(len(sizes)), sizes))
    model = catboost.CatBoost(
        {
            "loss_function": "YetiRank",
            "iterations": trees,
            "random_seed": 0,
            "depth": 3,
            "thread_count": 1,
            "verbose": False,
            "allow_writing_files": False,
        }
    )
    model.fit(pool)
    scores = model.predict(tested)
    groups = np.repeat(np.arange(len(test_sizes)), test_sizes)
    names = {f"{kind}@{k}": f"{kind.upper()}:top={k}" for kind in ("ndcg", "map") for k in CUTOFFS}
    names |= {f"exp@{k}": f"NDCG:top={k};type=Exp" for k in CUTOFFS}
    found = {
        ours: eval_metric(labels, scores, theirs, group_id=groups)[0]
        for ours, theirs in names.items()
    }
    return scores, found


TOOLS: Mapping[str, Any] = {"lightgbm": of_lightgbm, "xgboost": of_xgboost, "catboost": of_catboost}


def labellings() -> Iterator[tuple[str, np.ndarray]]:
    _, labels, sizes = collection("rank.test")
    yield "as they are", labels
    yield "without answers", without_answers(labels, sizes)
    yield "binary", (without_answers(labels, sizes) > 0).astype(np.float64)


@pytest.mark.oracle
@pytest.mark.parametrize("trees", TREES)
@pytest.mark.parametrize(
    "tool", [pytest.param(name, marks=needs(name, "sklearn")) for name in TOOLS]
)
def test_a_preset_gives_the_numbers_that_the_tool_prints(tool: str, trees: int) -> None:
    sizes, compared = collection("rank.test")[2], 0
    for about, labels in labellings():
        scores, printed = TOOLS[tool](trees, labels)
        evaluation = evaluate_arrays(scores, labels, sizes, conventions=tool)
        exponential = evaluate_arrays(
            scores,
            labels,
            sizes,
            conventions=Conventions.from_dict({tool: "", "gain": "exponential"}),
        )
        for name, value in printed.items():
            kind, k = name.split("@")
            measured = exponential if kind == "exp" else evaluation
            ours = measured.mean(f"{'map' if kind == 'map' else 'ndcg'}@{k}")
            assert ours == pytest.approx(value, abs=1e-9), (about, name)
            compared += 1
        if trees == 1:  # so that the order of ties matters
            assert evaluation.source.mostly_tied
    assert compared == {"lightgbm": 48, "xgboost": 32, "catboost": 72}[tool]
