"""The registry: a metric is one decorated function in one place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pytest_rankcheck import GoldenSet, Metric, MetricError, Run, evaluate
from pytest_rankcheck.metrics import names, registry
from pytest_rankcheck.metrics.hits import FloatArray, JudgedHits
from pytest_rankcheck.metrics.parameters import Parameter, number
from pytest_rankcheck.metrics.registry import definitions, metric


@pytest.fixture(autouse=True)
def _registry_restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    definitions()  # load the families first
    monkeypatch.setattr(registry, "_DEFINITIONS", dict(registry._DEFINITIONS))
    monkeypatch.setattr(registry, "_NAMES", dict(registry._NAMES))
    yield
    names._parse.cache_clear()


DOUBLE = Parameter("times", default=1, check=number(above=0), allowed="a number above 0")


def test_one_decorated_function_is_a_metric() -> None:
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
    with pytest.raises(MetricError, match="is taken by"):

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
