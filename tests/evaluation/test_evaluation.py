"""An evaluation: a run measured on a golden set, lazily, per query and by slice."""

import gc
import math

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Conventions,
    GoldenSet,
    GoldenSetError,
    Metric,
    Run,
    RunError,
    compare,
    evaluate,
)
from pytest_rankcheck.metrics.metric_definition import Definition

GOLDEN = GoldenSet.from_dict(
    {"a": {"d1": 1}, "b": {"d1": 1, "d2": 2}, "c": {"d1": 0}, "d": {"d1": 1}},
    attributes={
        "a": {"locale": "en"},
        "b": {"locale": "en", "tags": ["x", "y"]},
        "c": {"locale": "de", "tags": ["x"]},
    },
    name="web",
)
# RR: a 1/2, b 1, c 0 (nothing relevant), d 0 (missing); e is extra
RUN = Run.from_dict(
    {"e": ["d1"], "c": ["d1"], "b": ["d2", "d1"], "a": ["x", "d1"]}, name="bm25", ties="input"
)


def test_means_and_values_follow_the_golden_sets_order() -> None:
    evaluation = evaluate(RUN, GOLDEN)
    assert evaluation.query_ids == ("a", "b", "c", "d")
    assert evaluation.values("RR").tolist() == [0.5, 1, 0, 0]
    assert evaluation.mean("RR") == 0.375
    assert isinstance(evaluation.mean("RR"), float)
    assert evaluation.missing == ("d",)
    assert evaluation.extra == ("e",)
    assert evaluation.ranking("b") == ("d2", "d1")
    assert evaluation.ranking("d") == ()
    assert evaluation.query_fingerprints == GOLDEN.query_fingerprints


def test_per_query_is_a_series_and_table_a_frame() -> None:
    evaluation = evaluate(RUN, GOLDEN)
    series = evaluation.per_query("mrr")
    expected = pd.Series(
        [0.5, 1.0, 0.0, 0.0], index=pd.Index(["a", "b", "c", "d"], name="query_id"), name="RR"
    )
    pd.testing.assert_series_equal(series, expected)
    table = evaluation.table(["MRR", Metric.parse("P@2"), "R@1"])
    assert table.columns.tolist() == ["RR", "P@2", "R@1"]
    assert table.index.name == "query_id"
    assert set(table.dtypes) == {np.dtype("float64")}
    assert table.loc["b"].tolist() == [1, 1, 0.5]


def test_slices_have_a_mean_and_a_number_of_queries() -> None:
    evaluation = evaluate(RUN, GOLDEN)
    by = evaluation.by("locale", "RR")
    assert by.index.name == "locale"
    assert by.index.tolist() == ["(none)", "de", "en"]
    assert by["mean"].tolist() == [0, 0, 0.75]
    assert by["queries"].tolist() == [1, 1, 2]
    half = 12.7062 * 0.25  # Student's t of one degree of freedom, and the error of 1/2 and 1
    assert by.loc["en", ["low", "high"]].tolist() == pytest.approx([0.75 - half, 0.75 + half])
    assert by.dtypes.tolist()[:2] == [np.dtype("float64"), np.dtype("int64")]
    # a query belongs to every slice of its list
    assert evaluation.by("tags", "RR")[["mean", "queries"]].to_dict("index") == {
        "(none)": {"mean": 0.25, "queries": 2},
        "x": {"mean": 0.5, "queries": 2},
        "y": {"mean": 1.0, "queries": 1},
    }
    with pytest.raises(GoldenSetError, match="did you mean 'locale'"):
        evaluation.by("locales", "RR")


def test_a_metric_is_computed_once_and_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []
    call = Definition.__call__

    def counting(self: Definition, *args: object) -> object:
        computed.append(self.name)
        return call(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Definition, "__call__", counting)
    evaluation = evaluate(RUN, GOLDEN)
    assert computed == []
    evaluation.mean("RR")
    evaluation.per_query("MRR")
    evaluation.by("locale", "rr")
    evaluation.table(["RR", "P@1"])
    assert computed == ["RR", "P"]


def test_the_values_cannot_be_changed() -> None:
    values = evaluate(RUN, GOLDEN).values("RR")
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1


# --- conventions ---------------------------------------------------------------------------------


def test_missing_and_extra_queries_can_be_errors() -> None:
    with pytest.raises(RunError, match="run 'bm25' lacks judged queries of golden set 'web', 1: d"):
        evaluate(RUN, GOLDEN, conventions=Conventions(missing="error"))
    with pytest.raises(RunError, match="has queries without judgments of golden set 'web', 1: e"):
        evaluate(RUN, GOLDEN, conventions=Conventions(extra="error"))
    fitting = Run.from_dict({query: ["d1"] for query in GOLDEN.query_ids})
    assert (
        evaluate(fitting, GOLDEN, conventions=Conventions(missing="error", extra="error")).mean(
            "RR"
        )
        == 0.75
    )


def test_a_query_without_relevant_documents_can_be_excluded_from_the_mean() -> None:
    evaluation = evaluate(RUN, GOLDEN, conventions=Conventions(no_relevant="exclude"))
    assert math.isnan(evaluation.values("RR")[2])
    assert evaluation.mean("RR") == 0.5  # of 1/2, 1, 0
    by = evaluation.by("locale", "RR")
    assert by.loc["de", "queries"] == 0
    assert math.isnan(by.loc["de", "mean"])


def test_a_run_in_which_every_judged_ranking_is_empty_is_refused() -> None:
    for run in ({"a": [], "b": []}, {"a": [], "zzz": ["d1"]}):
        with pytest.raises(RunError, match="every ranking is empty: the ranker is broken, not bad"):
            evaluate(Run.from_dict(run, name="dead"), GOLDEN)


def test_every_convention_is_a_keyword_of_evaluate() -> None:
    for name, value in Conventions(ties="input", no_relevant="exclude").to_dict().items():
        assert getattr(evaluate(RUN, GOLDEN, **{name: value}).conventions, name) == value
    both = evaluate(RUN, GOLDEN, conventions=Conventions(missing="empty"), no_relevant="exclude")
    assert both.mean("RR") == 0.5  # of 1/2, 1, 0
    with pytest.raises(ConfigurationError, match=r"unknown convention 'no_relevent'; did you mean"):
        evaluate(RUN, GOLDEN, no_relevent="exclude")
    with pytest.raises(ConfigurationError, match="ties=error does not fit run"):
        evaluate(RUN, GOLDEN, ties="error")


def test_unknown_conventions_are_refused() -> None:
    for option in ("missing", "extra", "no_relevant"):
        with pytest.raises(RunError, match=f"{option}=drop is invalid"):
            evaluate(RUN, GOLDEN, conventions=Conventions(**{option: "drop"}))
    for entry, message in (
        ({"tie": "input"}, r"unknown convention 'tie'; did you mean 'ties'\?"),
        ({"no_relevant": "ignore"}, "no_relevant=ignore is invalid"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            Conventions.from_dict(entry)


def test_ties_and_duplicates_are_those_of_the_run() -> None:
    run = Run.from_dict({"a": {"d1": 1.0, "d2": 1.0}}, name="bm25", ties="input")
    conventions = Conventions(missing="empty", ties="input")
    assert evaluate(run, GOLDEN, conventions=conventions).conventions.ties == "input"
    assert evaluate(run, GOLDEN, conventions=Conventions()).conventions.ties == "input"
    with pytest.raises(
        ConfigurationError, match="duplicates=close_gaps does not fit run 'bm25', which"
    ):
        evaluate(run, GOLDEN, conventions=Conventions(duplicates="close_gaps"))


def test_memory_is_used_again_though_the_garbage_collector_is_off() -> None:
    """In a loop over pairs, each pair is dropped before the collector would look for it."""

    def compared() -> None:
        golden = GoldenSet.from_dict({"a": {"d1": 1, "d2": 2}}, queries={"a": "red shoes"})
        before, after = (
            evaluate(Run.from_dict({"a": docs}), golden) for docs in (["d2", "d1"], ["d1", "d2"])
        )
        assert after.values("RR(rel=2)") == [0.5]
        assert compare(after, before).values("nDCG@10").losses == 1
        assert golden.grades("a") == {"d1": 1, "d2": 2}

    compared()  # what is imported now is not counted
    gc.collect()
    gc.disable()
    try:
        compared()
        assert gc.collect() == 0
    finally:
        gc.enable()
