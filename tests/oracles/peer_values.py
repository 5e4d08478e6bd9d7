"""Record what other libraries compute, for the tests that run without them.

pip install -e '.[oracles]' 'numpy<2' rbo==0.1.3 && python tests/oracles/peer_values.py
"""

import json
import warnings
from collections.abc import Callable
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("peer_values.json")

PYTREC_EVAL = {
    "map": "AP",
    "map_cut_5": "AP@5",
    "recip_rank": "RR",
    "P_5": "P@5",
    "P_20": "P@20",
    "recall_5": "R@5",
    "success_1": "Success@1",
    "success_5": "Success@5",
    "ndcg": "nDCG",
    "ndcg_cut_5": "nDCG@5",
    "ndcg_cut_20": "nDCG@20",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "infAP": "infAP",
    "set_P": "P",
    "set_recall": "R",
    "set_F": "F",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "iprec_at_recall_0.00": "IPrec@0",
    "iprec_at_recall_0.50": "IPrec@0.5",
    "iprec_at_recall_1.00": "IPrec@1",
}
FAMILIES = {
    *("map", "map_cut", "recip_rank", "P", "recall", "success", "ndcg", "ndcg_cut", "Rprec"),
    *("bpref", "infAP", "set_P", "set_recall", "set_F", "num_ret", "num_rel", "num_rel_ret"),
    "iprec_at_recall",
}
IR_MEASURES = [
    *("nDCG", "nDCG@5", "nDCG(judged_only=True)@5", "AP", "AP@5", "AP(rel=2)", "RR", "RR(rel=2)"),
    *("AP(judged_only=True)", "P@5", "P(rel=2)@3", "P(judged_only=True)@5", "R@5", "R(rel=2)@5"),
    *("Success@3", "Success(rel=2)@3", "Bpref", "Bpref(rel=2)", "Rprec", "Rprec(rel=2)", "infAP"),
    *("SetP", "SetR", "SetF", "IPrec@0.5"),
]


def collection(
    seed: int, grades: tuple[int, int], *, ties: bool
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgments and a run of 12 queries over 30 documents."""
    random = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in range(12):
        judged = random.choice(30, size=int(random.integers(3, 16)), replace=False)
        ranked = random.choice(30, size=int(random.integers(1, 25)), replace=False)
        lowest, highest = grades
        qrels[f"q{query:02}"] = {
            f"d{doc:02}": int(random.integers(lowest, highest + 1)) for doc in judged
        }
        scores = random.integers(0, 9, len(ranked)) if ties else range(len(ranked), 0, -1)
        run[f"q{query:02}"] = {
            f"d{doc:02}": float(score) for doc, score in zip(ranked, scores, strict=True)
        }
        if ties:  # a query without a grade of 0 or more sends trec_eval 9 into an endless loop
            qrels[f"q{query:02}"]["zero"] = 0
    return qrels, run


def of_pytrec_eval() -> dict[str, Any]:
    """Return values per query, with ties, unjudged documents and negative grades."""
    import pytrec_eval

    qrels, run = collection(1, (-1, 4), ties=True)
    values = {
        str(level): pytrec_eval.RelevanceEvaluator(qrels, FAMILIES, relevance_level=level).evaluate(
            run
        )
        for level in (1, 2)
    }
    kept = {
        level: {query: {name: row[name] for name in PYTREC_EVAL} for query, row in rows.items()}
        for level, rows in values.items()
    }
    return {"qrels": qrels, "run": run, "values": kept}


def of_ir_measures() -> dict[str, Any]:
    """Return means, with ties, unjudged documents and negative grades."""
    import ir_measures

    qrels, run = collection(2, (-1, 4), ties=True)
    measures = {name: ir_measures.parse_measure(name) for name in IR_MEASURES}
    # One at a time: beside others NumRet may count judged documents only, by their hash order.
    values = {
        name: ir_measures.calc_aggregate([measure], qrels, run)[measure]
        for name, measure in measures.items()
    }
    return {"qrels": qrels, "run": run, "values": values}


def of_statsmodels() -> dict[str, Any]:
    """Return Holm's correction, and how many queries a t-test needs."""
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import TTestPower

    random = np.random.default_rng(6)
    drawn = [random.uniform(0, 1, size).round(3).tolist() for size in (1, 2, 5, 8)]
    holm = [[values, multipletests(values, method="holm")[1].tolist()] for values in drawn]
    needed = []
    for effect, power, alpha in product((0.05, 0.2, 1.0), (0.7, 0.8, 0.95), (0.01, 0.05)):
        size = TTestPower().solve_power(effect, power=power, alpha=alpha, alternative="larger")
        needed.append([effect, power, alpha, float(np.squeeze(size))])
    return {"holm": holm, "queries_needed": needed}


def of_rbo() -> list[list[Any]]:
    """Return the extrapolated rank-biased overlap of pairs of rankings."""
    import rbo

    random = np.random.default_rng(7)
    found = []
    for p, _ in product((0.5, 0.9, 0.98), range(6)):
        one, two = (
            random.choice(list("abcdefghij"), size=int(random.integers(1, 9)), replace=False)
            for _ in range(2)
        )
        pair = one.tolist(), two.tolist()
        found.append([*pair, p, float(rbo.RankingSimilarity(*pair).rbo_ext(p=p))])
    return found


PEERS: dict[str, Callable[[], Any]] = {
    "pytrec_eval-terrier": of_pytrec_eval,
    "ir-measures": of_ir_measures,
    "statsmodels": of_statsmodels,
    "rbo": of_rbo,
}


def computed(peer: str) -> Any:
    """Return what a peer computes, as JSON gives it back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json.loads(json.dumps(PEERS[peer]()))


def main() -> None:
    """Write the file."""
    record = {peer: {"version": version(peer), "recorded": computed(peer)} for peer in PEERS}
    FILE.write_text(json.dumps(record, separators=(",", ":")).replace('"q', '\n"q') + "\n", "utf-8")


if __name__ == "__main__":
    main()
