"""Record what other tools compute on one small example, for the tables of metric names.

python tests/oracles/other_tools.py [TOOL ...]

Without arguments, every tool that is installed is recorded again. The tools do not all fit into
one environment: MTEB and ragas need another numpy than RecTools.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("other_tools.json")

QRELS = {
    "1": {"a": 3, "b": 0, "c": 1, "d": 2, "e": 0, "f": 1},
    "2": {"a": 0, "b": 2, "c": 2, "g": 1},
    "3": {"h": 1, "i": 3},
    "4": {"a": 1, "b": 3, "c": 0},
    "5": {"a": 2, "b": 1},
}
"""Grades from 0 to 3; some relevant documents are not retrieved."""

RANKINGS = {
    "1": ["b", "a", "x", "c", "e", "y"],
    "2": ["c", "a", "b", "z", "g"],
    "3": ["w", "i"],
    "4": ["c", "u", "v", "b"],
}
"""Without ties; with unjudged documents, a ranking of two, and none for query 5."""

RUN = {
    query_id: {doc_id: float(len(ranked) - place) for place, doc_id in enumerate(ranked)}
    for query_id, ranked in RANKINGS.items()
}
BINARY = {
    query_id: {doc_id: min(grade, 1) for doc_id, grade in grades.items()}
    for query_id, grades in QRELS.items()
}
RANKED_QRELS = {query_id: QRELS[query_id] for query_id in RUN}
GRADES = [[QRELS[query_id].get(doc_id, 0) for doc_id in RANKINGS[query_id]] for query_id in RUN]
"""The grades by rank, 0 if unjudged: all that a tool sees that is given arrays."""

SCORES = [list(scores.values()) for scores in RUN.values()]

Values = dict[str, float]


def relevant(query_id: str) -> list[str]:
    """Return the relevant documents of a query."""
    return [doc_id for doc_id, grade in QRELS[query_id].items() if grade > 0]


def mean(values: Any) -> float:
    """Return the mean of some values as a plain float."""
    numbers = [float(value) for value in values]
    return sum(numbers) / len(numbers)


def of_trec_eval() -> Values:
    """Return what ``trec_eval -c -m all_trec`` prints; ``binary`` is on grades of 0 and 1."""

    def printed(qrels: Mapping[str, Mapping[str, int]], *options: str) -> Values:
        with tempfile.TemporaryDirectory() as folder:
            judgments, results = Path(folder, "qrels"), Path(folder, "run")
            judgments.write_text(
                "".join(
                    f"{query_id} 0 {doc_id} {grade}\n"
                    for query_id, grades in qrels.items()
                    for doc_id, grade in grades.items()
                )
            )
            results.write_text(
                "".join(
                    f"{query_id} Q0 {doc_id} 0 {score} run\n"
                    for query_id, scores in RUN.items()
                    for doc_id, score in scores.items()
                )
            )
            command = ["trec_eval", "-c", *options, str(judgments), str(results)]
            lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        cells = [line.split() for line in lines.splitlines()]
        return {
            name: float(value) for name, _, value in cells if name not in ("runid", "relstring")
        }

    cutoffs = ("P", "recall", "success", "map_cut", "ndcg_cut", "unj", "relative_P")
    options = [word for name in cutoffs for word in ("-m", f"{name}.3")]
    others = [word for name in ("dcg", "ideal_dcg", "yaap") for word in ("-m", name)]
    levels = ["-m", "iprec_at_recall.0.30", "-m", "Rprec_mult.0.5", "-m", "set_F.4.0"]
    values = printed(QRELS, "-m", "all_trec", *options, *others, *levels[:4])
    default = printed(QRELS, "-m", "set_F")
    binary = printed(BINARY, "-m", "rbp", "-m", "rbp_resid")
    kept = {name: value for name, value in values.items() if name in TREC_EVAL_KEPT}
    set_f = {"set_F": default["set_F"], "set_F_4.0": printed(QRELS, *levels[-2:])["set_F_4.0"]}
    graded = printed(QRELS, "-m", "rbp")["rbp"]
    return {**kept, **set_f, **binary, "rbp (graded)": graded}


TREC_EVAL_KEPT = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "map", "gm_map"),
    *("Rprec", "bpref", "gm_bpref", "recip_rank", "infAP", "utility", "11pt_avg", "ndcg", "P_3"),
    *("dcg", "ideal_dcg", "yaap"),
    *("ndcg_rel", "Rndcg", "binG", "G", "set_P", "set_recall", "set_relative_P", "set_map"),
    *("recall_3", "success_3", "map_cut_3", "ndcg_cut_3", "unj_3", "relative_P_3"),
    *("iprec_at_recall_0.30", "Rprec_mult_0.50"),
)

IR_MEASURES = (
    *("AP", "AP@3", "AP(rel=2)", "Bpref", "ERR@3", "infAP", "IPrec@0.3", "Judged@3", "nDCG"),
    *("nDCG@3", "nDCG(dcg='exp-log2')@3", "nDCG(gains={0: 0, 1: 1, 2: 3, 3: 9})@3", "NumQ"),
    *("NumRel", "NumRet", "NumRelRet", "P@3", "P(rel=2)@3", "P(judged_only=True)@3", "R@3"),
    *("RBP(rel=1)", "Rprec", "RR", "RR@3", "SetP", "SetRelP", "SetR", "SetF", "SetF(beta=4.0)"),
    *("BPM(T=1.0,max_rel=3)@3", "INST(max_rel=3)", "INSQ(max_rel=3)", "NERR8(max_rel=3)@3"),
    *("NERR9(max_rel=3)@3", "NERR10(max_rel=3)", "NERR11(max_rel=3)", "AP_IA", "P_IA@3"),
    *("ERR_IA@3", "nERR_IA@3", "alpha_DCG@3", "alpha_nDCG@3", "NRBP", "nNRBP", "StRecall@3"),
    *("SetAP", "Success@3", "Accuracy@3", "SDCG(max_rel=3)@3", "Compat(p=0.8)"),
)


def ir_measure(name: str) -> Any:
    """Return the ir_measures object with a name."""
    import ir_measures

    return eval(name, {}, dict(ir_measures.measures.registry))


def of_ir_measures() -> Values:
    """Return the aggregates, over all five queries."""
    import ir_measures

    return {
        name: float(ir_measures.calc_aggregate([measure], QRELS, RUN)[measure])
        for name, measure in ((name, ir_measure(name)) for name in IR_MEASURES)
    }


def of_ranx() -> Values:
    """Return the means over the ranked queries: ranx refuses others."""
    import ranx

    cut = ("hits", "hit_rate", "precision", "recall", "f1", "mrr", "map")
    names = [*(f"{name}@3" for name in cut), "r-precision", "bpref", "dcg@3", "dcg_burges@3"]
    names += ["ndcg@3", "ndcg_burges@3", "ndcg"]
    values = ranx.evaluate(ranx.Qrels(RANKED_QRELS), ranx.Run(RUN), names)
    binary = {query_id: BINARY[query_id] for query_id in RUN}
    rbp = ranx.evaluate(ranx.Qrels(binary), ranx.Run(RUN), ["rbp.80"])
    found = {**{name: float(value) for name, value in values.items()}, "rbp.80": float(rbp)}
    return {name: value for name, value in found.items() if value == value}  # bpref is NaN


def of_scikit_learn() -> Values:
    """Return the means over the ranked queries of what is computed from grades by rank."""
    import sklearn.metrics as sk

    pairs = list(zip(GRADES, SCORES, strict=True))
    labels = [([int(grade > 0) for grade in grades], scores) for grades, scores in pairs]
    return {
        "ndcg_score(k=3)": mean(sk.ndcg_score([g], [s], k=3) for g, s in pairs),
        "ndcg_score": mean(sk.ndcg_score([g], [s]) for g, s in pairs),
        "dcg_score(k=3)": mean(sk.dcg_score([g], [s], k=3) for g, s in pairs),
        "label_ranking_average_precision_score": mean(
            sk.label_ranking_average_precision_score([g], [s]) for g, s in labels
        ),
        "average_precision_score": mean(sk.average_precision_score(g, s) for g, s in labels),
        "coverage_error": mean(sk.coverage_error([g], [s]) for g, s in labels),
        "label_ranking_loss": mean(sk.label_ranking_loss([g], [s]) for g, s in labels),
        "roc_auc_score": mean(sk.roc_auc_score(g, s) for g, s in labels),
    }


def of_lightgbm() -> Values:
    """Return the metrics of a model that predicts the scores of the run."""
    import lightgbm
    import numpy as np

    features = np.array([[score] for scores in SCORES for score in scores])
    labels = np.array([grade for grades in GRADES for grade in grades])
    data = lightgbm.Dataset(
        features, labels, group=[len(grades) for grades in GRADES], init_score=features[:, 0]
    )
    reported: dict[str, dict[str, list[float]]] = {}
    options = {
        "objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1, 3], "verbose": -1,
        "learning_rate": 1e-12, "min_data_in_leaf": 1, "num_threads": 1,
    }  # fmt: skip
    recorder = lightgbm.record_evaluation(reported)
    lightgbm.train(options, data, 1, valid_sets=[data], callbacks=[recorder])
    return {name: values[-1] for name, values in reported["training"].items()}


def of_xgboost() -> Values:
    """Return the metrics of a model that predicts the scores; its map takes grades of 0 and 1."""
    import numpy as np
    import xgboost

    scores = np.array([score for row in SCORES for score in row])
    labels = np.array([grade for grades in GRADES for grade in grades])
    values: Values = {}
    for given, names in (
        (np.minimum(labels, 1), ("map@1", "map@3", "pre@3")),
        (labels, ("ndcg@1", "ndcg@3")),
    ):
        data = xgboost.DMatrix(scores.reshape(-1, 1), given, base_margin=scores)
        data.set_group([len(grades) for grades in GRADES])
        options = {
            "objective": "rank:ndcg", "eta": 0, "nthread": 1, "disable_default_eval_metric": 1,
            "eval_metric": list(names),
        }  # fmt: skip
        printed = xgboost.train(options, data, 1).eval(data, "all").split()[1:]
        pairs = (each.removeprefix("all-").split(":") for each in printed)
        values |= {name: float(value) for name, value in pairs}
    return values


def of_catboost() -> Values:
    """Return the metrics of the scores as predictions."""
    import numpy as np
    from catboost.utils import eval_metric

    scores = [score for row in SCORES for score in row]
    labels = [grade for grades in GRADES for grade in grades]
    groups = np.repeat(np.arange(len(GRADES)), [len(grades) for grades in GRADES])
    names = (
        "NDCG:top=3", "NDCG:top=3;type=Exp", "NDCG:top=3;denominator=Position", "DCG:top=3",
        "MAP:top=3", "MRR:top=3", "ERR:top=3", "PrecisionAt:top=3", "RecallAt:top=3", "PFound",
        "QueryAUC:type=Ranking",
    )  # fmt: skip
    return {name: eval_metric(labels, scores, name, group_id=groups)[0] for name in names}


def of_rectools() -> Values:
    """Return the means over all users, who are the queries."""
    import pandas as pd
    from rectools import metrics

    reco = pd.DataFrame(
        [
            (query_id, doc_id, rank)
            for query_id, ranked in RANKINGS.items()
            for rank, doc_id in enumerate(ranked, 1)
        ],
        columns=["user_id", "item_id", "rank"],
    )
    rows = [(query_id, doc_id) for query_id in QRELS for doc_id in relevant(query_id)]
    interactions = pd.DataFrame(rows, columns=["user_id", "item_id"])
    others = [f"other{number}" for number in range(7)]  # never recommended
    catalog = sorted({*reco["item_id"], *interactions["item_id"], *others})
    asked = (
        *("Precision(k=3)", "Precision(k=3, r_precision=True)", "Recall(k=3)", "F1Beta(k=3)"),
        *("HitRate(k=3)", "MRR(k=3)", "MAP(k=3)", "MAP(k=3, divide_by_k=True)", "NDCG(k=3)"),
        *("NDCG(k=3, divide_by_achievable=True)", "PAP(k=3)", "PartialAUC(k=3)"),
    )
    made = {name: eval(name, vars(metrics)) for name in asked}
    values = {name: float(metric.calc(reco, interactions)) for name, metric in made.items()}
    whole = {
        "Accuracy(k=3)": metrics.Accuracy(k=3).calc(reco, interactions, catalog),
        "MCC(k=3)": metrics.MCC(k=3).calc(reco, interactions, catalog),
        "CatalogCoverage(k=3, normalize=True)": metrics.CatalogCoverage(k=3, normalize=True).calc(
            reco, catalog
        ),
    }
    return {**values, **{name: float(value) for name, value in whole.items()}}


def of_beir() -> Values:
    """Return what EvaluateRetrieval prints, to five decimals."""
    from beir.retrieval.evaluation import EvaluateRetrieval

    values: Values = {}
    for part in EvaluateRetrieval.evaluate(QRELS, RUN, [3]):
        values.update(part)
    for name in ("mrr", "r_cap", "hole", "accuracy"):
        values.update(EvaluateRetrieval.evaluate_custom(QRELS, RUN, [3], name))
    return values


def of_torchmetrics() -> Values:
    """Return the means over the ranked queries of what is computed from grades by rank."""
    import torch
    import torchmetrics.retrieval as tm

    scores = torch.tensor([score for row in SCORES for score in row])
    grades = torch.tensor([grade for row in GRADES for grade in row])
    queries = torch.tensor([query for query, row in enumerate(GRADES) for _ in row])
    binary = (
        *("RetrievalMAP()", "RetrievalMAP(top_k=3)", "RetrievalMRR()", "RetrievalMRR(top_k=3)"),
        *("RetrievalPrecision(top_k=3)", "RetrievalPrecision(top_k=3, adaptive_k=True)"),
        *("RetrievalRecall(top_k=3)", "RetrievalHitRate(top_k=3)", "RetrievalFallOut(top_k=3)"),
        *("RetrievalRPrecision()", "RetrievalAUROC()"),
    )
    given = dict.fromkeys(binary, grades > 0)
    given |= dict.fromkeys(("RetrievalNormalizedDCG()", "RetrievalNormalizedDCG(top_k=3)"), grades)
    return {
        name.removesuffix("()"): float(eval(name, vars(tm))(scores, judged, indexes=queries))
        for name, judged in given.items()
    }


def of_ragas() -> Values:
    """Return the means over the ranked queries, cut at 3; the LLM's verdict is our judgment."""
    import ragas.metrics as rm
    from ragas import SingleTurnSample

    average = rm.LLMContextPrecisionWithReference()._calculate_average_precision
    tops = {query_id: ranked[:3] for query_id, ranked in RANKINGS.items()}

    async def scores(metric: Any) -> float:
        return mean(
            [
                await metric.single_turn_ascore(
                    SingleTurnSample(
                        retrieved_context_ids=top, reference_context_ids=relevant(query_id)
                    )
                )
                for query_id, top in tops.items()
            ]
        )

    def exact(metric: Any) -> Any:
        return mean(
            metric.single_turn_score(
                SingleTurnSample(retrieved_contexts=top, reference_contexts=relevant(query_id))
            )
            for query_id, top in tops.items()
        )

    verdicts = (
        [int(doc_id in relevant(query_id)) for doc_id in top] for query_id, top in tops.items()
    )
    return {
        "ContextPrecision": mean(average(list(map(_Verdict, row))) for row in verdicts),
        "IDBasedContextPrecision": asyncio.run(scores(rm.IDBasedContextPrecision())),
        "IDBasedContextRecall": asyncio.run(scores(rm.IDBasedContextRecall())),
        "NonLLMContextPrecisionWithReference": exact(rm.NonLLMContextPrecisionWithReference()),
        "NonLLMContextRecall": exact(rm.NonLLMContextRecall()),
    }


class _Verdict:
    """What an LLM says of a context: relevant or not."""

    def __init__(self, verdict: int) -> None:
        self.verdict = verdict


def of_llama_index() -> Values:
    """Return the means over the ranked queries, cut at 3."""
    from llama_index.core.evaluation.retrieval import metrics as lm

    asked = {
        "hit_rate": lm.HitRate(),
        "hit_rate (granular)": lm.HitRate(use_granular_hit_rate=True),
        "mrr": lm.MRR(),
        "mrr (granular)": lm.MRR(use_granular_mrr=True),
        "precision": lm.Precision(),
        "recall": lm.Recall(),
        "ap": lm.AveragePrecision(),
        "ndcg": lm.NDCG(),
    }
    return {
        name: mean(
            metric.compute(expected_ids=relevant(query_id), retrieved_ids=ranked[:3]).score
            for query_id, ranked in RANKINGS.items()
        )
        for name, metric in asked.items()
    }


def of_mteb() -> Values:
    """Return the scores of a retrieval task, to five decimals."""
    from mteb._evaluators import retrieval_metrics as mm

    scores = mm.calculate_retrieval_scores(RUN, QRELS, [1, 3])
    return {
        name: float(value)
        for name, value in mm.make_score_dict(
            ndcg=scores.ndcg,
            _map=scores.map,
            recall=scores.recall,
            precision=scores.precision,
            mrr=scores.mrr,
            naucs={},
            naucs_mrr={},
            hit_rate=scores.hit_rate,
            task_scores={},
        ).items()
        if not name.endswith("_1")
    }


TOOLS: dict[str, tuple[str, Callable[[], Values]]] = {
    "trec_eval": ("", of_trec_eval),
    "ir_measures": ("ir-measures", of_ir_measures),
    "ranx": ("ranx", of_ranx),
    "scikit-learn": ("scikit-learn", of_scikit_learn),
    "LightGBM": ("lightgbm", of_lightgbm),
    "XGBoost": ("xgboost", of_xgboost),
    "CatBoost": ("catboost", of_catboost),
    "RecTools": ("rectools", of_rectools),
    "BEIR": ("beir", of_beir),
    "torchmetrics": ("torchmetrics", of_torchmetrics),
    "ragas": ("ragas", of_ragas),
    "LlamaIndex": ("llama-index-core", of_llama_index),
    "MTEB": ("mteb", of_mteb),
}
"""Each tool's distribution and the function that runs it."""


def installed_version(tool: str) -> str | None:
    """Return the version of a tool; None if it is not installed."""
    if tool == "trec_eval":
        if shutil.which("trec_eval") is None:
            return None
        done = subprocess.run(
            ["trec_eval", "--version"], capture_output=True, text=True, check=False
        )
        return (done.stdout + done.stderr).split()[-1]
    for name in (TOOLS[tool][0], f"{TOOLS[tool][0]}-cpu"):  # XGBoost has both
        with suppress(PackageNotFoundError):
            return version(name)
    return None


def computed(tool: str) -> Values:
    """Return what a tool computes now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TOOLS[tool][1]()


def main(tools: list[str]) -> None:
    """Record some tools again; the others keep their numbers."""
    record = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    for tool in tools or [tool for tool in TOOLS if installed_version(tool)]:
        record[tool] = {"version": installed_version(tool), "values": computed(tool)}
    ordered = {tool: record[tool] for tool in TOOLS if tool in record}
    FILE.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
