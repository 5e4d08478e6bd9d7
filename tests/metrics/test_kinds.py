"""Kinds of measurement: a new one needs a class and its registration, and nobody else changes."""

import math
import re
from collections.abc import Iterator

import numpy as np
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Conventions,
    Gate,
    GoldenSet,
    MetricError,
    Record,
    Run,
    assert_at_least,
    assert_not_regressed,
    compare,
    evaluate,
)
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.kinds import WholeRunValue
from pytest_rankcheck.metrics.metric_definition import KINDS
from pytest_rankcheck.metrics.metric_inputs import WholeRun
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.reports.ledger import collecting

GOLDEN = GoldenSet.from_dict(
    {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}},
    attributes={"q1": {"lang": "en"}, "q2": {"lang": "de"}, "q3": {"lang": "en"}},
)
NOW = Run.from_dict({"q1": ["a", "b"], "q2": ["b", "a"], "q3": ["a", "c"]})
THEN = Run.from_dict({"q1": ["a", "b"], "q2": ["b", "c"], "q3": ["c", "d"]})
NAME = "TimesShown@2"


class DocumentValues(WholeRunValue):
    """Each document has a value; their mean is the only value, and has no interval."""

    improved = "how often these documents are shown"
    single = "one value of all documents"

    def returned(self, values: FloatArray, queries: int) -> FloatArray:
        alone = np.full(queries, np.nan)
        alone[:1] = np.nanmean(values)
        return alone


@pytest.fixture(autouse=True)
def _registered(own_metrics: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(KINDS, "document", DocumentValues())  # type: ignore[arg-type]

    @metric("TimesShown", unit="document", range=(0.0, 1e9))  # type: ignore[arg-type]
    def times_shown(run: WholeRun, cutoff: int | None) -> FloatArray:
        """How often a document that is shown at all is shown."""
        top = run.top(cutoff)
        return np.bincount(top[top >= 0]).astype(np.float64)

    with collecting():  # its findings do not belong to this test session, which knows no such kind
        yield


def test_it_is_called_and_averaged() -> None:
    evaluation = evaluate(NOW, GOLDEN)
    assert evaluation.mean(NAME) == (3 + 2 + 1) / 3
    assert math.isnan(evaluation.median(NAME))
    assert all(map(math.isnan, evaluation.interval(NAME)))
    partly = GoldenSet.from_dict({"q1": {"a": 1}, "q2": {"b": 0}, "q3": {"c": 1}})
    excluding = evaluate(NOW, partly, conventions=Conventions(no_relevant="exclude"))
    assert excluding.mean(NAME) == (3 + 2 + 1) / 3


def test_it_is_compared_recorded_and_bounded_as_one_value() -> None:
    now, then = evaluate(NOW, GOLDEN), evaluate(THEN, GOLDEN)
    record = Record.of(then, [Metric.parse(NAME)], attributes=["lang"])
    assert NAME not in record.text.rpartition('"queries": [')[2]
    comparison = compare(now, Record.from_text(record.text))
    assert comparison.values(NAME).difference == pytest.approx(
        (3 + 2 + 1) / 3 - (1 + 2 + 2 + 1) / 4
    )
    verdict = Gate.tolerance().decide(comparison, NAME, "lang")
    assert (verdict.regressed, [*verdict.slices]) == (False, [])
    with pytest.raises(AssertionError, match="improve how often these documents are shown"):
        assert_at_least(now, NAME, 3)


def test_what_it_cannot_do_is_refused_in_its_words() -> None:
    now = evaluate(NOW, GOLDEN)
    words = re.escape(f"{NAME} is one value of all documents, and ")
    with pytest.raises(MetricError, match=words + "has no value of a slice"):
        now.mean_at(NAME, [0])
    with pytest.raises(ConfigurationError, match=words + "significant"):
        Gate.significant().decide(compare(now, now), NAME)
    with pytest.raises(MetricError, match=words + "has no value of a slice"):
        assert_not_regressed(now, now, NAME, by="lang")
    assert_not_regressed(now, now, [NAME, "RR"], by=())  # which gates by none
