"""The names that other tools use, and what to write here: the rows of docs/metric-names.md.

The numbers beside them are recorded by ``other_tools.py`` and compared by ``test_name_tables.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["INTRODUCTIONS", "ROWS", "Row"]


@dataclass(frozen=True)
class Row:
    """A name of another tool."""

    name: str
    ours: str = ""
    """What to write here; empty if we do not have the metric."""
    note: str = ""
    """What differs, or what the name means if we do not have the metric."""
    differs: bool = False
    """Whether the two numbers differ; otherwise they agree."""
    binary: bool = False
    """Whether the numbers are of the example with grades of 0 and 1."""
    listed: bool = False
    """Whether the numbers are of the example in which only ranked documents are judged."""
    top: int | None = None
    """The depth at which our run is cut before it is evaluated."""
    all_queries: bool | None = None
    """Whether missing queries count; by default, as for the other names of the tool."""
    read_as: str = ""
    """The metric that the name means here, if that is not ``ours``."""


INTRODUCTIONS = {
    "trec_eval": (
        True,
        (
            "Version 10.0-rc3, with `-c`, so that all five queries count. Its names work here, "
            "except with a number after `set_F`; the error says what to write. "
            "With `-l`, which is `rel=` here, its `rbp` ignores the level; ours does not."
        ),
    ),
    "ir_measures": (
        True,
        (
            "All five queries count. An ir_measures object gives the number of ir_measures, except "
            "among ties for `RR@3` and `Judged@3`, at recall levels that it rounds wrongly, and "
            "for the mean of `Accuracy@3`, which leaves out queries without a value; here they "
            "count as 0. A name that both have keeps our meaning, as the last column says."
        ),
    ),
    "ranx": (
        False,
        (
            "ranx refuses a run that lacks a query, so four queries count. A suffix `-l2` is "
            "`rel=2` here; for ndcg and dcg it also sets lower grades to 0, which has no equal."
        ),
    ),
    "scikit-learn": (
        False,
        (
            "Its functions see one query as two arrays, the grades and the scores of the ranked "
            "documents; documents that were not retrieved do not exist. Ties share the mean of "
            "their gains; here the document id decides."
        ),
    ),
    "LightGBM": (
        False,
        (
            "It ranks the rows of a group and knows no other documents. A group without a relevant "
            "row counts as 1; here the query scores 0."
        ),
    ),
    "RecTools": (
        True,
        (
            "Users are queries, and the users of the interactions count, so all five queries do. "
            "There are no grades: every interaction is relevant."
        ),
    ),
    "BEIR": (
        False,
        (
            "`EvaluateRetrieval.evaluate` takes the mean over the four ranked queries; the metrics "
            "of `evaluate_custom` divide by all five. Values are rounded to five decimals."
        ),
    ),
    "torchmetrics": (
        False,
        (
            "It sees the grades and scores of the ranked documents only, like scikit-learn. A "
            "query without a relevant document is 0 by default (`empty_target_action`)."
        ),
    ),
    "ragas": (
        False,
        (
            "A sample is a query, and its retrieved contexts are the documents: here, the first "
            "three. The number recorded for `ContextPrecision` is that of its own formula with our "
            "judgments in place of the verdicts of a language model. Metrics of the answer, such "
            "as Faithfulness, are not ranking metrics."
        ),
    ),
    "LlamaIndex": (
        False,
        "It has no cutoff: the retriever returns the first three documents. There are no grades.",
    ),
    "MTEB": (
        False,
        "The mean is over the four ranked queries. Values are rounded to five decimals.",
    ),
}
"""For each tool, whether missing queries count, and a note on all its names."""

_SUM = "a sum over the queries; `{}` is the mean"
_NOT_HERE = "not a ranking metric of judgments"
_DIVERSITY = "golden sets have no subtopics: all documents have the same one"
_RETRIEVED = "only retrieved documents count"
_LISTED = f"{_RETRIEVED}; both numbers are of a golden set without the others"
_CAPPED = "relevant in the top k / min(k, relevant); no equal"
_DEPTH = "evaluate `run.top(3)`: it divides by the number of returned documents"


def _there(*names: str, note: str = "computed by ir_measures") -> tuple[Row, ...]:
    return tuple(Row(name, f"ir_measures:{name}", note) for name in names)


ROWS: dict[str, tuple[Row, ...]] = {
    "trec_eval": (
        Row("map", "AP"),
        Row("map_cut_3", "AP@3"),
        Row("gm_map", "GMAP"),
        Row("Rprec", "Rprec"),
        Row("bpref", "Bpref"),
        Row("recip_rank", "RR"),
        Row("infAP", "infAP"),
        Row("dcg", "DCG"),
        Row("ndcg", "nDCG"),
        Row("ndcg_cut_3", "nDCG@3"),
        Row("P_3", "P@3"),
        Row("recall_3", "R@3"),
        Row("success_3", "Success@3"),
        Row("unj_3", "Unjudged@3", "not 1 - `Judged@3` for a ranking shorter than 3"),
        Row("iprec_at_recall_0.30", "IPrec(needed=rounded)@0.3"),
        Row("set_P", "P"),
        Row("set_recall", "R"),
        Row("set_F", "F"),
        Row("set_F_4.0", "F(beta=2)", "its parameter is the square of beta"),
        Row("num_ret", "TotalRet", _SUM.format("NumRet")),
        Row("num_rel", "TotalRel", _SUM.format("NumRel")),
        Row("num_rel_ret", "TotalRelRet", _SUM.format("NumRelRet")),
        Row("rbp", "RBP(p=0.9)", "`RBP` has p = 0.8", binary=True),
        Row(
            "rbp_resid",
            "RBPResidual(p=0.9)",
            "it is 0 instead of 1 for an empty ranking, and 0 if every retrieved document is judged",
            differs=True,
            binary=True,
        ),
        Row(
            "rbp (graded)",
            "RBP(p=0.9,graded=true,max_grade=query)",
            "`rbp` on grades above 1 reads memory that was never written; this is where it was 0",
        ),
        Row("11pt_avg", note="the mean of `IPrec(needed=rounded)@0`, `@0.1`, ... `@1`"),
        Row("ideal_dcg", note="`DCG` / `nDCG` of each query"),
        Row("ndcg_p", note="nDCG with named parameters; use `nDCG(gain=...)`"),
        Row("num_q", note="`len(golden)`"),
        Row("num_nonrel_judged_ret", note="a sum; use `Judged` and `NumRelRet`"),
        Row("gm_bpref", note="the geometric mean of `Bpref`"),
        Row("Rprec_mult_0.50", note="precision at half of m; use `Rprec`"),
        Row("utility", note="relevant minus not relevant; use `P`"),
        Row("relative_P_3", note=_CAPPED),
        Row("set_relative_P", note="relevant / min(retrieved, relevant); no equal"),
        Row("set_map", note="P times R of each query"),
        Row("ndcg_rel", note="experimental in trec_eval; use `nDCG`"),
        Row("Rndcg", note="experimental in trec_eval; use `nDCG`"),
        Row("G", note="experimental in trec_eval; use `nDCG`"),
        Row("binG", note="experimental in trec_eval; use `AP` or `RBP`"),
        Row("runid", note="not a metric"),
        Row("relstring", note="not a metric; reports show the grades by rank"),
        Row("yaap", note="smoothed average precision, a logarithm; use `AP` or `GMAP`"),
        Row("prefs_simp", note="and the other `prefs_...`: judgments of preference"),
        Row("map_avgjg", note="and the other `..._avgjg`: several judges for one document"),
    ),
    "ir_measures": (
        Row("AP", "AP"),
        Row("AP@3", "AP@3"),
        Row("AP(rel=2)", "AP(rel=2)"),
        Row("MAP@3", "AP@3"),
        Row("Bpref", "Bpref"),
        Row("BPref", "Bpref"),
        Row(
            "ERR@3",
            "ERR(max_grade=4)@3",
            "its scale always ends at 4; `ERR` takes the golden set's",
            read_as="ERR@3",
        ),
        Row("infAP", "infAP"),
        Row("IPrec@0.3", "IPrec@0.3", "trec_eval 9's rounding fails at some levels, such as 0.7"),
        Row(
            "Judged@3",
            "Judged@3",
            "it divides by the length of a shorter ranking, counts negative grades as judged",
            differs=True,
        ),
        Row("nDCG", "nDCG"),
        Row("nDCG@3", "nDCG@3"),
        Row("NDCG@3", "nDCG@3"),
        Row("nDCG(dcg='exp-log2')@3", "nDCG(gain=exponential)@3"),
        Row(
            "nDCG(gains={0: 0, 1: 1, 2: 3, 3: 9})@3",
            "nDCG(gain={0:0,1:1,2:3,3:9})@3",
            "a grade without an entry is an error here, and keeps its value there",
        ),
        Row("NumQ", "ir_measures:NumQ", "a missing query is not counted; `len(golden)` counts it"),
        Row(
            "NumRel",
            "TotalRel",
            "a sum in which a missing query is not counted; `NumRel` is our mean",
            differs=True,
            read_as="NumRel",
        ),
        Row("NumRet", "TotalRet", _SUM.format("NumRet"), read_as="NumRet"),
        Row("NumRelRet", "TotalRelRet", _SUM.format("NumRelRet"), read_as="NumRelRet"),
        Row("P@3", "P@3"),
        Row("Precision@3", "P@3"),
        Row("P(rel=2)@3", "P(rel=2)@3"),
        Row("P(judged_only=True)@3", "P(judged_only=true)@3"),
        Row("R@3", "R@3"),
        Row("Recall@3", "R@3"),
        Row("RBP(rel=1)", "RBP(rel=1)", "without rel, it cannot be computed there"),
        Row("Rprec", "Rprec"),
        Row("RPrec", "Rprec"),
        Row("RR", "RR"),
        Row("MRR", "RR"),
        Row("RR@3", "RR@3", "among ties it takes the document ids in the other direction"),
        Row("SetP", "P"),
        Row("SetR", "R"),
        Row("SetF", "F"),
        Row("SetF(beta=4.0)", "F(beta=2)", "its beta is the square of ours"),
        Row("Success@3", "Success@3"),
        Row(
            "Accuracy@3",
            "ir_measures:Accuracy@3",
            "the probability that a relevant document is above another; a query with no retrieved "
            "relevant document is left out of its mean and scores 0 here; the name `Accuracy@3` is "
            "`Success@3`, as in learning to rank",
            differs=True,
            read_as="Success@3",
        ),
        Row(
            "SDCG(max_rel=3)@3",
            "ir_measures:SDCG(max_rel=3)@3",
            "scaled DCG; `sDCG` is a metric of sessions",
        ),
        *_there("SetRelP", "SetAP", "Compat(p=0.8)"),
        *_there(
            *("BPM(T=1.0,max_rel=3)@3", "INST(max_rel=3)", "INSQ(max_rel=3)"),
            *("NERR8(max_rel=3)@3", "NERR9(max_rel=3)@3", "NERR10(max_rel=3)", "NERR11(max_rel=3)"),
        ),
        *_there(
            *("AP_IA", "MAP_IA", "P_IA@3", "ERR_IA@3", "nERR_IA@3", "alpha_DCG@3", "α_DCG@3"),
            *("alpha_nDCG@3", "α_nDCG@3", "NRBP", "nNRBP", "StRecall@3"),
            note=_DIVERSITY,
        ),
    ),
    "ranx": (
        Row("hits@3", "NumRelRet@3"),
        Row("hit_rate@3", "Success@3"),
        Row("precision@3", "P@3"),
        Row("recall@3", "R@3"),
        Row("f1@3", "F@3"),
        Row("r-precision", "Rprec"),
        Row("bpref", "Bpref", "NaN there if no document is judged not relevant, as for query 3"),
        Row("rbp.80", "RBP(p=0.8)", "on grades above 1 it exceeds 1", binary=True),
        Row("mrr@3", "RR@3"),
        Row("map@3", "AP@3"),
        Row("dcg@3", "DCG@3"),
        Row("dcg_burges@3", "DCG(gain=exponential)@3"),
        Row("ndcg", "nDCG"),
        Row("ndcg@3", "nDCG@3"),
        Row("ndcg_burges@3", "nDCG(gain=exponential)@3"),
    ),
    "scikit-learn": (
        Row("ndcg_score", "nDCG(ideal=retrieved)", _RETRIEVED),
        Row("ndcg_score(k=3)", "nDCG(ideal=retrieved)@3", _RETRIEVED),
        Row("dcg_score(k=3)", "DCG@3"),
        Row("label_ranking_average_precision_score", "AP(divide=retrieved)", _RETRIEVED),
        Row("average_precision_score", "AP(divide=retrieved)", f"per query; {_RETRIEVED}"),
        Row("coverage_error", note="the rank of the last relevant document; no equal"),
        Row(
            "label_ranking_loss",
            "KendallDistance(normalised=graded)",
            "on grades of 0 and 1; there, an unjudged document counts as judged 0",
            binary=True,
            listed=True,
        ),
        Row("roc_auc_score", note="per query 1 - `KendallDistance(normalised=graded)`"),
        Row("top_k_accuracy_score", note="`Success@3`, if each query has one relevant document"),
    ),
    "LightGBM": (
        Row("ndcg@1", "nDCG(gain=exponential,ideal=retrieved)@1", _RETRIEVED, read_as="nDCG@1"),
        Row("ndcg@3", "nDCG(gain=exponential,ideal=retrieved)@3", _RETRIEVED, read_as="nDCG@3"),
        Row(
            "map@1",
            "AP(divide=min)@1",
            _LISTED,
            listed=True,
            read_as="AP@1",
        ),
        Row(
            "map@3",
            "AP(divide=min)@3",
            _LISTED,
            listed=True,
            read_as="AP@3",
        ),
        Row(
            "lambdarank", note="and rank_xendcg, xendcg, xe_ndcg, xendcg_mart: other names of ndcg"
        ),
        Row("mean_average_precision", note="another name of map"),
        Row("auc", note="and average_precision, auc_mu: over all rows, not by query"),
    ),
    "RecTools": (
        Row("Precision(k=3)", "P@3"),
        Row("Precision(k=3, r_precision=True)", note=_CAPPED),
        Row("Recall(k=3)", "R@3"),
        Row("F1Beta(k=3)", "F@3"),
        Row("HitRate(k=3)", "Success@3"),
        Row("MRR(k=3)", "RR@3"),
        Row("MAP(k=3)", "AP@3"),
        Row("MAP(k=3, divide_by_k=True)", note="divides by k; `AP(divide=min)@3` is close"),
        Row(
            "NDCG(k=3)",
            "nDCG@3",
            "its ideal ranking has k relevant documents, also where fewer exist",
            differs=True,
            binary=True,
        ),
        Row("NDCG(k=3, divide_by_achievable=True)", "nDCG@3", "without grades", binary=True),
        Row("PAP(k=3)", note="partial area under the curve of precision; no equal"),
        Row("PartialAUC(k=3)", note="no equal"),
        Row("Accuracy(k=3)", note="of the whole catalogue: true positives and negatives"),
        Row("MCC(k=3)", note="Matthews correlation of the whole catalogue"),
        Row(
            "CatalogCoverage(k=3, normalize=True)",
            note="it needs the catalogue; `Distinct@3` is close",
        ),
        Row("MeanInvUserFreq", note="novelty, from interactions; `HeadShare` is close"),
        Row("AvgRecPopularity", note="popularity, from interactions; `HeadShare` is close"),
        Row("IntraListDiversity", note="needs distances of documents"),
        Row("Serendipity", note="needs interactions"),
        Row("Intersection", note="`overlap(first, second, k=3)` of two rankings"),
        Row("CoveredUsers", note="1 - `NoResults`"),
        Row("SufficientReco", note="`NumRet@3` / 3"),
        Row("UnrepeatedReco", note="duplicates in a ranking are an error here"),
    ),
    "BEIR": (
        Row("NDCG@3", "nDCG@3"),
        Row("MAP@3", "AP@3"),
        Row("Recall@3", "R@3"),
        Row("P@3", "P@3"),
        Row("MRR@3", "RR@3", all_queries=True),
        Row("Accuracy@3", "Success@3", all_queries=True),
        Row("R_cap@3", note=_CAPPED),
        Row(
            "Hole@3",
            "Unjudged@3",
            "there, a document judged for any query is not a hole",
            all_queries=True,
        ),
    ),
    "torchmetrics": (
        Row("RetrievalMAP", "AP(divide=retrieved)", _RETRIEVED),
        Row("RetrievalMAP(top_k=3)", "AP(divide=retrieved)@3", _RETRIEVED),
        Row("RetrievalMRR", "RR"),
        Row("RetrievalMRR(top_k=3)", "RR@3"),
        Row("RetrievalPrecision(top_k=3)", "P@3"),
        Row("RetrievalPrecision(top_k=3, adaptive_k=True)", "P", _DEPTH, top=3),
        Row("RetrievalRecall(top_k=3)", "R@3", _LISTED, listed=True),
        Row("RetrievalHitRate(top_k=3)", "Success@3"),
        Row("RetrievalRPrecision", "Rprec", _LISTED, listed=True),
        Row("RetrievalNormalizedDCG", "nDCG(ideal=retrieved)", _RETRIEVED),
        Row("RetrievalNormalizedDCG(top_k=3)", "nDCG(ideal=retrieved)@3", _RETRIEVED),
        Row("RetrievalFallOut(top_k=3)", note="not relevant in the top k / all not relevant"),
        Row("RetrievalAUROC", note="per query 1 - `KendallDistance(normalised=graded)`"),
        Row("RetrievalPrecisionRecallCurve", note="a curve; `P@k` and `R@k` are its points"),
        Row("RetrievalRecallAtFixedPrecision", note="a point of that curve; no equal"),
    ),
    "ragas": (
        Row("ContextPrecision", "AP(divide=retrieved)@3", read_as="AP(divide=retrieved)"),
        Row("NonLLMContextPrecisionWithReference", "AP(divide=retrieved)@3", "with equal texts"),
        Row("IDBasedContextPrecision", "P", _DEPTH, top=3),
        Row(
            "ContextRecall",
            "R@3",
            "claims of the reference answer there, relevant documents here; a language model "
            "decides, so no number is recorded",
            read_as="R",
        ),
        Row("NonLLMContextRecall", "R@3", "with equal texts"),
        Row("IDBasedContextRecall", "R@3"),
        Row("ContextUtilization", note="ContextPrecision judged by the answer; a model decides"),
        Row("ContextEntityRecall", note=f"entities in texts: {_NOT_HERE}"),
        Row("ContextRelevance", note="the verdict of a language model on a query's contexts"),
        Row("NoiseSensitivity", note=f"of answers: {_NOT_HERE}"),
    ),
    "LlamaIndex": (
        Row("hit_rate", "Success@3", read_as="Success"),
        Row("hit_rate (granular)", "R@3", "use_granular_hit_rate=True"),
        Row("mrr", "RR@3", read_as="RR"),
        Row("mrr (granular)", note="use_granular_mrr=True: the mean of 1 / rank of all relevant"),
        Row("precision", "P", _DEPTH, top=3),
        Row("recall", "R@3", read_as="R"),
        Row("ap", "AP@3", read_as="AP"),
        Row(
            "ndcg",
            "nDCG@3",
            "its ideal ranking has as many relevant documents as were returned",
            differs=True,
            binary=True,
            read_as="nDCG",
        ),
        Row("cohere_rerank_relevancy", note="the score of a model: not a metric of judgments"),
    ),
    "MTEB": (
        Row("ndcg_at_3", "nDCG@3"),
        Row("map_at_3", "AP@3"),
        Row("recall_at_3", "R@3"),
        Row("precision_at_3", "P@3"),
        Row("mrr_at_3", "RR@3"),
        Row("hit_rate_at_3", "Success@3"),
        Row("accuracy", "R@1", "another name of recall_at_1", read_as="Success"),
        Row("nauc_ndcg_at_3_max", note="and the other `nauc_...`: how well scores tell confidence"),
    ),
}
