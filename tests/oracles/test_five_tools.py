"""The picture of five tools: each value is what the tool gives for the ranking of the example."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, Run, rank

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "symbol_search"

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def shown() -> dict[str, float]:
    text = (ROOT / "docs" / "images" / "five-tools.svg").read_text("utf-8")
    return {
        tool: float(value) for tool, value in re.findall(r">([\w-]+)</text>.*?>([\d.]+)<", text)
    }


@pytest.fixture(scope="module")
def ranked() -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """The grades and the ranking of each query."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLE))
        from symbol_search.ranker import search

        golden = GoldenSet.load(EXAMPLE / "golden" / "symbols.jsonl")
        run: Run = rank(search, golden, depth=20)
        sys.modules.pop("symbol_search", None)
    grades: dict[str, dict[str, int]] = {query: {} for query in golden.query_ids}
    for row in golden.judgments.itertuples():
        grades[row.query_id][row.doc_id] = int(row.relevance)
    return grades, {query: list(run.ranking(query)) for query in grades}


def scores(rankings: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    return {q: {d: 100.0 - i for i, d in enumerate(top)} for q, top in rankings.items()}


@pytest.mark.needs("ir_measures", "pytrec_eval")
def test_ir_measures_and_trec_eval(shown, ranked) -> None:  # type: ignore[no-untyped-def]
    import ir_measures
    import pytrec_eval

    grades, rankings = ranked
    measure = ir_measures.parse_measure("nDCG@10")
    found = ir_measures.calc_aggregate([measure], grades, scores(rankings))[measure]
    assert round(found, 3) == shown["ir_measures"]
    answered = {query: each for query, each in scores(rankings).items() if each}
    by_query = pytrec_eval.RelevanceEvaluator(grades, {"ndcg_cut_10"}).evaluate(answered)
    mean = np.mean([each["ndcg_cut_10"] for each in by_query.values()])
    assert round(mean, 3) == shown["trec_eval"]


@pytest.mark.needs("ranx")
@pytest.mark.filterwarnings("ignore:.*unsafe cast")
def test_ranx(shown, ranked) -> None:  # type: ignore[no-untyped-def]
    import ranx

    grades, rankings = ranked
    run = {query: each or {"none": 0.0} for query, each in scores(rankings).items()}
    found = ranx.evaluate(ranx.Qrels(grades), ranx.Run(run), "ndcg_burges@10")
    assert round(float(found), 3) == shown["ranx"]


@pytest.mark.needs("sklearn")
def test_scikit_learn(shown, ranked) -> None:  # type: ignore[no-untyped-def]
    from sklearn.metrics import ndcg_score

    grades, rankings = ranked
    values = [
        ndcg_score(
            [[grades[query].get(doc, 0) for doc in top]], [[-i for i, _ in enumerate(top)]], k=10
        )
        for query, top in rankings.items()
        if len(top) > 1  # it refuses a single document
    ]
    assert round(np.mean(values), 3) == shown["scikit-learn"]


@pytest.mark.needs("rectools")
def test_rectools(shown, ranked) -> None:  # type: ignore[no-untyped-def]
    from rectools.metrics import NDCG

    grades, rankings = ranked
    relevant = [(q, d) for q, each in grades.items() for d, grade in each.items() if grade > 0]
    interactions = pd.DataFrame(relevant, columns=["user_id", "item_id"]).assign(weight=1)
    rows = [(q, d, i) for q, top in rankings.items() for i, d in enumerate(top, 1)]
    found = NDCG(k=10).calc(
        pd.DataFrame(rows, columns=["user_id", "item_id", "rank"]), interactions
    )
    assert round(found, 3) == shown["RecTools"]
