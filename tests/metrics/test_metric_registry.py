"""The registry: a metric is one decorated function in one place."""

from __future__ import annotations

import subprocess
import sys

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
        reference="this test",
        parameters=(DOUBLE,),
        higher_is_better=False,
        range=(0, np.inf),
    )
    def retrieved(hits: JudgedHits, cutoff: int | None, *, times: float) -> FloatArray:
        """How many documents were ranked.

        More text.
        """
        return np.minimum(hits.retrieved, cutoff or np.inf) * times

    parsed = Metric.parse("howmany(times=2)@3")
    assert str(parsed) == "Retrieved(times=2)@3"
    assert not parsed.higher_is_better
    assert parsed.definition.summary == "How many documents were ranked."
    evaluation = evaluate(
        Run.from_dict({"p": list("abcd"), "q": ["a"]}),
        GoldenSet.from_dict({"p": {"c": 1}, "q": {"x": 1}, "r": {"x": 1}}),
    )
    assert evaluation.per_query(parsed).to_dict() == {"p": 6, "q": 2, "r": 0}
    # every metric over judged hits has judged_only: of p's ranking only c is judged
    only = evaluation.per_query("Retrieved(judged_only=true)")
    assert only.to_dict() == {"p": 1, "q": 0, "r": 0}
    assert "Retrieved" in definitions()


@pytest.mark.parametrize(
    ("name", "aliases"), [("nDCG", ()), ("ndcg", ()), ("MRR", ()), ("New", ("precision",))]
)
def test_a_name_or_alias_that_is_taken_is_refused(name: str, aliases: tuple[str, ...]) -> None:
    before = set(definitions())
    with pytest.raises(MetricError, match="is already taken by"):

        @metric(name, reference="this test", aliases=aliases)
        def another(hits: JudgedHits, cutoff: int | None) -> FloatArray:
            """Nothing."""
            return hits.retrieved

    assert set(definitions()) == before
    with pytest.raises(MetricError):
        Metric.parse("New")


def test_a_metric_registered_later_shows_in_suggestions() -> None:
    @metric("Serendipity", reference="this test")
    def serendipity(hits: JudgedHits, cutoff: int | None) -> FloatArray:
        """Nothing."""
        return hits.retrieved

    with pytest.raises(MetricError, match="did you mean 'Serendipity'"):
        Metric.parse("Serendipty@3")


# --- the same function again -------------------------------------------------------------------------


def defined(value: float, module: str, file: str, qualname: str = "mine") -> MetricFunction:
    """Return a function as if it were defined in a module's file."""
    namespace: dict[str, object] = {"__name__": module}
    source = f"def {qualname}(hits, cutoff):\n    return hits.retrieved * 0 + {value}\n"
    exec(compile(source, file, "exec"), namespace)
    return namespace[qualname]  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("conftest", "/a/conftest.py"), ("conftest", "/a/conftest.py")),
        (("conftest", "/a/conftest.py"), ("a.conftest", "/a/conftest.py")),
        (("__main__", "/tmp/ipykernel_7/1.py"), ("__main__", "/tmp/ipykernel_7/2.py")),
    ],
)
def test_a_new_definition_of_the_same_function_takes_its_place(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    evaluation = evaluate(Run.from_dict({"q": ["a"]}), GoldenSet.from_dict({"q": {"a": 1}}))
    metric("Mine", aliases=("Old",))(defined(0.5, *first))
    assert evaluation.mean("Mine") == evaluation.mean("old@3") == 0.5
    metric("Mine", aliases=("New",))(defined(1, *second))
    assert evaluation.mean("Mine") == evaluation.mean("New") == 1
    with pytest.raises(MetricError, match="unknown metric 'Old'"):
        Metric.parse("Old")


@pytest.mark.parametrize(
    ("second", "qualname"),
    [(("conftest", "/b/conftest.py"), "mine"), (("conftest", "/a/conftest.py"), "other")],
)
def test_another_function_of_the_same_name_is_refused(
    second: tuple[str, str], qualname: str
) -> None:
    metric("Mine")(defined(1, "conftest", "/a/conftest.py"))
    with pytest.raises(MetricError) as refusal:
        metric("mine")(defined(2, *second, qualname=qualname))
    assert str(refusal.value) == (
        "the metric name 'mine' is already taken by Mine (conftest.mine in /a/conftest.py, line 1); "
        f"give another name to the metric of conftest.{qualname} in {second[1]}, line 1"
    )


def test_a_refused_definition_changes_nothing() -> None:
    metric("Mine", aliases=("Ours",))(defined(1, "conftest", "/a/conftest.py"))
    with pytest.raises(
        MetricError, match="the metric name 'MRR' is already taken by RR of pytest-rankch"
    ):
        metric("Mine", aliases=("MRR",))(defined(2, "conftest", "/a/conftest.py"))
    assert Metric.parse("Ours").name == "Mine"
    assert Metric.parse("MRR").name == "RR"


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"name": "Revenue per click"}, "'Revenue per click' is not a valid metric name"),
        ({"name": "nDCG@10"}, "'nDCG@10' is not a valid metric name"),
        ({"name": "ﬁrst"}, "'ﬁrst' is not a valid metric name"),
        ({"name": "lambda"}, "'lambda' is not a valid metric name"),
        (
            {"name": lambda hits, cutoff: None},
            'the name of the metric is missing; write @metric("Re',
        ),
        ({"aliases": ("x y",)}, "'x y' is not a valid metric name"),
        ({"range": (1, 0)}, "New: range=(1, 0) is invalid; give (lowest, highest)"),
        ({"range": (0, float("nan"))}, "is invalid; give (lowest, highest)"),
        ({"parameters": (DOUBLE,)}, "does not accept the call mine(hits, cutoff, times=...)"),
        (
            {"parameters": (Parameter("cutoff", 1, number(), "a number"),)},
            "New: the parameter name cutoff is reserved",
        ),
    ],
)
def test_an_invalid_declaration_is_refused(declared: dict[str, object], says: str) -> None:
    with pytest.raises(MetricError) as refusal:
        metric(**{"name": "New", **declared})(defined(1, "conftest", "/a"))  # type: ignore[arg-type]
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


def test_the_order_of_metrics_does_not_depend_on_the_first_import() -> None:
    listing = (
        "from pytest_rankcheck.metrics.metric_registry import definitions as d; print(list(d()))"
    )
    first = "import pytest_rankcheck.metrics.similarity.order_similarity"  # imports one family
    plain, after_one_family = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for code in (listing, f"{first}; {listing}")
    )
    assert plain.stdout == after_one_family.stdout
    assert "nDCG" in plain.stdout


def test_a_metric_may_have_a_name_that_other_tools_would_read_apart() -> None:
    """``recall_at_3`` is R@3, unless somebody registers a metric of this name."""

    def registered_as(name: str) -> None:
        @metric(name, reference="this test")
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


def test_another_tools_spelling_is_a_name_that_is_taken() -> None:
    with pytest.raises(MetricError, match="'rbp_resid' is already taken by RBPResidual"):

        @metric("rbp_resid", reference="this test")
        def residual(hits: JudgedHits, cutoff: int | None) -> FloatArray:
            """One."""
            return np.ones_like(hits.retrieved)


def test_a_metric_can_have_spellings_of_other_tools() -> None:
    @metric(
        "Retrieved",
        reference="this test",
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
