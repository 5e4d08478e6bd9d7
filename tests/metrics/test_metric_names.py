"""The grammar of metric names: what parses, what it prints as, and what is refused."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import Metric, MetricError
from pytest_rankcheck.metrics.metric_parameters import (
    AnyCheck,
    CallCheck,
    NumberCheck,
    ParameterCheck,
    WordCheck,
    flag,
    mapping,
)
from pytest_rankcheck.metrics.metric_registry import definitions


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("nDCG", "nDCG"),
        ("nDCG@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg@10", "nDCG@10"),
        ("MRR", "RR"),
        ("mrr@10", "RR@10"),
        ("MAP", "AP"),
        ("map@100", "AP@100"),
        ("Hit@1", "Success@1"),
        ("HitRate@1", "Success@1"),
        ("Accuracy@1", "Success@1"),
        ("precision@5", "P@5"),
        ("RECALL@5", "R@5"),
        ("err@20", "ERR@20"),
        # spaces are free
        (" nDCG ( gain = exponential ) @ 10 ", "nDCG(gain=exponential)@10"),
        # explicit defaults are left out
        ("nDCG(gain=linear)@10", "nDCG@10"),
        ("AP(divide=relevant,judged_only=false)", "AP"),
        ("nDCG(judged_only=False)", "nDCG"),
        # words ignore case and may be quoted
        ("nDCG(gain=Exponential)", "nDCG(gain=exponential)"),
        ("nDCG(gain='exponential')", "nDCG(gain=exponential)"),
        ("P(judged_only=True)@5", "P(judged_only=true)@5"),
        ("P(judged_only=true)@5", "P(judged_only=true)@5"),
        # parameters are in the metric's order, numbers in their shortest form
        ("AP(divide=min,rel=2.0)@100", "AP(rel=2,divide=min)@100"),
        ("AP(rel=0.50)", "AP(rel=0.5)"),
        ("RR(rel=-1)", "RR(rel=-1)"),
        # an explicit relevance level is a choice of its own, whatever the grades are
        ("AP(rel=1)", "AP(rel=1)"),
        ("nDCG(discount=power(1.5))@10", "nDCG(discount=power(1.5))@10"),
        ("nDCG(discount=zipf(1, 2))@10", "nDCG(discount=zipf(1,2))@10"),
        ("nDCG(discount=log(10))", "nDCG(discount=log(10))"),
        ("nDCG(gain={2:9, 1:3})@10", "nDCG(gain={1:3,2:9})@10"),
        ("ERR(stop=sigmoid(1,0.5),max_grade=4)@20", "ERR(max_grade=4,stop=sigmoid(1,0.5))@20"),
        # trec_eval's rbp has another p; only the case tells it from RBP
        ("rbp", "RBP(p=0.9)"),
        ("rbp@10", "RBP(p=0.9)@10"),
        ("rbp(p=0.5)", "RBP(p=0.5)"),
        ("Rbp", "RBP"),
        # other tools' names with the same meaning
        ("HR@5", "Success@5"),
        ("hit_rate@10", "Success@10"),
        ("ContextPrecision@5", "AP(divide=retrieved)@5"),
        ("context_precision", "AP(divide=retrieved)"),
        ("ContextRecall@5", "R@5"),
        ("recall_at_10", "R@10"),
        ("hit_rate_at_1", "Success@1"),
        ("ndcg_at_10", "nDCG@10"),
        ("F1@5", "F@5"),
        ("ndcg_burges@5", "nDCG(gain=exponential)@5"),
        ("dcg_burges@5", "DCG(gain=exponential)@5"),
        # what ir_measures prints
        ("SetF(beta=2)", "F(beta=1.4142135623730951)"),
        ("setf(beta=4,rel=2)", "F(beta=2,rel=2)"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exponential)@10"),
        ("nDCG(gains={1:3,2:9})@5", "nDCG(gain={1:3,2:9})@5"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
    ],
)
def test_a_name_prints_in_canonical_form(written: str, canonical: str) -> None:
    metric = Metric.parse(written)
    assert str(metric) == canonical
    assert Metric.parse(canonical) == metric
    assert hash(Metric.parse(canonical)) == hash(metric)


@pytest.mark.oracle
def test_an_ir_measures_object_and_its_name_mean_the_same() -> None:
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    canonical_names = [
        (ir_measures.nDCG, "nDCG"),
        (ir_measures.nDCG @ 10, "nDCG@10"),
        (ir_measures.nDCG(dcg="exp-log2") @ 10, "nDCG(gain=exponential)@10"),
        (ir_measures.nDCG(gains={1: 3, 2: 9}) @ 5, "nDCG(gain={1:3,2:9})@5"),
        (ir_measures.nDCG(judged_only=True) @ 4, "nDCG(judged_only=true)@4"),
        (ir_measures.AP, "AP"),
        (ir_measures.AP(rel=2) @ 100, "AP(rel=2)@100"),
        (ir_measures.MAP @ 10, "AP@10"),
        (ir_measures.RR @ 10, "RR@10"),
        (ir_measures.RR(rel=2), "RR(rel=2)"),
        (ir_measures.P(judged_only=True) @ 5, "P(judged_only=true)@5"),
        (ir_measures.P(rel=2) @ 5, "P(rel=2)@5"),
        (ir_measures.R @ 5, "R@5"),
        (ir_measures.Success(rel=2) @ 3, "Success(rel=2)@3"),
    ]
    for measure, canonical in canonical_names:
        assert str(Metric.parse(measure)) == canonical
        assert str(Metric.parse(str(measure))) == canonical


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("map", "AP"),
        ("recip_rank", "RR"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("map_cut_100", "AP@100"),
        ("P_10", "P@10"),
        ("recall_1000", "R@1000"),
        ("success_1", "Success@1"),
        ("iprec_at_recall_0.10", "IPrec(needed=rounded)@0.1"),
        ("iprec_at_recall_.25", "IPrec(needed=rounded)@0.25"),
        ("gm_map", "GMAP"),
        ("bpref", "Bpref"),
        ("infAP", "infAP"),
        ("Rprec", "Rprec"),
        ("set_P", "P"),
        ("set_recall", "R"),
        ("set_F", "F"),
        ("num_ret", "TotalRet"),
        ("num_rel", "TotalRel"),
        ("num_rel_ret", "TotalRelRet"),
        ("unj_5", "Unjudged@5"),
        ("rbp", "RBP(p=0.9)"),
        ("rbp_resid", "RBPResidual(p=0.9)"),
        ("iprec_at_recall_0.30", "IPrec(needed=rounded)@0.3"),
    ],
)
def test_names_of_trec_eval_parse(theirs: str, ours: str) -> None:
    assert str(Metric.parse(theirs)) == ours


@pytest.mark.parametrize("name", ["relative_P_5", "ndcg_cut_0", "P_1.5", "P_99999999999999999999"])
def test_names_that_only_resemble_trec_eval_are_refused(name: str) -> None:
    with pytest.raises(MetricError):
        Metric.parse(name)


def test_a_metric_is_its_own_name() -> None:
    metric = Metric.parse("nDCG@10")
    assert Metric.parse(metric) is metric
    assert metric.name == "nDCG"
    assert metric.cutoff == 10
    assert metric.higher_is_better


def test_a_metric_can_be_made_from_its_parts() -> None:
    assert Metric.of("MAP", 100, rel=2, divide=None) == Metric.parse("AP(rel=2)@100")
    assert Metric.of("nDCG", gain={1: 3, 2: 9}) == Metric.parse("nDCG(gain={1:3,2:9})")
    assert Metric.of("nDCG", 10, gain="exponential") == Metric.parse("nDCG(gain=exponential)@10")


# --- every registered metric -----------------------------------------------------------------

mappings = st.dictionaries(
    st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e6), min_size=1, max_size=4
).map(lambda pairs: "{" + ", ".join(f"{key!r}: {value!r}" for key, value in pairs.items()) + "}")


def valid(check: ParameterCheck) -> st.SearchStrategy[str]:
    """Return what a parameter's check accepts, as written in a metric's name."""
    match check:
        case WordCheck(words):
            return st.sampled_from(words)
        case NumberCheck(at_least, above, at_most, below):
            numbers = st.floats(max(at_least, above), min(at_most, below), allow_infinity=False)
            return numbers.filter(lambda value: above < value < below).map(repr)
        case CallCheck(name, arguments):
            values = st.tuples(*map(valid, arguments))
            return values.map(lambda written: f"{name}({', '.join(written)})")
        case AnyCheck(checks):
            return st.one_of(*map(valid, checks))
    assert check in (flag, mapping), f"no values are known that {check} accepts"
    return mappings if check is mapping else st.sampled_from(["true", "True", "false"])


@st.composite
def names(draw: st.DrawFn) -> str:
    """Names of every registered metric, under every alias, with any of its parameters."""
    entry = draw(st.sampled_from(sorted(definitions().values(), key=lambda entry: entry.name)))
    spelling = draw(st.sampled_from([entry.name, *entry.aliases]))
    spelling = draw(st.sampled_from([spelling, spelling.lower(), spelling.upper()]))
    possible = sorted(set(entry.parameters) - {"recall"})
    required = [name for name in possible if entry.parameters[name].is_required]
    some = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    chosen = list(dict.fromkeys([*some, *required]))
    written = ", ".join(f"{name}={draw(valid(entry.parameters[name].check))}" for name in chosen)
    cutoffs = {
        "cutoff": st.one_of(st.just(""), st.integers(1, 10**9).map(lambda k: f"@{k}")),
        "recall": st.floats(0, 1).map(lambda level: f"@{level!r}"),
        None: st.just(""),
    }
    cutoff = draw(cutoffs[entry.at])
    return f"{spelling}({written}){cutoff}" if written else f"{spelling}{cutoff}"


@given(names())
def test_the_canonical_spelling_means_the_same_metric(name: str) -> None:
    metric = Metric.parse(name)
    again = Metric.parse(str(metric))
    assert again == metric
    assert str(again) == str(metric)


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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDCGG@10", r"unknown metric 'nDCGG'; did you mean 'nDCG'\?"),
        ("Precison", r"unknown metric 'Precison'; did you mean 'Precision'\?"),
        ("Zebra", r"unknown metric 'Zebra'; known metrics: .*nDCG"),
        ("nDCG(gian=linear)", r"nDCG has no parameter 'gian'; did you mean 'gain'\?"),
        ("P(xyz=1)", r"P has no parameter 'xyz'; it has rel, judged_only"),
        ("nDCG(gain=exponental)", r"gain=exponental is invalid; did you mean 'exponential'\?"),
        ("nDCG(gain=3)", r"gain=3 is invalid; gain takes linear, exponential, or a mapping"),
        ("nDCG(gain={})", "gain={} is invalid"),
        ("nDCG(gain={1:-2})", "is invalid"),
        ("nDCG(gain=(1,2))", r"gain=\(1, 2\) is invalid; gain takes linear, exponential, or a"),
        ("AP(rel=(1,2))", r"rel=\(1, 2\) is invalid; rel takes a number"),
        ("nDCG(gain={a:2})", "is invalid"),
        ("nDCG(gain={1:2,**x})", "not a metric name|is invalid"),
        ("nDCG(discount=power)", "is invalid"),
        ("nDCG(discount=power(1,2))", r"power takes 1 argument\(s\)"),
        ("nDCG(discount=power(-1))", "is invalid"),
        ("nDCG(discount=log(1))", "is invalid"),
        ("nDCG(discount=log(x))", "is invalid"),
        ("nDCG(discount=zipf(-1,1))", "is invalid"),
        ("nDCG(dcg='exp')", r"dcg=exp is invalid; dcg takes log2 or exp-log2"),
        ("AP(rel=high)", r"rel=high is invalid; rel takes a number"),
        ("AP(rel=true)", "rel=True is invalid"),
        ("AP(rel=1e999)", "rel=inf is invalid"),
        ("AP(divide=5)", r"divide takes relevant, retrieved or min"),
        ("P(judged_only=1)", r"judged_only takes true or false"),
        ("P(judged_only=yes)", r"judged_only takes true or false"),
        ("ERR(max_grade=0)", "max_grade takes a number above 0"),
        ("ERR(stop=sigmoid(0,1))", "is invalid"),
        ("nDCG@0", r"nDCG@0: a cutoff must be a whole number of at least 1"),
        ("nDCG@-1", r"nDCG@-1: a cutoff must be a whole number"),
        ("nDCG@1.5", r"nDCG@1.5: a cutoff must be a whole number"),
        ("nDCG@true", r"nDCG@True: a cutoff must be a whole number"),
        ("nDCG@ten", r"nDCG@ten: a cutoff must be a whole number"),
        ("nDCG@'10'", "a cutoff must be a whole number"),
        ("nDCG@2.5", "a cutoff must be a whole number of at least 1"),
        ("nDCG(rel=2)", "nDCG has no parameter 'rel'"),
        ("IPrec", "IPrec needs a recall level after the @, as in IPrec@0.1"),
        ("IPrec@1.5", "recall=1.5 is invalid; recall takes a number from 0 to 1"),
        ("NumRel@5", "NumRel@5: NumRel has no cutoff"),
        ("Coverage@10", "'Coverage' is not a metric here: .*needs the catalogue.*Distinct"),
        ("CatalogCoverage@10", "needs the catalogue"),
        ("hits@10", r"it is a count in ranx \(here NumRelRet\)"),
        (
            "11pt_avg",
            r"'11pt_avg' is not a metric here: take the mean of IPrec\(needed=rounded\)@0",
        ),
        ("set_F_0.25", r"'set_F_0.25' is not a metric here: .*write F\(beta=0.5\)"),
        ("relative_P_5", "'relative_P_5' is not a metric here: use P"),
        ("Precision(k=3)", "P has no parameter 'k'; write the cutoff after an @, as in P@10"),
        ("nDCG(cutoff=10)", "write the cutoff after an @, as in nDCG@10"),
        ("SetF(beta=0)", "beta=0 is invalid; beta takes a number above 0"),
        ("ndcg_at_0", "a cutoff must be a whole number of at least 1"),
        ("RBP(p=1)", "p=1 is invalid; p takes a number between 0 and 1"),
        ("KendallTau(ties=d)", "ties takes a, b or c"),
        ("nDCG(linear)", "write parameters with their names"),
        ("nDCG(**{'gain': 1})", "not a metric name"),
        ("nDCG(gain=linear,gain=linear)", "duplicate parameter"),
        ("", "not a metric name"),
        ("@10", "not a metric name"),
        ("nDCG@", "not a metric name"),
        ("nDCG@10@20", "not a metric name"),
        ("nDCG 10", "not a metric name"),
        ("nDCG(gain=linear", "not a metric name"),
        ("nDCG+AP", "not a metric name"),
        ("42", "not a metric name"),
        ("nDCG\x00", "not a metric name"),
        ("nDCG@10\nAP", "not a metric name"),
    ],
)
def test_an_invalid_name_is_refused_with_a_reason(name: str, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        Metric.parse(name)


@pytest.mark.parametrize("thing", [None, 10, 1.5, ["nDCG"], b"nDCG", object])
def test_other_types_than_text_are_refused(thing: object) -> None:
    with pytest.raises(
        MetricError, match=r"the metric .* is invalid; give a name such as 'nDCG@10'"
    ):
        Metric.parse(thing)


@pytest.mark.parametrize("cutoff", [0, -3, 2.5, True, "10"])
def test_a_cutoff_given_apart_is_checked_too(cutoff: object) -> None:
    with pytest.raises(MetricError, match="a cutoff must be a whole number of at least 1"):
        Metric.of("nDCG", cutoff)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "code",
    [
        "open({path!r}, 'w')",
        "nDCG(gain=open({path!r}, 'w'))",
        "nDCG@open({path!r}, 'w')",
        "__import__('pathlib').Path({path!r}).touch()",
        "nDCG(gain=__import__('pathlib').Path({path!r}).touch())",
        "nDCG(gain={{1: __import__('pathlib').Path({path!r}).touch()}})",
        "nDCG(discount=power(__import__('pathlib').Path({path!r}).touch()))",
        "(lambda: __import__('pathlib').Path({path!r}).touch())()",
        "[__import__('pathlib').Path({path!r}).touch() for _ in (1,)]",
        "nDCG if __import__('pathlib').Path({path!r}).touch() else AP",
        "f'{{__import__(\"pathlib\").Path({path!r}).touch()}}'",
    ],
)
def test_nothing_in_a_name_is_evaluated(code: str, tmp_path: Path) -> None:
    trap = tmp_path / "touched"
    with pytest.raises(MetricError):
        Metric.parse(code.format(path=str(trap)))
    assert not trap.exists()


@pytest.mark.parametrize(
    "name",
    [
        "nDCG" * 1000,
        "(" * 900,
        "nDCG(gain=" + "-" * 900 + "1)",
        "nDCG(gain=" + "{1:" * 300,
        "nDCG(discount=power(" + "9" * 900 + "))",
        "nDCG@" + "9" * 990,
        "P(rel=" + "9" * 900 + ")",
    ],
    ids=lambda name: name[:12],
)
def test_a_monstrous_name_is_refused_with_a_short_message(name: str) -> None:
    with pytest.raises(MetricError) as failure:
        Metric.parse(name)
    assert len(str(failure.value)) < 500


def test_a_mapping_with_other_things_than_numbers_is_refused() -> None:
    for name in ("nDCG(gain={[1]:2})", "nDCG(gain={{}:2})", "nDCG(gain={1:{2:3}})"):
        with pytest.raises(MetricError):
            Metric.parse(name)


@given(st.text(max_size=60))
def test_any_text_is_a_metric_or_a_metric_error(text: str) -> None:
    try:
        metric = Metric.parse(text)
    except MetricError:
        return
    assert Metric.parse(str(metric)) == metric


@given(
    st.lists(
        st.sampled_from(
            [
                "nDCG",
                "AP",
                "P",
                "(",
                ")",
                "@",
                "{",
                "}",
                ":",
                ",",
                "=",
                "1",
                "-",
                "2.5",
                "true",
                "gain",
                "rel",
                "discount",
                "power",
                "dcg",
                "log2",
                "'",
                "stop",
                "sigmoid",
                "[",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_any_scramble_of_the_grammar_is_a_metric_or_a_metric_error(text: str) -> None:
    try:
        metric = Metric.parse(text)
    except MetricError:
        return
    assert Metric.parse(str(metric)) == metric


def test_a_metric_is_made_from_its_name() -> None:
    assert Metric("nDCG@10") == Metric.parse("nDCG@10")
    assert Metric(Metric("AP(rel=2)@100")) == Metric.parse("AP(rel=2)@100")
    assert str(Metric("ndcg_cut_10")) == "nDCG@10"
    assert copy.copy(Metric("RR")) == pickle.loads(pickle.dumps(Metric("RR"))) == Metric("RR")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nDGC@10",), "unknown metric 'nDGC'; did you mean 'nDCG'?"),
        ((10,), "the metric 10 .int. is invalid; give a name such as 'nDCG@10'"),
        (("nDCG", (), 10), r"Metric takes the whole name, such as Metric\('nDCG@10'\)"),
        (("nDCG", 10), r"write Metric.of\('nDCG', cutoff, parameter=value\)"),
    ],
)
def test_a_metric_is_not_made_from_anything_else(
    arguments: tuple[object, ...], expected: str
) -> None:
    with pytest.raises(MetricError, match=expected):
        Metric(*arguments)  # type: ignore[arg-type]
