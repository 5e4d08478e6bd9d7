"""The rest of the catalogue on random data, against pytrec_eval, ir_measures and ranx.

Scores are whole numbers: trec_eval 9, which pytrec_eval and ir_measures wrap, keeps them as
float32. ranx has no order for ties, so it gets none.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Metric, MetricError, Run, evaluate
from tests.examples import examples

ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning"),
]

DOCS = ["d1", "d2", "d10", "é", "文", "🙂", "a b", "#c", "Q0", *(f"doc{i:02}" for i in range(12))]
QUERIES = ["1", "q2", "zwölf", "q 4"]

# A query whose every grade is negative sends trec_eval 9 into an endless loop now and then.
judged = st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 4), max_size=14).map(
    lambda grades: {**grades, "zero": 0}
)
scored = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 8).map(float), min_size=1)
qrels_of = st.dictionaries(st.sampled_from(QUERIES), judged, min_size=1)
run_of = st.dictionaries(st.sampled_from([*QUERIES, "extra"]), scored, min_size=1)

PYTREC_EVAL = {
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
"""With recall levels at which trec_eval 9's rounding (see below) is that of the definition."""


@examples(120)
@given(qrels=qrels_of, run=run_of, level=st.sampled_from([1, 2]))
def test_pytrec_eval_agrees_on_every_query_that_both_have(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]], level: int
) -> None:
    assume(set(qrels) & set(run))
    families = {measure.partition("_0.")[0].partition("_1.")[0] for measure in PYTREC_EVAL}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, families, relevance_level=level).evaluate(run)
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
    for measure, name in PYTREC_EVAL.items():
        head, at, number = name.partition("@")
        ours = name if level == 1 or head == "NumRet" else f"{head}(rel={level}){at}{number}"
        values = evaluation.per_query(ours)
        for query_id, found in theirs.items():
            assert values[query_id] == pytest.approx(found[measure], abs=1e-9), (ours, query_id)


def test_a_recall_level_is_reached_and_not_rounded_down_to() -> None:
    """trec_eval 9 truncates 0.7 * 3 + 0.9 = 2.99...: two of three documents would be 0.7."""
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    run = {"q": {"a": 9.0, "b": 8.0, "x": 7.0, "c": 6.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)
    assert theirs["q"]["iprec_at_recall_0.70"] == 1
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
    assert evaluation.mean("IPrec@0.7") == 3 / 4  # a recall of 2/3 is not 0.7
    # trec_eval 10 rounds 0.7 * 3 = 2.1 to the nearest
    assert evaluation.mean("IPrec(needed=rounded)@0.7") == 1


IR_MEASURES = [
    ir_measures.Bpref,
    ir_measures.Bpref(rel=2),
    ir_measures.Rprec,
    ir_measures.Rprec(rel=2),
    ir_measures.infAP,
    ir_measures.SetP,
    ir_measures.SetR,
    ir_measures.SetF,
    ir_measures.IPrec @ 0.5,
    ir_measures.NumRet,
    ir_measures.NumRelRet,
    ir_measures.NumRel,
    ir_measures.NumQ,
    ir_measures.SetF(beta=2.0),
    ir_measures.SetAP,
    ir_measures.SetRelP,
    ir_measures.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 3, 4: 4}) @ 5,
]


@examples(40)
@given(qrels=qrels_of, run=run_of)
def test_ir_measures_agrees_with_the_mean_over_all_judged_queries(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> None:
    assume(set(qrels) <= set(run))
    theirs = ir_measures.calc_aggregate(IR_MEASURES, qrels, run)
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
    for measure in IR_MEASURES:
        ours = evaluation.mean(measure)
        assert ours == pytest.approx(theirs[measure], abs=1e-9), measure


def test_the_judged_share_of_a_short_list_is_of_k() -> None:
    """ir_measures divides by min(k, retrieved)."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "x": 1.0}}
    measure = ir_measures.Judged @ 10
    assert ir_measures.calc_aggregate([measure], qrels, run)[measure] == 0.5
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
    assert evaluation.mean(measure) == 0.5
    assert evaluation.mean("Judged@10") == 0.1
    assert evaluation.mean("Judged@2") == 0.5


# --- ranx ------------------------------------------------------------------------------------

RANX_BINARY = {"rbp.80": "RBP(p=0.8)"}
"""On binary judgments only: on graded ones ranx's exceeds 1."""

RANX = {
    "r-precision": "Rprec",
    "f1@5": "F@5",
    "ndcg@5": "nDCG@5",
    "map@5": "AP@5",
    "mrr@5": "RR@5",
}


@pytest.fixture(scope="module")
def ranx() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("ranx", reason="ranx is not installed")


@pytest.mark.parametrize(("measures", "highest"), [(RANX, 4), (RANX_BINARY, 1)])
def test_ranx_agrees_without_ties_gaps_and_negative_grades(
    ranx: object, measures: dict[str, str], highest: int
) -> None:
    random = np.random.default_rng(11)
    qrels, run = {}, {}
    for query in range(300):  # the keys in one order: ranx pairs other queries else
        chosen = random.choice(200, size=int(random.integers(1, 60)), replace=False)
        qrels[f"q{query:03}"] = {f"d{doc}": int(random.integers(1, highest + 1)) for doc in chosen}
        ranked = random.choice(200, size=int(random.integers(5, 120)), replace=False)
        run[f"q{query:03}"] = {f"d{doc}": float(-place) for place, doc in enumerate(ranked)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = ranx.evaluate(  # type: ignore[attr-defined]
            ranx.Qrels(qrels),  # type: ignore[attr-defined]
            ranx.Run(run),  # type: ignore[attr-defined]
            list(measures),
            return_mean=False,
        )
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
    rows = theirs if isinstance(theirs, dict) else dict(zip(measures, [theirs], strict=True))
    for measure, name in measures.items():
        np.testing.assert_allclose(
            evaluation.per_query(name).to_numpy(), rows[measure], atol=1e-9, err_msg=name
        )


# --- size -------------------------------------------------------------------------------------


def test_thousands_of_documents_with_ties_and_gaps() -> None:
    random = np.random.default_rng(5)
    docs = [f"d{i}" for i in range(6000)]
    qrels = {"q": {doc: int(random.integers(0, 4)) for doc in docs[::3]}}
    run = {"q": {doc: float(random.integers(0, 900)) for doc in docs}}
    names = {**PYTREC_EVAL, "map": "AP", "ndcg": "nDCG", "ndcg_cut_1000": "nDCG@1000"}
    families = {"iprec_at_recall", "map", "ndcg", "ndcg_cut"} | {
        measure for measure in PYTREC_EVAL if "iprec" not in measure
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, families).evaluate(run)["q"]
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
    for measure, name in names.items():
        assert evaluation.mean(name) == pytest.approx(theirs[measure], abs=1e-9), name


# --- what ir_measures computes ------------------------------------------------------------------


def test_metrics_outside_the_catalogue_are_computed_by_ir_measures() -> None:
    qrels = {"q": {"a": 1, "b": 2}, "r": {"a": 1}, "missing": {"a": 1}}
    run = {"q": {"x": 3.0, "b": 2.0, "a": 1.0}, "r": {"a": 1.0}}
    measure = ir_measures.Compat(p=0.8)
    theirs = {found.query_id: found.value for found in ir_measures.iter_calc([measure], qrels, run)}
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
    for asked in (measure, "ir_measures:Compat(p=0.8)", "Compat(p=0.8)"):
        values = evaluation.per_query(asked)
        assert values.to_dict() == pytest.approx({**theirs, "missing": 0})
        assert values.name == "ir_measures:Compat(p=0.8)"
    assert str(Metric.parse(str(Metric.parse(measure)))) == "ir_measures:Compat(p=0.8)"


def test_accuracy_is_success_here_and_the_object_of_that_name_is_that_of_ir_measures() -> None:
    assert str(Metric.parse("Accuracy@1")) == "Success@1"
    assert str(Metric.parse(ir_measures.Accuracy)) == "ir_measures:Accuracy"
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
    theirs = ir_measures.calc_aggregate([ir_measures.Accuracy], qrels, run)[ir_measures.Accuracy]
    assert evaluation.mean(ir_measures.Accuracy) == theirs
    assert evaluation.mean("Accuracy@2") == 1


def test_the_beta_of_set_f_is_the_square_of_ours() -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    run = {"q": {"a": 4.0, "x": 3.0}}
    measure = ir_measures.SetF(beta=2.0)
    theirs = ir_measures.calc_aggregate([measure], qrels, run)[measure]
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
    precision, recall = 1 / 2, 1 / 3
    assert theirs == pytest.approx(3 * precision * recall / (2 * precision + recall))
    for asked in (measure, "SetF(beta=2)", ir_measures.SetF(beta=2)):
        assert evaluation.mean(asked) == pytest.approx(theirs, abs=1e-12)
    assert evaluation.mean("F(beta=2)") == pytest.approx(
        5 * precision * recall / (4 * precision + recall)
    )


def test_gains_that_equal_their_grades_are_kept() -> None:
    """The text of an ir_measures object leaves them out."""
    measure = ir_measures.nDCG(gains={0: 0, 1: 1, 2: 3}) @ 5
    assert str(measure) == "nDCG(gains={2:3})@5"
    assert str(Metric.parse(measure)) == "nDCG(gain={0:0,1:1,2:3})@5"


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (ir_measures.nDCG(depth=1), "ir_measures' nDCG has no parameter 'depth'; it has cutoff"),
        (ir_measures.nDCG(dcg="exp"), "nDCG: dcg=exp is invalid"),
        (ir_measures.P, "ir_measures' P needs cutoff="),
        (ir_measures.SDCG @ 10, "ir_measures' SDCG needs max_rel="),
        (ir_measures.measures.MeanAgg(), "is not a measure of ir_measures"),
        (ir_measures.RBP(p=0.8), r"RBP only with rel; use RBP\(rel=1\)"),
    ],
    ids=["unknown", "invalid", "cutoff", "required", "no measure", "rel"],
)
def test_an_invalid_object_is_refused(measure: object, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        Metric.parse(measure)


def test_scaled_dcg_is_not_the_metric_of_sessions() -> None:
    for measure in (ir_measures.SDCG(max_rel=4) @ 10, "SDCG(max_rel=4)@10"):
        assert str(Metric.parse(measure)) == "ir_measures:SDCG(max_rel=4)@10"
    with pytest.raises(MetricError, match=r"SDCG needs max_rel=.*of sessions is sDCG"):
        Metric.parse("SDCG@10")
    assert str(Metric.parse("sDCG@10")) == "sDCG@10"


def test_the_err_of_an_object_is_that_of_gdeval() -> None:
    assert str(Metric.parse(ir_measures.ERR @ 20)) == "ERR(max_grade=4)@20"
    assert str(Metric.parse("ERR@20")) == "ERR@20"


@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_scikit_learn_knows_the_retrieved_documents_only(gain: str) -> None:
    sklearn_metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    random = np.random.default_rng(21)
    for size, missed in ((2, 3), (5, 1), (9, 6), (30, 10)):
        grades = random.integers(0, 5, size)
        grades[-1] = 2  # something is relevant
        qrels = {"q": {f"d{place}": int(grade) for place, grade in enumerate(grades)}}
        qrels["q"].update({f"missed{place}": 4 for place in range(missed)})
        run = {"q": {f"d{place}": float(-place) for place in range(size)}}
        evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
        gains = grades if gain == "linear" else 2**grades - 1
        for k in (1, 3, 10, None):
            theirs = sklearn_metrics.ndcg_score([gains], [list(run["q"].values())], k=k)
            at = "" if k is None else f"@{k}"
            ours = evaluation.mean(f"nDCG(gain={gain},ideal=retrieved){at}")
            assert ours == pytest.approx(theirs, abs=1e-12)
            assert evaluation.mean(f"nDCG(gain={gain}){at}") <= ours
