"""Every public function refuses arguments that would give a wrong number, and says what to write."""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_origin

import numpy as np
import pandas as pd
import pytest

import pytest_rankcheck
from pytest_rankcheck import (
    Comparison,
    ConfigurationError,
    GoldenSet,
    Metric,
    RankcheckError,
    Record,
    Run,
    SessionLog,
    assert_at_least,
    assert_mrr_at_least,
    compare,
    evaluate,
)

GOLDEN = GoldenSet.from_dict({"q1": {"a": 1}, "q2": {"b": 1}}, name="web")
RUN = Run.from_dict({"q1": ["a"], "q2": ["c", "b"]}, name="new.run")
EVALUATION = evaluate(RUN, GOLDEN)
COMPARED = compare(EVALUATION, EVALUATION)


def ranker(text: str) -> list[str]:
    return ["a", "b"]


FRAME = pd.DataFrame({"query_id": ["q1"]})
WRONG: dict[str, list[object]] = {
    "run": [GOLDEN, EVALUATION, COMPARED, "a.run", 3, {"q1": ["a"]}, FRAME, ranker],
    "ranking_run": [None, GOLDEN, COMPARED, "a.run", {"q1": ["a"]}, FRAME, ranker],
    "golden": [RUN, EVALUATION, "web.qrels", {"q1": {"a": 1}}, FRAME, 3, ranker],
    "golden_set": [RUN, EVALUATION, "web.qrels", {"q1": {"a": 1}}, FRAME, 3, None],
    "evaluation": [RUN, GOLDEN, COMPARED, "a.run", 0.4, FRAME, None],
    "baseline": [RUN, GOLDEN, COMPARED, "a.json", 0.4, None],
    "comparison": [RUN, EVALUATION, None],
    "gate": ["tolerance(abs=0.1)", 0.1, RUN],
    "path": [RUN, 3, None, FRAME],
    "min_queries": ["3", 0.5, True],
    "minimum": ["0.1", True, RUN],
    "frame": [RUN, {"q1": ["a"]}, "a.csv", None],
    "first": [{1}, 3, None, "abc"],
    "rankings": [["a"], FRAME, "a.run", None],
}
"""By parameter, values that no public function takes for it."""


def checked_functions() -> Iterator[tuple[str, Any]]:
    for name in pytest_rankcheck.__all__:
        public = getattr(pytest_rankcheck, name)
        if hasattr(public, "__wrapped__"):
            yield name, public
        elif inspect.isclass(public):
            for own in vars(public):
                method = getattr(public, own)
                if hasattr(method, "__wrapped__") and inspect.ismethod(method):  # a constructor
                    yield f"{name}.{own}", method


def test_a_wrong_argument_gives_no_number() -> None:
    cases = 0
    for name, function in checked_functions():
        for parameter in set(inspect.signature(function).parameters) & set(WRONG):
            for value in WRONG[parameter]:
                try:
                    function(**{parameter: value})
                except (RankcheckError, AttributeError, TypeError):
                    cases += 1
                else:
                    raise AssertionError(f"{name}({parameter}={value!r:.40})")
    assert cases > 300


MESSAGES: list[tuple[Callable[..., object], tuple[Any, ...], str]] = [
    (assert_at_least, (EVALUATION, "RR", "0.4"), "minimum must be a number, not '0.4' (str)"),
    (GOLDEN.subset, ("q1",), "query_ids must be a list, not 'q1' (str)"),
    (
        EVALUATION.with_ties,
        ("Best",),
        "order=Best is invalid; did you mean 'best'?; give one of be",
    ),
    (COMPARED.moved, ("q1", 0), "k=0 is invalid; give a whole number from 1 on, such as k=10"),
]


def test_the_error_says_what_to_write() -> None:
    for function, arguments, message in MESSAGES:
        with pytest.raises(ConfigurationError, match=f"^{re.escape(message)}"):
            function(*arguments)


def test_what_is_right_is_accepted() -> None:
    class Frame(pd.DataFrame):
        """As of geopandas."""

    assert_at_least(EVALUATION, "RR", np.float32(0.1))  # type: ignore[arg-type]
    assert_mrr_at_least(EVALUATION, 0, k=np.int64(5))
    assert len(GOLDEN.subset(pd.Index(["q1"]))) == len(GOLDEN.subset({"q1": 1})) == 1
    assert evaluate(run=RUN, golden=GOLDEN).mean("RR") == 0.75
    assert isinstance(compare(EVALUATION, Record.of(EVALUATION, [Metric.parse("RR")])), Comparison)
    assert Run.from_frame(Frame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}))["q"] == (
        "d",
    )
    assert EVALUATION.tied(None) == ()


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
