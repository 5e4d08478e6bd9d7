"""The peers, each given the form that it is fastest with, and the same work.

A peer returns the means of the metrics whose convention is ours, under our names, and the others
under names of their own. Where a peer takes only dicts, building them is part of the work on files
and DataFrames, in the fastest way that we know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from speed.inputs import Inputs, dicts_of

Means = Mapping[str, float]
Work = Callable[[], Means]

IN_MEMORY = ("dicts", "prebuilt", "lists", "pairs")


@dataclass(frozen=True)
class Peer:
    """A peer.

    Attributes:
        prepare: returns the work on a form.
        forms: the forms that it is measured on.
        package: what its version is asked from.
        differs: which of the five metrics it has not, or has with another convention.
        binary: whether it takes every grade above 0 as 1, and so is measured only where that is so.
    """

    prepare: Callable[[str, Inputs], Work]
    forms: tuple[str, ...]
    package: str
    differs: str = ""
    binary: bool = False


# --- pytrec_eval ---------------------------------------------------------------------------------


def pytrec_eval(form: str, inputs: Inputs) -> Work:
    """Prepare pytrec_eval; its RR has no cutoff."""
    import pytrec_eval as library

    measures = {"ndcg_cut.10", "recip_rank", "map_cut.1000", "recall.100", "P.10"}
    names = {
        "ndcg_cut_10": "nDCG@10",
        "recip_rank": "RR",
        "map_cut_1000": "AP@1000",
        "recall_100": "R@100",
        "P_10": "P@10",
    }

    def means(evaluator: Any, run: Any, queries: int) -> Means:
        by_query = evaluator.evaluate(run).values()
        return {
            ours: sum(values[theirs] for values in by_query) / queries
            for theirs, ours in names.items()
        }

    def built(qrels: Any, run: Any) -> Means:
        return means(library.RelevanceEvaluator(qrels, measures), run, len(qrels))

    def read() -> Means:
        with inputs.run_text.open() as run, inputs.qrels_text.open() as qrels:
            return built(library.parse_qrel(qrels), library.parse_run(run))

    if form in ("trec", "plain"):
        return read
    if form in ("parquet", "frames"):
        tables = (inputs.qrels_parquet, inputs.run_parquet)
        given = tables if form == "parquet" else inputs.frames()
        return lambda: built(dicts_of(given[0], "relevance"), dicts_of(given[1], "score"))
    qrels, run = inputs.dicts()
    if form == "dicts":
        return lambda: built(qrels, run)
    evaluator = library.RelevanceEvaluator(qrels, measures)
    if form == "pairs":
        pairs = inputs.run_pairs()
        return lambda: means(evaluator, {q: dict(own) for q, own in pairs.items()}, len(qrels))
    return lambda: means(evaluator, run, len(qrels))


# --- RecTools ------------------------------------------------------------------------------------


def rectools(form: str, inputs: Inputs) -> Work:
    """Prepare RecTools, which trusts the column of ranks and takes every grade above 0 as 1."""
    import pandas as pd
    from rectools import Columns
    from rectools.metrics import MAP, MRR, NDCG, Precision, Recall, calc_metrics

    metrics = {
        "nDCG@10": NDCG(k=10, divide_by_achievable=True),
        "RR@10": MRR(k=10),
        "AP@1000": MAP(k=1000),
        "R@100": Recall(k=100),
        "P@10": Precision(k=10),
    }
    columns = {"query_id": Columns.User, "doc_id": Columns.Item, "rank": Columns.Rank}

    def means(qrels: Any, run: Any) -> Means:
        relevant = qrels[qrels["relevance"] > 0]
        values: dict[str, float] = calc_metrics(
            metrics, run.rename(columns=columns), relevant.rename(columns=columns)
        )
        return values

    if form in ("trec", "plain"):

        def table(path: Any, **names: int) -> Any:
            return pd.read_csv(path, sep=" ", header=None, usecols=list(names.values())).rename(
                columns={place: name for name, place in names.items()}
            )

        return lambda: means(
            table(inputs.qrels_text, query_id=0, doc_id=2, relevance=3),
            table(inputs.run_text, query_id=0, doc_id=2, rank=3),
        )
    ranked = ["query_id", "doc_id", "rank"]
    if form == "parquet":
        return lambda: means(
            pd.read_parquet(inputs.qrels_parquet),
            pd.read_parquet(inputs.run_parquet, columns=ranked),
        )
    qrels, run = inputs.frames()
    run = run[ranked]
    return lambda: means(qrels, run)


# --- arrays --------------------------------------------------------------------------------------


def lightgbm(form: str, inputs: Inputs) -> Work:
    """Prepare LightGBM's own nDCG: new scores for a Dataset that holds labels and groups."""
    import lightgbm as library
    import numpy as np

    scores, labels, groups = inputs.arrays()
    parameters = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [10],
        "verbose": -1,
        "label_gain": list(range(int(labels.max()) + 1)),
    }
    feature = np.arange(labels.size, dtype=np.float32).reshape(-1, 1)
    data = library.Dataset(feature, labels, group=groups, params=parameters)
    data.construct()

    def means() -> Means:
        data.set_init_score(scores)
        [(_, _, value, *_)] = library.Booster(parameters, data).eval_train()
        return {"nDCG@10": float(value)}

    return means


def sklearn(form: str, inputs: Inputs) -> Work:
    """Prepare scikit-learn's nDCG: rows of equal length, ties ignored, which is its fastest way."""
    from sklearn.metrics import ndcg_score

    scores, labels, groups = inputs.arrays()
    rows = labels.reshape(groups.size, -1), scores.reshape(groups.size, -1)
    return lambda: {"nDCG@10": float(ndcg_score(*rows, k=10, ignore_ties=True))}


DICT_FORMS = ("trec", "plain", "parquet", *IN_MEMORY, "frames")
PEERS = {
    "pytrec_eval": Peer(pytrec_eval, DICT_FORMS, "pytrec_eval-terrier", "its RR has no cutoff"),
    "RecTools": Peer(
        rectools,
        ("trec", "plain", "parquet", "frames"),
        "rectools",
        "its grades are binary, so it runs on a and d only",
        binary=True,
    ),
    "LightGBM": Peer(lightgbm, ("arrays",), "lightgbm", "the only one that it has"),
    "scikit-learn": Peer(sklearn, ("arrays",), "scikit-learn", "the only one that it has"),
}
