"""Random data against ir_measures, pytrec_eval and scikit-learn, where the conventions agree.

Scores are whole numbers: trec_eval 9, which these libraries wrap, keeps them as float32.
"""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Run, evaluate
from tests.examples import examples, run_of
from tests.oracles.other_tools import ir_measure
from tests.oracles.peer_values import FAMILIES, IR_MEASURES, PYTREC_EVAL

ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning"),
]

DOCS = [f"d{i:02}" for i in range(14)]
QUERIES = ["q1", "q2", "q3", "q4"]

# A query whose every grade is negative sends trec_eval 9, inside pytrec_eval, into an endless loop
# (now and then: it reads memory that it never wrote), so that each has one document of grade 0.
judged = st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 4), max_size=10).map(
    lambda grades: {**grades, "zero": 0}
)
scored = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 6).map(float), min_size=1)
"""Documents of all kinds: judged or not, retrieved or not, with many ties."""

qrels_of = st.dictionaries(st.sampled_from(QUERIES), judged, min_size=1)
runs = st.dictionaries(st.sampled_from([*QUERIES, "extra"]), scored, min_size=1)


@examples(150)
@given(qrels=qrels_of, run=runs, level=st.sampled_from([1, 2]))
def test_pytrec_eval_agrees_on_every_query_that_both_have(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]], level: int
) -> None:
    assume(set(qrels) & set(run))
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, FAMILIES, relevance_level=level)
    theirs = evaluator.evaluate(run)
    evaluation = evaluate(run_of(run), GoldenSet.from_dict(qrels))
    for measure, name in PYTREC_EVAL.items():
        head, at, cutoff = name.partition("@")
        ours = (
            name if head in ("nDCG", "NumRet") or level == 1 else f"{head}(rel={level}){at}{cutoff}"
        )
        values = evaluation.per_query(ours)
        for query_id, found in theirs.items():
            assert values[query_id] == pytest.approx(found[measure], abs=1e-9), (ours, query_id)
    # what pytrec_eval leaves out is an empty ranking here
    for query_id in set(qrels) - set(run):
        assert evaluation.per_query("nDCG")[query_id] == 0


# RR@k of ir_measures breaks ties the other way round, so it is not among these.
MEASURES = [
    *(ir_measure(name) for name in IR_MEASURES),
    ir_measures.SetF(beta=2.0),
    ir_measures.NumRet,
    ir_measures.NumRelRet,
    ir_measures.SetAP,
    ir_measures.SetRelP,
    ir_measures.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 3, 4: 4}) @ 5,
]


@examples(60)
@given(qrels=qrels_of, run=runs)
def test_ir_measures_agrees_with_the_mean_over_all_judged_queries(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> None:
    assume(set(qrels) & set(run))
    evaluation = evaluate(run_of(run), GoldenSet.from_dict(qrels))
    for measure in MEASURES:
        # One at a time: beside others NumRet may count judged documents only, by their hash order.
        theirs = ir_measures.calc_aggregate([measure], qrels, run)[measure]
        assert evaluation.mean(measure) == pytest.approx(theirs, abs=1e-9), measure


grades_of = st.lists(st.integers(0, 4), min_size=2, max_size=9)


@examples(100)
@given(grades=grades_of, cutoff=st.integers(1, 12), order=st.randoms(use_true_random=False))
def test_scikit_learn_agrees_where_all_documents_are_judged_retrieved_and_untied(
    grades: list[int], cutoff: int, order: object
) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    assume(any(grades))
    scores = list(range(len(grades)))
    order.shuffle(scores)  # type: ignore[attr-defined]
    docs = [f"d{i}" for i in range(len(grades))]
    golden = GoldenSet.from_dict({"q": dict(zip(docs, grades, strict=True))})
    best_first = sorted(zip(map(float, scores), docs, strict=True), reverse=True)
    run = Run.from_dict({"q": {doc: score for score, doc in best_first}})
    evaluation = evaluate(run, golden)
    theirs = metrics.ndcg_score([grades], [scores], k=cutoff)
    assert evaluation.mean(f"nDCG@{cutoff}") == pytest.approx(theirs, abs=1e-12)
    gains = [2**grade - 1 for grade in grades]
    theirs = metrics.ndcg_score([gains], [scores], k=cutoff)
    assert evaluation.mean(f"nDCG(gain=exponential)@{cutoff}") == pytest.approx(theirs, abs=1e-12)
    # another base of the logarithm cancels; dcg_score confirms it on the quotient
    base = 3.5
    quotient = metrics.dcg_score([grades], [scores], k=cutoff, log_base=base) / metrics.dcg_score(
        [grades], [grades], k=cutoff, log_base=base, ignore_ties=True
    )
    ours = evaluation.mean(f"nDCG(discount=log({base}))@{cutoff}")
    assert ours == pytest.approx(quotient, abs=1e-12)


# --- where the others differ, our documented value ----------------------------------------------


def test_tied_documents_are_in_descending_order_of_id_also_under_a_cutoff() -> None:
    """ir_measures takes the ascending order for RR@k, the descending one for RR."""
    qrels, run = {"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    ours = evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels))
    assert ours.mean("RR") == ours.mean("RR@10") == 1
    assert ir_measures.calc_aggregate([ir_measures.RR], qrels, run)[ir_measures.RR] == 1
    cut = ir_measures.RR @ 10
    assert ir_measures.calc_aggregate([cut], qrels, run)[cut] == 0.5


def test_scores_closer_than_float32_are_not_tied() -> None:
    qrels = {"q": {"a": 1}}
    run = {"q": {"a": 1.0 + 1e-12, "b": 1.0}}
    assert evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels)).mean("RR") == 1
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    assert theirs["q"]["recip_rank"] == 0.5
