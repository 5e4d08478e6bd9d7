"""The grammar of metric names: what parses, what it prints as, and what is refused."""

import copy
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import Metric, MetricError
from pytest_rankcheck.metrics.metric_registry import definitions

CANONICAL = {
    "NDCG@10": "nDCG@10",
    "MRR": "RR",
    "MAP": "AP",
    "Hit@1": "Success@1",
    " nDCG ( gain = exponential ) @ 10 ": "nDCG(gain=exponential)@10",
    "nDCG(gain=linear)@10": "nDCG@10",
    "AP(divide=relevant,judged_only=false)": "AP",
    "nDCG(gain=Exponential)": "nDCG(gain=exponential)",
    "nDCG(gain='exponential')": "nDCG(gain=exponential)",
    "P(judged_only=True)@5": "P(judged_only=true)@5",
    "AP(divide=min,rel=2.0)@100": "AP(rel=2,divide=min)@100",
    "RR(rel=-1)": "RR(rel=-1)",
    "nDCG(discount=power(1.5))@10": "nDCG(discount=power(1.5))@10",
    "nDCG(discount=zipf(1, 2))@10": "nDCG(discount=zipf(1,2))@10",
    "nDCG(gain={2:9, 1:3})@10": "nDCG(gain={1:3,2:9})@10",
    "ERR(stop=sigmoid(1,0.5),max_grade=4)@20": "ERR(max_grade=4,stop=sigmoid(1,0.5))@20",
    "rbp(p=0.5)": "RBP(p=0.5)",
    "HR@5": "Success@5",
    "ContextPrecision@5": "AP(divide=retrieved)@5",
    "ContextRecall@5": "R@5",
    "recall_at_10": "R@10",
    "F1@5": "F@5",
    "ndcg_burges@5": "nDCG(gain=exponential)@5",
    "SetF(beta=2)": "F(beta=1.4142135623730951)",
    "setf(beta=4,rel=2)": "F(beta=2,rel=2)",
    "nDCG(dcg='log2')@10": "nDCG@10",
    "nDCG(dcg='exp-log2')@10": "nDCG(gain=exponential)@10",
    "nDCG(gains={1:3,2:9})@5": "nDCG(gain={1:3,2:9})@5",
    "map": "AP",
    "recip_rank": "RR",
    "ndcg_cut_10": "nDCG@10",
    "iprec_at_recall_0.10": "IPrec(needed=rounded)@0.1",
    "num_ret": "TotalRet",
    "unj_5": "Unjudged@5",
    "rbp_resid": "RBPResidual(p=0.9)",
    "rbp": "RBP(p=0.9)",  # trec_eval's rbp has another p; only the case tells it from RBP
    "Rbp": "RBP",
}


def test_a_name_prints_in_canonical_form() -> None:
    for written, canonical in CANONICAL.items():
        metric = Metric.parse(written)
        assert str(metric) == canonical
        assert Metric.parse(canonical) == metric
        assert hash(Metric.parse(canonical)) == hash(metric)


def test_a_metric_can_be_made_from_its_parts() -> None:
    assert Metric.of("MAP", 100, rel=2, divide=None) == Metric.parse("AP(rel=2)@100")
    assert Metric.of("nDCG", gain={1: 3, 2: 9}) == Metric.parse("nDCG(gain={1:3,2:9})")
    assert Metric.of("nDCG", 10, gain="exponential") == Metric.parse("nDCG(gain=exponential)@10")


# --- every registered metric -----------------------------------------------------------------


def test_every_name_and_alias_is_known_in_any_case() -> None:
    for entry in definitions().values():
        required = {key: "0.5" for key, each in entry.parameters.items() if each.is_required}
        if "abandoned" in required:
            required["abandoned"] = "zero"
        level = "@0.5" if entry.at == "recall" else ""
        brackets = f"({', '.join(f'{key}={value}' for key, value in required.items())})"
        for word in (entry.name, *entry.aliases):
            for spelling in {word, word.lower(), word.upper()} - {"SDCG"}:  # that of ir_measures
                metric = Metric.parse(spelling + brackets * bool(required) + level)
                assert metric.definition is entry
                assert Metric.parse(str(metric)) == metric


def test_every_metric_has_a_description() -> None:
    assert {"nDCG", "RR", "AP", "P", "R", "Success", "ERR"} <= set(definitions())
    for entry in definitions().values():
        assert entry.summary.endswith((".", "k")), entry.name
        assert entry.reference, entry.name
        assert entry.range[0] < entry.range[1], entry.name
        for parameter in entry.parameters.values():
            assert parameter.allowed, (entry.name, parameter.name)
            assert parameter.description, (entry.name, parameter.name)


# --- what is refused -----------------------------------------------------------------------------


REFUSED = {
    "nDCGG@10": r"unknown metric 'nDCGG'; did you mean 'nDCG'\?",
    "Zebra": r"unknown metric 'Zebra'; known metrics: .*nDCG",
    "nDCG(gian=linear)": r"nDCG has no parameter 'gian'; did you mean 'gain'\?",
    "P(xyz=1)": r"P has no parameter 'xyz'; it has rel, judged_only",
    "nDCG(gain=exponental)": r"gain=exponental is invalid; did you mean 'exponential'\?",
    "nDCG(gain=3)": r"gain=3 is invalid; gain takes linear, exponential, or a mapping",
    "nDCG(gain=(1,2))": r"gain=\(1, 2\) is invalid; gain takes linear, exponential, or a",
    "AP(rel=(1,2))": r"rel=\(1, 2\) is invalid; rel takes a number",
    "nDCG(gain={1:2,**x})": "not a metric name|is invalid",
    "nDCG(discount=power(1,2))": r"power takes 1 argument\(s\)",
    "nDCG(dcg='exp')": r"dcg=exp is invalid; dcg takes log2 or exp-log2",
    "AP(rel=high)": r"rel=high is invalid; rel takes a number",
    "AP(divide=5)": r"divide takes relevant, retrieved or min",
    "P(judged_only=1)": r"judged_only takes true or false",
    "ERR(max_grade=0)": "max_grade takes a number above 0",
    "nDCG@0": r"nDCG@0: a cutoff must be a whole number of at least 1",
    "nDCG@1.5": r"nDCG@1.5: a cutoff must be a whole number",
    "nDCG(rel=2)": "nDCG has no parameter 'rel'",
    "IPrec": "IPrec needs a recall level after the @, as in IPrec@0.1",
    "IPrec@1.5": "recall=1.5 is invalid; recall takes a number from 0 to 1",
    "NumRel@5": "NumRel@5: NumRel has no cutoff",
    "Coverage@10": "'Coverage' is not a metric here: CatalogCoverage is .*Distinct",
    "hits@10": r"it is a count in ranx \(here NumRelRet\)",
    "11pt_avg": r"'11pt_avg' is not a metric here: take the mean of IPrec\(needed=rounded\)@0",
    "relative_P_5": "'relative_P_5' is not a metric here: use P",
    "nDCG(cutoff=10)": "write the cutoff after an @, as in nDCG@10",
    "SetF(beta=0)": "beta=0 is invalid; beta takes a number above 0",
    "RBP(p=1)": "p=1 is invalid; p takes a number between 0 and 1",
    "KendallTau(ties=d)": "ties takes a, b or c",
    "nDCG(linear)": "write parameters with their names",
    "nDCG(**{'gain': 1})": "not a metric name",
    "nDCG(gain=linear,gain=linear)": "duplicate parameter",
    "": "not a metric name",
    "nDCG(gain=linear": "not a metric name",
    "nDCG+AP": "not a metric name",
    "nDCG@10\nAP": "not a metric name",
}


def test_an_invalid_name_is_refused_with_a_reason() -> None:
    for name, message in REFUSED.items():
        with pytest.raises(MetricError, match=message):
            Metric.parse(name)
    for thing in (None, 10, ["nDCG"], b"nDCG", object):
        with pytest.raises(MetricError, match="is invalid; give a name such as 'nDCG@10'"):
            Metric.parse(thing)
    monstrous = ("nDCG" * 1000, "(" * 900, "nDCG(gain=" + "{1:" * 300, "P(rel=" + "9" * 900 + ")")
    for name in monstrous:
        with pytest.raises(MetricError) as failure:
            Metric.parse(name)
        assert len(str(failure.value)) < 500


def test_nothing_in_a_name_is_evaluated(tmp_path: Path) -> None:
    trap = tmp_path / "touched"
    touch = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    for code in (
        *(touch, f"nDCG(gain={touch})", f"nDCG@{touch}", f"nDCG(gain={{1: {touch}}})"),
        *(f"nDCG(discount=power({touch}))", f"(lambda: {touch})()", f"nDCG if {touch} else AP"),
    ):
        with pytest.raises(MetricError):
            Metric.parse(code)
        assert not trap.exists()


words = [
    *("nDCG", "AP", "P", "2.5", "true", "gain", "rel", "power", "dcg", "stop"),
    *("(", ")", "@", "{", "}", ":", ",", "=", "1", "-", "'", "["),
]
scrambles = st.lists(st.sampled_from(words), max_size=14).map("".join)


@given(st.text(max_size=60) | scrambles)
def test_any_text_is_a_metric_or_a_metric_error(text: str) -> None:
    try:
        metric = Metric.parse(text)
    except MetricError:
        return
    assert Metric.parse(str(metric)) == metric


def test_a_metric_is_made_from_its_name() -> None:
    metric = Metric.parse("nDCG@10")
    assert Metric.parse(metric) is metric
    assert (metric.name, metric.cutoff, metric.higher_is_better) == ("nDCG", 10, True)
    assert copy.copy(metric) == pickle.loads(pickle.dumps(metric)) == metric
    with pytest.raises(MetricError, match=r"write Metric.parse\('nDCG@10'\)"):
        Metric("nDCG@10")  # type: ignore[arg-type]
    with pytest.raises(MetricError, match=r"the metric 10 \(int\) is invalid; give a name such as"):
        Metric.parse(10)
