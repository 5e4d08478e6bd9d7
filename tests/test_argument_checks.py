"""Every public function refuses arguments of the wrong type: in words, and with what to write."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_origin

import pandas as pd
import pytest

import pytest_rankcheck
from pytest_rankcheck import (
    Comparison,
    ConfigurationError,
    Conventions,
    Expectation,
    Gate,
    GoldenSet,
    Metric,
    RankcheckError,
    Record,
    Run,
    SessionLog,
    assert_at_least,
    assert_mrr_at_least,
    assert_not_regressed,
    check_metric,
    compare,
    evaluate,
    evaluate_sessions,
    plan,
    plot_comparison,
    rank,
    rankers,
    rbo,
)

GOLDEN = GoldenSet.from_dict(
    {"q1": {"a": 1}, "q2": {"b": 1}}, queries={"q1": "one", "q2": "two"}, name="web"
)
RUN = Run.from_dict({"q1": ["a"], "q2": ["c", "b"]}, name="new.run")
EVALUATION = evaluate(RUN, GOLDEN)


def ranker(text: str) -> list[str]:
    return ["a", "b"]


def log() -> SessionLog:
    events = {"session": ["s"], "query": ["one"], "results": [["a", "b"]], "selected": [["b"]]}
    return SessionLog.from_frame(pd.DataFrame(events))


@pytest.fixture
def ranking_run() -> Run:
    """Not its value: what a test gets that names the function and not the parameter."""
    return RUN


WRONG: dict[str, object] = {
    "None": None,
    "a number": 3,
    "a fraction": 0.5,
    "True": True,
    "a number as text": "10",
    "a path": Path("golden/web.jsonl"),
    "a date": date(2026, 1, 1),
    "a dict": {"q1": ["a"]},
    "a list": ["q1", 3],
    "a DataFrame": pd.DataFrame({"query_id": ["q1"]}),
    "a run": RUN,
    "a golden set": GOLDEN,
    "an evaluation": EVALUATION,
    "a comparison": compare(EVALUATION, EVALUATION),
    "a gate": Gate.tolerance(0.1),
    "a metric": Metric("RR"),
    "a fixture function": ranking_run,
    "a function": ranker,
    "a class": Run,
}
"""Values, most of which are wrong for a parameter."""

OURS = {"a run", "a golden set", "an evaluation", "a comparison", "a gate", "a metric"}
TEXTS = {"a number as text"}
NUMBERS = {"a number", "a fraction"}
NO_NUMBER = {*WRONG} - NUMBERS
"""What a number must not be."""
NO_WHOLE_NUMBER = {*WRONG} - {"a number"}
NO_LIST = {*WRONG} - {"a list"}


def but(*right: str) -> set[str]:
    return {*WRONG} - set(right)


BOUND = {
    "evaluation": but("an evaluation"),
    "by": but("None", "a number as text"),
    "confidence": NO_NUMBER - {"None"},
    "min_queries": NO_WHOLE_NUMBER,
}
GATED = {
    "evaluation": but("an evaluation"),
    "baseline": but("an evaluation"),
    "abs": NO_NUMBER - {"None"},
    "rel": NO_NUMBER - {"None"},
    "gate": but("None", "a gate"),
    "by": but("None", "a number as text"),
    "min_queries": NO_WHOLE_NUMBER - {"None"},
}
METRIC = but("a metric", "a number as text")
LISTED = but("a metric", "a number as text", "a dict")
K = {"k": NO_WHOLE_NUMBER - {"None"}}
LEVEL = {"rel_level": NO_NUMBER - {"None"}}
NAMED: dict[str, dict[str, set[str]]] = {
    **dict.fromkeys(("ndcg", "err", "success_rate"), K),
    **dict.fromkeys(("mrr", "map", "precision", "recall", "hit_rate"), K | LEVEL),
    "session_mrr": {},
}
"""By the metric in the name of an assertion, the parameters of the metric."""
TWO_RANKINGS = {"first": NO_LIST, "second": NO_LIST, **K}
ASKING = {
    "ranker": but("a function", "a class", "a fixture function"),
    "golden_set": but("a golden set"),
}
ASKING_BY_NAME = {**ASKING, "ranker": ASKING["ranker"] - {"a number as text"}}
"""A text is the name of a ranker, and the error is that of names."""

PUBLIC: dict[str, dict[str, set[str]]] = {
    "assert_at_least": {**BOUND, "metric": LISTED, "minimum": NO_NUMBER - {"None"}},
    "assert_at_most": {**BOUND, "metric": LISTED, "maximum": NO_NUMBER - {"None"}},
    "assert_consistent_depth": ASKING_BY_NAME,
    "assert_deterministic": {
        **ASKING_BY_NAME,
        "repeats": NO_WHOLE_NUMBER,
        "threads": NO_WHOLE_NUMBER,
        "processes": NO_WHOLE_NUMBER - {"None"},
        "process_timeout": NO_NUMBER,
    },
    "assert_direction": {**ASKING, "slack": NO_NUMBER, "seed": NO_WHOLE_NUMBER, "metric": METRIC},
    "assert_invariant": {
        **ASKING,
        "min_rbo": NO_NUMBER - {"None"},
        "max_drop": NO_NUMBER - {"None"},
        "allowed_queries": NO_WHOLE_NUMBER,
        "metric": METRIC,
    },
    "assert_index_invariant": {
        "build": but("a function", "a class", "a fixture function"),
        "documents": but("a dict", "a list"),
        "golden_set": but("a golden set"),
        "relation": but(*TEXTS),
        "k": NO_WHOLE_NUMBER,
        "min_rbo": NO_NUMBER - {"None"},
        "max_drop": NO_NUMBER - {"None"},
        "allowed_queries": NO_WHOLE_NUMBER,
        "queries": NO_WHOLE_NUMBER - {"None"},
        "fields": NO_LIST - {"None"},
        "metric": METRIC,
        "seed": NO_WHOLE_NUMBER,
    },
    "counterfactual": {"attribute": but(*TEXTS), "values": NO_LIST},
    "assert_expectations": {"ranking_run": but("a run"), "golden_set": but("a golden set")},
    "assert_ranking_stable": {
        "ranking_run": but("a run", "an evaluation"),
        "baseline": {*WRONG},
    },
    "assert_not_regressed": {**GATED, "metric": but("a metric", "a number as text", "a list")},
    **{
        f"assert_{name}_at_least": {**BOUND, **more, "minimum": NO_NUMBER}
        for name, more in NAMED.items()
    },
    **{f"assert_{name}_not_regressed": {**GATED, **more} for name, more in NAMED.items()},
    "compare": {"evaluation": but("an evaluation"), "other": but("an evaluation")},
    "evaluate_part": {
        "source": but("a number as text", "a path", "a DataFrame", "a run"),
        "golden": but("a golden set"),
        "conventions": but("None"),
        "top": NO_WHOLE_NUMBER,
    },
    "evaluate": {
        "run": but("a run"),
        "golden": but("a golden set"),
        "conventions": but("None"),
    },
    "evaluate_sessions": {"log": {*WRONG}, "judgments": but("None", "a golden set")},
    "plan": {
        "evaluation": but("an evaluation"),
        "other": but("None", "an evaluation"),
        "metric": METRIC,
        "alpha": NO_NUMBER,
    },
    "plot_comparison": {"comparison": but("a comparison"), "metric": METRIC},
    "check_metric": {"metric": METRIC, "scale": NO_LIST - {"None"}},
    "rank": {
        "ranker": but("a function", "a class", "a fixture function"),
        "golden": but("a golden set"),
        "depth": NO_WHOLE_NUMBER,
        "concurrency": NO_WHOLE_NUMBER,
        "timeout": NO_NUMBER - {"None"},
        "retries": NO_WHOLE_NUMBER,
    },
    "jaccard": TWO_RANKINGS,
    "overlap": TWO_RANKINGS,
    "kendall_tau": TWO_RANKINGS,
    "kendall_distance": {**TWO_RANKINGS, "normalised": but("True")},
    "spearman": TWO_RANKINGS,
    "tau_ap": TWO_RANKINGS,
    "top_k_kendall": {**TWO_RANKINGS, "penalty": NO_NUMBER},
    "rbo": {"first": NO_LIST, "second": NO_LIST, "p": NO_NUMBER},
    "Metric": {"definition": METRIC},
    "Metric.parse": {"text": METRIC},
    "GoldenSet.load": {"path": but("a number as text", "a path"), "format": but("None", *TEXTS)},
    "GoldenSet.from_dict": {
        "judgments": but("a dict"),
        "queries": but("None", "a dict"),
        "name": but(*TEXTS),
    },
    "GoldenSet.from_frame": {
        "judgments": but("a DataFrame"),
        "queries": but("None", "a DataFrame"),
        "columns": but("None", "a dict"),
    },
    "Run.load": {
        "path": but("a number as text", "a path"),
        "columns": but("None", "a dict"),
    },
    "Run.scan": {"path": but("a number as text", "a path")},
    "Run.from_dict": {"rankings": but("a dict"), "depth": NO_WHOLE_NUMBER - {"None"}},
    "Run.from_frame": {"frame": but("a DataFrame")},
    "Run.from_candidates": {"golden": but("a golden set")},
    "SessionLog.load": {"path": but("a number as text", "a path")},
    "SessionLog.from_frame": {"events": but("a DataFrame")},
    "Record.load": {"path": but("a number as text", "a path")},
    "Gate.tolerance": {"abs": NO_NUMBER, "rel": NO_NUMBER, "max_query_drop": NO_NUMBER - {"None"}},
    "Gate.significant": {"alpha": NO_NUMBER, "min_drop": NO_NUMBER},
    "Gate.noninferior": {"margin": NO_NUMBER, "alpha": NO_NUMBER},
    "Conventions.from_dict": {"chosen": but("a dict")},
}
"""By function, the values that each parameter must refuse."""

RIGHT: dict[str, object] = {
    "evaluation": EVALUATION,
    "baseline": EVALUATION,
    "other": EVALUATION,
    "metric": "RR",
    "minimum": 0.1,
    "maximum": 0.9,
    "ranker": ranker,
    "golden_set": GOLDEN,
    "golden": GOLDEN,
    "perturbation": "case",
    "direction": "not_better",
    "ranking_run": RUN,
    "run": RUN,
    "source": RUN,
    "abandoned": "zero",
    "margin": 0.1,
    "comparison": WRONG["a comparison"],
    "first": ["a"],
    "second": ["a"],
    "judgments": {"q": {"a": 1}},
    "rankings": {"q": ["a"]},
    "values": ["phone", "tablet"],
    "build": lambda documents: lambda text: sorted(documents),
    "documents": {"a": "one", "b": "two", "c": "three"},
    "relation": "order",
    "path": "web.jsonl",
}

MADE_BY_THE_LIBRARY = {
    *(
        "Approval",
        "Baseline",
        "ChangedDocument",
        "ComparedValues",
        "Comparison",
        "Decision",
        "Differences",
    ),
    "EstimatedPropensity",
    *(
        "Evaluation",
        "EvaluationPart",
        "MergedEvaluation",
        "Evidence",
        "Gap",
        "JudgedHits",
        "LabelSensitivity",
        "LawReport",
    ),
    *(
        "Fragility",
        "GroupEvidence",
        "LintFinding",
        "MixEffect",
        "MostlyTied",
        "Move",
        "OtherRuling",
        "ReplayEvidence",
        "RulingUnder",
        "Outcome",
        "Paired",
        "PerturbedQuery",
        "QueryDrop",
        "RecordedMetric",
    ),
    *("RecordedQuery", "Resolution", "Resolutions", "RunEvaluation", "SessionEvaluation"),
    *("SessionState", "SetAside", "SinceApproval", "TieEffect", "TooFewChanges"),
    *("TooWideAllowance", "Unjudged", "Unpaired", "Verdict"),
}
"""Values that functions return; nobody makes them by hand."""

CHECKED_ELSEWHERE = {
    "assert_no_worse": "tests/assertions/test_groups.py",
    "evaluate_arrays": "tests/evaluation/test_arrays.py",
    "Expectation": "tests/behaviour/test_expectations.py",
    "GateRule": "the base class of a gate of one's own",
    "Parameter": "tests/metrics/test_metric_registry.py",
    "Perturbation": "made by perturbations()",
    "perturbations": "has no argument",
    "Query": "made by readers for each line, which check it",
    "metric": "tests/metrics/test_metric_registry.py",
    "metrics": "a module",
    "rankers": "a module; below",
    "__version__": "a text",
}


def test_every_public_name_is_checked() -> None:
    errors = {
        name
        for name in pytest_rankcheck.__all__
        if inspect.isclass(value := getattr(pytest_rankcheck, name))
        and issubclass(value, (Exception, Warning))
    }
    called = {name.partition(".")[0] for name in PUBLIC}
    assert called | errors | MADE_BY_THE_LIBRARY | {*CHECKED_ELSEWHERE} == {
        *pytest_rankcheck.__all__
    }


def function_of(name: str) -> Callable[..., object]:
    value: Any = pytest_rankcheck
    for part in name.split("."):
        value = getattr(value, part)
    return value  # type: ignore[no-any-return]


def cases() -> Iterator[object]:
    for name, parameters in PUBLIC.items():
        for parameter, wrong in parameters.items():
            for kind in sorted(wrong):
                yield pytest.param(name, parameter, kind, id=f"{name}-{parameter}-{kind}")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rankers.embedder(ranker, ["x"]), "corpus must be a mapping, not"),
        (
            lambda: rankers.embedder(ranker, {"d": "x"}, size="8"),
            "size must be a whole number, not",
        ),
        (lambda: rankers.model(ranker, features=5), "features must be a list, not"),
        (lambda: rankers.model(ranker, "price"), "features must be a list, not 'price'"),
        (lambda: rankers.batch(ranker, size=1.5), "size must be a whole number, not 1.5"),
        (lambda: rankers.batch(ranker, size=True), "size must be a whole number, not True"),
        (lambda: rankers.transformer(ranker, size="2"), "size must be a whole number, not '2'"),
        (lambda: rankers.scorer(ranker, documents=["x"]), "documents must be a mapping, not"),
        (lambda: rankers.scorer(ranker, candidates="a.run"), r"'a.run' \(str\); write Run.load"),
        (lambda: rankers.scorer(ranker, pairs=1), "pairs must be True or False, not 1"),
        (lambda: rankers.http(5), "url must be a text, not 5"),
        (lambda: rankers.http("http://x", params="q={query}"), "params must be a mapping, not"),
        (lambda: rankers.http("http://x", verify=0), "verify must be True or False, not 0"),
    ],
)
def test_a_wrong_argument_of_an_adapter_is_one_clear_error(
    make: Callable[[], object], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make()


def shown_type(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, type):
        return "class"
    return "fixture function" if value is ranking_run else type(value).__name__


@pytest.mark.parametrize(("name", "parameter", "kind"), [*cases()])
def test_a_wrong_argument_is_one_clear_error(name: str, parameter: str, kind: str) -> None:
    function = function_of(name)
    needed = {
        each.name: RIGHT[each.name]
        for each in inspect.signature(function).parameters.values()
        if each.default is each.empty and each.name in RIGHT
    }
    if name == "GoldenSet.from_frame" and parameter != "judgments":
        needed["judgments"] = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [1]})
    if parameter in ("minimum", "maximum", "metric") and "at_" in name:
        needed.setdefault("minimum" if "least" in name else "maximum", 0.1)
    with pytest.raises(RankcheckError) as failure:
        function(**{**needed, parameter: WRONG[kind]})
    message = str(failure.value)
    assert ("metric" if name.startswith("Metric") else parameter) in message
    assert shown_type(WRONG[kind]) in message or type(WRONG[kind]).__name__ in message
    assert "; " in message, "it says what to write"
    assert len(message) < 400


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: evaluate(GOLDEN, RUN),  # type: ignore[arg-type]
            (
                "run must be a Run, not a GoldenSet ('web'); run and golden are swapped: write "
                "evaluate(run, golden)"
            ),
        ),
        (
            lambda: assert_mrr_at_least(RUN, 0.4),  # type: ignore[arg-type]
            "evaluation must be an Evaluation, not a Run ('new.run'); write evaluate(run, golden)",
        ),
        (
            lambda: compare(EVALUATION, GOLDEN),  # type: ignore[arg-type]
            (
                "other must be an Evaluation or a Record, not a GoldenSet ('web'); write "
                "evaluate(run, golden), or use the fixture evaluation"
            ),
        ),
        (
            lambda: evaluate("new.run", GOLDEN),  # type: ignore[arg-type]
            "run must be a Run, not 'new.run' (str); write Run.load(path)",
        ),
        (
            lambda: evaluate(RUN, pd.DataFrame()),  # type: ignore[arg-type]
            "golden must be a GoldenSet, not a DataFrame; write GoldenSet.from_frame(judgments)",
        ),
        (
            lambda: evaluate(ranking_run, GOLDEN),  # type: ignore[arg-type]
            (
                "run must be a Run, not the fixture function 'ranking_run'; pytest passes a fixture's "
                "value to a test that has a parameter of its name"
            ),
        ),
        (
            lambda: assert_at_least(EVALUATION, 0.4, "RR"),  # type: ignore[arg-type]
            (
                "metric must be a metric or a mapping, not 0.4 (float); metric and minimum are "
                "swapped: write assert_at_least(evaluation, metric, minimum)"
            ),
        ),
        (
            lambda: assert_mrr_at_least(EVALUATION, 0.4, k="10"),  # type: ignore[arg-type]
            "k must be a whole number, not '10' (str); write the number without quotes",
        ),
        (
            lambda: assert_not_regressed(EVALUATION, 0.4, "RR"),  # type: ignore[arg-type]
            (
                "baseline must be a Baseline, an Evaluation or a Record, not 0.4 (float); write "
                "assert_at_least(evaluation, metric, minimum) to compare with a number"
            ),
        ),
        (
            lambda: rank(GOLDEN, ranker),  # type: ignore[arg-type]
            (
                "golden must be a GoldenSet, not the function ranker; golden and ranker are swapped: "
                "write rank(ranker, golden)"
            ),
        ),
        (
            lambda: evaluate(EVALUATION, GOLDEN),  # type: ignore[arg-type]
            "run must be a Run, not a RunEvaluation ('new.run'); write evaluation.run",
        ),
        (
            lambda: rbo(3, ["d2"]),  # type: ignore[arg-type]
            "first must be a list of ids, not 3 (int); write a list of ids, best first",
        ),
    ],
)
def test_the_error_says_what_to_write(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(message)}$"):
        call()


def test_an_unknown_attribute_and_a_minimum_out_of_range_are_errors() -> None:
    with pytest.raises(RankcheckError, match="locale"):
        assert_at_least(EVALUATION, "RR", 0.1, by="locale")
    with pytest.raises(ConfigurationError, match="RR ranges from 0 to 1, so it is never"):
        assert_at_least(EVALUATION, "RR", 1.5)


def test_what_is_right_is_accepted() -> None:
    import numpy as np

    assert_at_least(EVALUATION, "RR", np.float32(0.1))  # type: ignore[arg-type]
    assert_mrr_at_least(EVALUATION, 0, k=np.int64(5))
    assert rank(ranker, GOLDEN, np.int64(1)).depth == 1
    assert len(GOLDEN.subset(pd.Index(["q1"]))) == len(GOLDEN.subset({"q1": 1})) == 1
    assert evaluate(run=RUN, golden=GOLDEN).mean("RR") == 0.75
    assert check_metric("RR").metric == "RR"
    assert isinstance(evaluate_sessions(log()).mean("SuccessRate"), float)
    assert isinstance(compare(EVALUATION, Record.of(EVALUATION, [Metric("RR")])), Comparison)
    assert plan(EVALUATION, "RR", 0.1).shape == (1, 4)
    assert plot_comparison(compare(EVALUATION, EVALUATION), "RR") is not None
    assert Conventions.from_dict({}) == Conventions()
    assert str(Expectation.in_top(1, "a", query="q1"))


def test_frames_of_other_libraries_are_converted_first() -> None:
    class Frame(pd.DataFrame):
        """As of geopandas."""

    class DataFrame:
        """As of polars."""

        def to_pandas(self) -> pd.DataFrame:
            return pd.DataFrame()

    rows = {"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}
    assert Run.from_frame(Frame(rows))["q"] == ("d",)
    with pytest.raises(
        ConfigurationError, match=r"frame must be a DataFrame .*; pass frame.to_pandas\(\)"
    ):
        Run.from_frame(DataFrame())  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError) as failure:
        GoldenSet.from_frame(DataFrame())  # type: ignore[arg-type]
    assert str(failure.value) == (
        "judgments must be a DataFrame of pandas or polars, or a table of pyarrow, not a "
        "test_argument_checks DataFrame; pass judgments.to_pandas()"
    )


def test_a_number_as_text_where_a_number_or_a_mapping_is_meant() -> None:
    table = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"]})
    with pytest.raises(ConfigurationError, match=r"not '1' \(str\); write grades=1$"):
        GoldenSet.from_frame(table, grades="1")  # type: ignore[arg-type]


COMPARED = compare(EVALUATION, EVALUATION)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: COMPARED.p("RR", test="sign-flip"),  # type: ignore[arg-type]
            (
                "test=sign-flip is invalid; did you mean 'sign_flip'?; give one of sign_flip, t, "
                "bootstrap, guaranteed"
            ),
        ),
        (
            lambda: COMPARED.p("RR", test="T"),  # type: ignore[arg-type]
            (
                "test=T is invalid; did you mean 't'?; give one of sign_flip, t, bootstrap, "
                "guaranteed"
            ),
        ),
        (
            lambda: COMPARED.p("RR", test="wilcoxon"),  # type: ignore[arg-type]
            (
                "test=wilcoxon is no longer offered: the signed-rank test does not compare means, "
                "and blocked up to half of the changes without an effect on the mean; use sign_flip"
            ),
        ),
        (
            lambda: COMPARED.p("RR", test=None),  # type: ignore[arg-type]
            (
                "test must be one of sign_flip, t, bootstrap, guaranteed, not None; write "
                "'sign_flip'"
            ),
        ),
        (
            lambda: EVALUATION.with_ties("Best"),  # type: ignore[arg-type]
            "order=Best is invalid; did you mean 'best'?; give one of best, worst",
        ),
        (
            lambda: EVALUATION.with_ties("foo"),  # type: ignore[arg-type]
            "order=foo is invalid; give one of best, worst",
        ),
        (
            lambda: log().to_golden_set("first"),  # type: ignore[arg-type]
            "states=first is invalid; give one of last, all, prefixes",
        ),
        *(
            (call, f"level={level} is invalid; give at least 0 and less than 1, such as level=0.95")
            for level in (95, 1.0, -1, float("nan"))
            for call in (
                lambda level=level: COMPARED.interval("RR", level=level),
                lambda level=level: EVALUATION.interval("RR", level=level),
                lambda level=level: COMPARED.values("RR").differences.interval(level),
                lambda level=level: COMPARED.label_sensitivity("RR", draws=2).interval(level),
            )
        ),
        *(
            (call, f"k={k} is invalid; give a whole number from 1 on, such as k=10")
            for k in (0, -1)
            for call in (
                lambda k=k: EVALUATION.tied(k),
                lambda k=k: COMPARED.moved("q1", k),
                lambda k=k: COMPARED.unjudged_entered(k),
                lambda k=k: GOLDEN.ceiling(k),
                lambda k=k: assert_mrr_at_least(EVALUATION, 0.4, k=k),
            )
        ),
        (
            lambda: EVALUATION.table("RR"),
            "metrics must be a list, not 'RR' (str); write a list, in square brackets",
        ),
        (
            lambda: GOLDEN.lint(rules="no-relevant"),
            "rules must be a list, not 'no-relevant' (str); write a list, in square brackets",
        ),
        (
            lambda: GOLDEN.lint(tolerance="x"),  # type: ignore[arg-type]
            "tolerance must be a number, not 'x' (str); write the number without quotes",
        ),
    ],
)
def test_an_invalid_option_of_a_method_is_an_error(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(message)}$"):
        call()


def test_valid_options_of_methods_are_accepted() -> None:
    for test in ("sign_flip", "t", "bootstrap", "guaranteed"):
        assert 0 <= COMPARED.p("RR", test=test) <= 1
    for level in (0, 0.5, 0.99):
        low, high = EVALUATION.interval("RR", level)
        assert low <= high
    assert EVALUATION.tied(None) == ()
    assert EVALUATION.with_ties("best").with_ties("worst").mean("RR") == 0.75
    other = GoldenSet.from_dict({"q3": {"a": 1}})
    assert len(GOLDEN.merge(other, other)) == 3


def test_every_option_of_a_public_method_is_checked() -> None:
    """A method with an alias of a ``Literal`` in its signature has a checked argument."""
    unchecked = [
        f"{kind.__name__}.{name}"
        for kind in (type(EVALUATION), Comparison, GoldenSet, Run, SessionLog, Record)
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
        and not hasattr(method, "__wrapped__")
        and any(
            get_origin(getattr(method, "__globals__", {}).get(str(annotation))) is Literal
            or (parameter in ("k", "level") and method.__defaults__)
            for parameter, annotation in inspect.get_annotations(method).items()
        )
    ]
    assert not unchecked
