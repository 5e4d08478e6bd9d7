"""Equality with gdeval (nDCG with exponential gain, ERR) and with LightGBM's own metrics."""

import csv
import json

import pytest
from reference import data

from pytest_rankcheck import Evaluation, GoldenSet, Run, evaluate

HALF_A_DIGIT = 0.000005 + 1e-9
LGBM = "lightgbm-lambdarank/"


def evaluated(qrels: str, results: str) -> Evaluation:
    return evaluate(Run.load(data(results)), GoldenSet.load(data(qrels)))


# gdeval, as trec_eval, puts tied documents in descending order of their ids, so that the four
# LightGBM queries with ties agree as well.
@pytest.mark.parametrize(
    ("qrels", "results", "outputs", "cutoff", "queries"),
    [
        ("trec_eval/qrels.rel_level", "trec_eval/results.test", "trec_eval/gdeval/rel_level", k, 3)
        for k in (5, 10, 20, 100)
    ]
    + [
        (LGBM + "rank.test.qrels", LGBM + "rank.test.lgbm.run", LGBM + "out.gdeval", k, 50)
        for k in (1, 3, 5, 10)
    ],
)
def test_exponential_ndcg_and_err_are_those_of_gdeval(
    qrels: str, results: str, outputs: str, cutoff: int, queries: int
) -> None:
    evaluation = evaluated(qrels, results)
    names = {
        f"ndcg@{cutoff}": f"nDCG(gain=exponential)@{cutoff}",
        f"err@{cutoff}": f"ERR(max_grade=4)@{cutoff}",
    }
    compared, wrong = 0, []
    with data(f"{outputs}.k{cutoff}.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            for column, name in names.items():
                topic = row["topic"]
                if topic == "amean":
                    value = evaluation.mean(name)
                else:
                    # gdeval needs numbers for query ids: LightGBM's q1 is 1 there
                    query_id = topic if topic in evaluation.golden else f"q{topic}"
                    value = evaluation.per_query(name)[query_id]
                compared += 1
                if abs(value - float(row[column])) > HALF_A_DIGIT:
                    wrong.append(f"{name} of {topic}: {value:.6f}, gdeval {row[column]}")
    assert not wrong
    assert compared == 2 * (queries + 1)


def test_ndcg_and_average_precision_are_those_of_lightgbm() -> None:
    """Relevant is a label above 0.5; the sum of precisions is divided by min(relevant, k)."""
    run = Run.load(data(LGBM + "rank.test.lgbm.run"), ties="input")
    golden = GoldenSet.load(data(LGBM + "rank.test.qrels"))
    preset = evaluate(run, golden, conventions="lightgbm")
    evaluation = evaluated(LGBM + "rank.test.qrels", LGBM + "rank.test.lgbm.run")
    theirs = json.loads(data(LGBM + "rank.test.lgbm.eval.json").read_text())["metrics"]
    for k in (1, 3, 5, 10):
        for name, ours in (("ndcg", "nDCG(gain=exponential)"), ("map", "AP(divide=min)")):
            mean = evaluation.mean(f"{ours}@{k}")
            assert mean == pytest.approx(theirs[f"{name}@{k}"], abs=1e-12), (name, k)
            assert preset.mean(f"{name}@{k}") == pytest.approx(mean, abs=1e-12), (name, k)
