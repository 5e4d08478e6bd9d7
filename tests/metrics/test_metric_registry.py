"""The registry: a metric is one decorated function in one place."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from pytest_rankcheck import GoldenSet, Metric, MetricError, Run, evaluate
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_definition import MetricFunction
from pytest_rankcheck.metrics.metric_parameters import Parameter, number
from pytest_rankcheck.metrics.metric_registry import definitions, metric

pytestmark = pytest.mark.usefixtures("own_metrics")


DOUBLE = Parameter("times", default=1, check=number(above=0), allowed="a number above 0")


def test_a_decorated_function_is_a_metric() -> None:
    @metric(
        "Retrieved",
        aliases=("HowMany",),
        parameters=(DOUBLE,),
        higher_is_better=False,
        range=(0, np.inf),
    )
    def retrieved(hits: JudgedHits, cutoff: int | None, *, times: float) -> FloatArray:
        """How many documents were ranked.

        More text: of no section.

        times: how often a document counts

        Formula: documents ranked * times

        Source: Luhn, The automatic creation
        of literature abstracts, 1958
        """
        return np.minimum(hits.retrieved, cutoff or np.inf) * times

    parsed = Metric.parse("howmany(times=2)@3")
    assert str(parsed) == "Retrieved(times=2)@3"
    assert not parsed.higher_is_better
    assert parsed.definition.summary == "How many documents were ranked."
    assert parsed.definition.formula == "documents ranked * times"
    assert (
        parsed.definition.reference == "Luhn, The automatic creation of literature abstracts, 1958"
    )
    assert parsed.definition.use == ""
    assert parsed.definition.parameters["times"].description == "how often a document counts"
    evaluation = evaluate(
        Run.from_dict({"p": list("abcd"), "q": ["a"]}),
        GoldenSet.from_dict({"p": {"c": 1}, "q": {"x": 1}, "r": {"x": 1}}),
    )
    assert evaluation.per_query(parsed).to_dict() == {"p": 6, "q": 2, "r": 0}
    # every metric over judged hits has judged_only: of p's ranking only c is judged
    only = evaluation.per_query("Retrieved(judged_only=true)")
    assert only.to_dict() == {"p": 1, "q": 0, "r": 0}
    assert "Retrieved" in definitions()


# --- the same function again -------------------------------------------------------------------------


def defined(value: float, module: str, file: str, qualname: str = "mine") -> MetricFunction:
    """Return a function as if it were defined in a module's file."""
    namespace: dict[str, object] = {"__name__": module}
    source = f"def {qualname}(hits, cutoff):\n    return hits.retrieved * 0 + {value}\n"
    exec(compile(source, file, "exec"), namespace)
    return namespace[qualname]  # type: ignore[return-value]


def test_a_new_definition_of_the_same_function_takes_its_place() -> None:
    evaluation = evaluate(Run.from_dict({"q": ["a"]}), GoldenSet.from_dict({"q": {"a": 1}}))
    for number_of, (first, second) in enumerate(
        (
            (("conftest", "/a/conftest.py"), ("conftest", "/a/conftest.py")),
            (("conftest", "/a/conftest.py"), ("a.conftest", "/a/conftest.py")),
            (("__main__", "/tmp/ipykernel_7/1.py"), ("__main__", "/tmp/ipykernel_7/2.py")),
        )
    ):
        name = f"Mine{number_of}"
        metric(name, aliases=(f"Old{number_of}",))(defined(0.5, *first))
        assert evaluation.mean(name) == evaluation.mean(f"old{number_of}@3") == 0.5
        metric(name, aliases=(f"New{number_of}",))(defined(1, *second))
        assert evaluation.mean(f"{name}@1") == evaluation.mean(f"New{number_of}@2") == 1
        with pytest.raises(MetricError, match=f"unknown metric 'Old{number_of}'"):
            Metric.parse(f"Old{number_of}")


def test_another_function_of_the_same_name_is_refused() -> None:
    metric("Mine")(defined(1, "conftest", "/a/conftest.py"))
    for file, qualname in (("/b/conftest.py", "mine"), ("/a/conftest.py", "other")):
        with pytest.raises(MetricError) as refusal:
            metric("mine")(defined(2, "conftest", file, qualname=qualname))
        assert str(refusal.value) == (
            "the metric name 'mine' is already taken by Mine (mine in /a/conftest.py); "
            f"give another name to the metric of {qualname} in {file}"
        )


def test_a_refused_definition_changes_nothing() -> None:
    metric("Mine", aliases=("Ours",))(defined(1, "conftest", "/a/conftest.py"))
    for name, aliases in (("nDCG", ()), ("ndcg", ()), ("Mine", ("MRR",)), ("New", ("precision",))):
        with pytest.raises(MetricError, match=r"is already taken by .* of pytest-rankcheck"):
            metric(name, aliases=aliases)(defined(2, "conftest", "/a/conftest.py"))
    assert Metric.parse("Ours").name == "Mine"
    assert Metric.parse("MRR").name == "RR"
    assert "New" not in definitions()


def test_an_invalid_declaration_is_refused() -> None:
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"name": "Revenue per click"}, "'Revenue per click' is not a valid metric name"),
        ({"name": "nDCG@10"}, "'nDCG@10' is not a valid metric name"),
        ({"name": lambda hits, cutoff: None}, 'the name of the metric is missing; write @metric("'),
        ({"aliases": ("x y",)}, "'x y' is not a valid metric name"),
        ({"range": (1, 0)}, "New: range=(1, 0) is invalid; give (lowest, highest)"),
        (
            {"parameters": (Parameter("cutoff", 1, number(), "a number"),)},
            "New: the parameter name cutoff is reserved",
        ),
    )
    for declared, says in refused:
        with pytest.raises(MetricError) as refusal:
            metric(**{"name": "New", **declared})(defined(1, "conftest", "/a"))
        assert says in str(refusal.value)
        assert "New" not in definitions()


def test_a_user_cannot_take_a_name_of_ours_by_being_first() -> None:
    script = (
        "from pytest_rankcheck import metric\n"
        "@metric('RR')\n"
        "def mine(hits, cutoff):\n"
        "    return hits.retrieved\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert "the metric name 'RR' is already taken by RR of pytest-rankcheck" in done.stderr


def test_a_metric_may_have_a_name_that_other_tools_would_read_apart() -> None:
    """``recall_at_3`` is R@3, unless somebody registers a metric of this name."""

    def registered_as(name: str) -> None:
        @metric(name)
        def constant(hits: JudgedHits, cutoff: int | None) -> FloatArray:
            """One."""
            return np.ones_like(hits.retrieved)

    assert str(Metric.parse("recall_at_3")) == "R@3"
    registered_as("recall_at_3")
    assert str(Metric.parse("recall_at_3")) == "recall_at_3"
    assert str(Metric.parse("recall_at_4")) == "R@4"
    with pytest.raises(MetricError, match="'utility' is not a metric here"):
        Metric.parse("utility")
    registered_as("utility")
    assert str(Metric.parse("utility@3")) == "utility@3"


def test_a_metric_can_have_spellings_of_other_tools() -> None:
    @metric(
        "Retrieved",
        parameters=(DOUBLE,),
        spellings={"twice": {"times": 2}, "Half": lambda given: {**given, "times": 0.5}},
        range=(0, np.inf),
    )
    def retrieved(hits: JudgedHits, cutoff: int | None, *, times: float) -> FloatArray:
        """How many documents were ranked."""
        return hits.retrieved * times

    assert str(Metric.parse("Twice@3")) == "Retrieved(times=2)@3"
    assert str(Metric.parse("twice(times=3)")) == "Retrieved(times=3)"
    assert str(Metric.of("half", 3)) == "Retrieved(times=0.5)@3"
    assert str(Metric.parse("retrieved")) == "Retrieved"
