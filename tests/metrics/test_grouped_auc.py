"""GAUC: the AUC of each query by hand and as scikit-learn has it, and its weighted mean everywhere."""

import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from pytest_rankcheck import (
    Evaluation,
    Gate,
    GoldenSet,
    MetricError,
    Run,
    compare,
    evaluate,
    evaluate_part,
)
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.text.measurement_notes import evaluation_notes

GOLDEN = GoldenSet.from_dict(
    {
        "one": {"a": 1, "b": 0, "c": 0, "d": 2},
        "two": {"a": 1, "b": 0},
        "only relevant": {"a": 1, "b": 2, "c": 1},
        "none relevant": {"a": 0, "b": 0},
        "unjudged": {},
    }
)


def run_of(scores: Mapping[str, float]) -> Run:
    return Run.from_dict(dict.fromkeys(GOLDEN.query_ids, dict(scores)))


def test_by_hand() -> None:
    for scores, one, two in (
        # a above b and c, d above both
        ({"a": 3, "b": 2, "c": 1, "d": 4}, 1, 1),
        ({"x": 9, "a": 3, "y": 2.5, "b": 2, "c": 1, "d": 4}, 1, 1),
        # a below b, d above both
        ({"a": 2, "b": 3, "c": 1, "d": 4}, 3 / 4, 0),
        # a tied with b
        ({"a": 2, "b": 2, "c": 1, "d": 4}, 3.5 / 4, 1 / 2),
        # all tied, also with an unjudged document between
        ({"a": 2, "b": 2, "c": 2, "d": 2}, 1 / 2, 1 / 2),
        ({"a": 2, "aa": 2, "b": 2, "c": 2, "d": 2}, 1 / 2, 1 / 2),
        # a is not ranked: below b, tied with c
        ({"b": 2, "d": 4}, (2 + 0.5) / 4, 0),
        # nothing judged is ranked
        ({"x": 1}, 1 / 2, 1 / 2),
    ):
        found = evaluate(run_of(scores), GOLDEN).per_query("GAUC")
        assert found.tolist()[:2] == pytest.approx([one, two]), scores
        assert found.isna().tolist() == [False, False, True, True, True]
        evaluation = evaluate(run_of(scores), GOLDEN)
        assert evaluation.mean("GAUC") == pytest.approx((4 * one + 2 * two) / 6)
        notes = [note.text for note in evaluation_notes(evaluation)]
        assert any("GAUC has no value for 3 queries of 5, left out" in text for text in notes)
    found = evaluate(run_of({"a": 3, "b": 2, "c": 1, "d": 4}), GOLDEN).per_query("GAUC(rel=2)")
    assert found.dropna().to_dict() == {"one": 1, "only relevant": 1 / 2}


def random_queries(
    count: int, seed: int
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgments and scores, many of them tied; some judged documents are not ranked."""
    draw = random.Random(seed)
    judged: dict[str, dict[str, int]] = {}
    scores: dict[str, dict[str, float]] = {}
    for number in range(count):
        docs = [f"d{place}" for place in range(draw.randint(1, 15))]
        ranked = draw.sample([*docs, "x", "y", "z"], draw.randint(1, len(docs) + 3))
        levels = draw.choice([3, 1000])
        judged[f"q{number}"] = {doc: draw.choice([-1, 0, 0, 1, 2]) for doc in docs}
        scores[f"q{number}"] = {doc: draw.randint(0, levels) / 7 for doc in ranked}
    return judged, scores


@pytest.mark.oracle
def test_every_query_is_as_in_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    judged, scores = random_queries(2000, 1)
    evaluation = evaluate(Run.from_dict(scores), GoldenSet.from_dict(judged))
    ours = evaluation.per_query("GAUC")
    total = weight = 0.0
    for query_id, grades in judged.items():
        labels = [grade > 0 for grade in grades.values()]
        if len(set(labels)) < 2:
            assert np.isnan(ours[query_id])
            continue
        values = [scores[query_id].get(doc, -1.0) for doc in grades]
        theirs = metrics.roc_auc_score(labels, values)
        assert ours[query_id] == pytest.approx(theirs, abs=1e-9)
        total, weight = total + len(grades) * theirs, weight + len(grades)
    assert evaluation.mean("GAUC") == pytest.approx(total / weight, abs=1e-9)


def test_ties_count_half_wherever_the_run_is(tmp_path: Path) -> None:
    judged, scores = random_queries(300, 2)
    golden = GoldenSet.from_dict(judged)
    wanted = evaluate(Run.from_dict(scores), golden).values("GAUC")
    lists = {
        query_id: sorted(docs.items(), key=lambda pair: -pair[1])
        for query_id, docs in scores.items()
    }
    run = Run.from_dict(scores)
    run.save(tmp_path / "a.run")
    rows = [(query, doc, score) for query, docs in scores.items() for doc, score in docs.items()]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    halves = [frame[frame.query_id < "q2"], frame[frame.query_id >= "q2"]]
    for measured in (
        evaluate(Run.from_dict(lists), golden),
        evaluate(Run.from_dict(lists, duplicates="keep_places"), golden),
        evaluate(Run.from_frame(frame), golden),
        evaluate(Run.from_frame(frame, ties="input"), golden),
        evaluate(Run.load(tmp_path / "a.run"), golden),
        evaluate(Run.scan(tmp_path / "a.run"), golden),
        Evaluation.merge([evaluate_part(half, golden) for half in halves], golden),
    ):
        assert np.array_equal(measured.values("GAUC"), wanted, equal_nan=True), measured
    measured = evaluate(run, golden)
    best, worst = (measured.with_ties(order).values("GAUC") for order in ("best", "worst"))
    assert (best + worst) / 2 == pytest.approx(wanted, nan_ok=True)
    assert (best > worst).any()
    # with the scores of a duplicate: its first place counts
    twice = {query_id: [*pairs, ("x", -1.0), ("x", -1.0)] for query_id, pairs in lists.items()}
    chunks = evaluate(Run.from_dict(twice, duplicates="keep_places"), golden)
    assert np.array_equal(chunks.values("GAUC"), wanted, equal_nan=True)


def test_its_weights_count_in_means_intervals_and_gates() -> None:
    judged, scores = random_queries(400, 3)
    attributes = {query_id: {"half": int(query_id[1:]) % 2, "w": 2} for query_id in judged}
    golden = GoldenSet.from_dict(judged, attributes=attributes)
    then = evaluate(Run.from_dict(scores), golden)
    worse = {query_id: dict(docs) for query_id, docs in scores.items()}
    for query_id, grades in judged.items():
        if len(grades) > 10:  # only the heavy queries are worse
            worse[query_id] = {doc: -grade for doc, grade in grades.items()}
    now = evaluate(Run.from_dict(worse), golden)
    counts = np.array([len(grades) for grades in judged.values()], dtype=float)

    def mean(evaluation: Evaluation, chosen: object = slice(None)) -> float:
        values = evaluation.values("GAUC")[chosen]
        has_value = ~np.isnan(values)
        return float(np.average(values[has_value], weights=counts[chosen][has_value]))

    pairs = compare(now, then).values("GAUC")
    assert (pairs.mean_before, pairs.mean_after) == pytest.approx((mean(then), mean(now)), abs=1e-6)
    assert pairs.differences.mean == pytest.approx(mean(now) - mean(then), abs=1e-6)
    low, high = now.interval("GAUC")
    assert low < mean(now) < high
    of_half = np.array([int(query_id[1:]) % 2 == 1 for query_id in judged])
    assert now.by("half", "GAUC")["mean"]["1"] == pytest.approx(mean(now, of_half))
    # the plain mean fell by half as much: the gate sees the weighted one
    fall = mean(then) - mean(now)
    plain = np.nanmean(then.values("GAUC")) - np.nanmean(now.values("GAUC"))
    assert plain < fall
    for margin, regressed in (((plain + fall) / 2, True), (fall + 0.001, False)):
        assert Gate.tolerance(abs=margin).decide(compare(now, then), "GAUC").regressed == regressed
    assert Gate.significant().decide(compare(now, then), "GAUC").regressed
    # weights of the golden set multiply
    equal = evaluate(Run.from_dict(scores), golden.weighted("w"))
    assert equal.mean("GAUC") == pytest.approx(mean(then))


def test_a_set_without_both_classes_is_refused() -> None:
    golden = GoldenSet.from_dict({"q": {"a": 1}, "r": {"b": 1, "c": 2}})
    evaluation = evaluate(Run.from_dict({"q": ["a"], "r": ["b", "c"]}), golden)
    with pytest.raises(MetricError, match=r"all 2 queries are left out.*it needs relevant "):
        evaluation.refuse_no_value(Metric.parse("GAUC"))
    with pytest.raises(MetricError, match="GAUC has no cutoff"):
        evaluation.mean("GAUC@10")
