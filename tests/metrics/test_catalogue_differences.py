"""Where ir_measures, pytrec_eval and scikit-learn differ, and what ir_measures computes for us."""

import pytest

from pytest_rankcheck import GoldenSet, Metric, MetricError, Run, evaluate

ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning"),
]


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


def test_an_invalid_object_is_refused() -> None:
    for measure, message in (
        (ir_measures.nDCG(depth=1), "ir_measures' nDCG has no parameter 'depth'; it has cutoff"),
        (ir_measures.nDCG(dcg="exp"), "nDCG: dcg=exp is invalid"),
        (ir_measures.P, "ir_measures' P needs cutoff="),
        (ir_measures.SDCG @ 10, "ir_measures' SDCG needs max_rel="),
        (ir_measures.measures.MeanAgg(), "is not a measure of ir_measures"),
        (ir_measures.RBP(p=0.8), r"RBP only with rel; use RBP\(rel=1\)"),
    ):
        with pytest.raises(MetricError, match=message):
            Metric.parse(measure)


def test_scaled_dcg_is_not_the_metric_of_sessions() -> None:
    for measure in (ir_measures.SDCG(max_rel=4) @ 10, "SDCG(max_rel=4)@10"):
        assert str(Metric.parse(measure)) == "ir_measures:SDCG(max_rel=4)@10"
    with pytest.raises(MetricError, match="SDCG needs max_rel="):
        Metric.parse("SDCG@10")
    assert str(Metric.parse("sDCG@10")) == "sDCG@10"


def test_the_err_of_an_object_is_that_of_gdeval() -> None:
    assert str(Metric.parse(ir_measures.ERR @ 20)) == "ERR(max_grade=4)@20"
    assert str(Metric.parse("ERR@20")) == "ERR@20"
