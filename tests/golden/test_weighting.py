"""Weighted queries and clusters of queries."""

import numpy as np
import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError, MetricError, Run, evaluate
from pytest_rankcheck.reports.text.measurement_notes import evaluation_notes

GOLDEN = GoldenSet.from_dict(
    {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}},
    attributes={
        "a": {"asked": 6, "user": "u1"},
        "b": {"asked": 3, "user": "u1"},
        "c": {"asked": 1, "user": "u2"},
    },
)
RUN = Run.from_dict({"a": ["x"], "b": ["y", "x"], "c": ["y", "z", "x"]})


def test_a_weighted_mean_by_hand() -> None:
    evaluation = evaluate(RUN, GOLDEN.weighted("asked"))
    # (6 * 1 + 3 * 1/2 + 1 * 1/3) / 10
    assert evaluation.mean("RR") == pytest.approx((6 + 1.5 + 1 / 3) / 10)
    assert evaluation.median("RR") == 1
    # Without a, of the weights 3 and 1: the median is b's.
    assert evaluate(RUN, GOLDEN.weighted("asked").subset(["b", "c"])).median("RR") == 0.5
    by = evaluation.by("user", "RR")
    assert by["mean"].tolist() == pytest.approx([(6 + 1.5) / 9, 1 / 3])
    # Geometric: exp((6 ln 1 + 3 ln 1/2 + 1 ln 1/3) / 10)
    assert evaluation.mean("GMAP") == pytest.approx((0.5**3 / 3) ** 0.1)


def test_a_note_says_that_weights_leave_a_gate_blind() -> None:
    evaluation = evaluate(RUN, GOLDEN.weighted("asked"))
    evaluation.mean("RR")
    text = (
        "queries is 2.2, too small: few queries carry most of the weight, and a fall of the others "
        "hardly moves a mean; gate the set without weights too"
    )
    assert [note for note in evaluation_notes(evaluation) if text in note.text]
    plain = evaluate(RUN, GOLDEN)
    plain.mean("RR")
    assert not any("weighted" in note.text for note in evaluation_notes(plain))


def test_weights_change_the_fingerprint() -> None:
    weighted = GOLDEN.weighted("asked")
    assert weighted.fingerprint != GOLDEN.fingerprint
    assert GOLDEN.clustered("user").fingerprint == GOLDEN.fingerprint
    assert weighted.effective_size == pytest.approx(100 / 46)
    assert GOLDEN.effective_size == 3
    both = weighted.clustered("user")
    assert (both.weights, both.clusters) == ([6, 3, 1], ["u1", "u1", "u2"])
    assert both.sample(2).weights is not None


@pytest.mark.parametrize("value", [0, -1, "often", None, float("nan")])
def test_an_invalid_weight_is_refused(value: object) -> None:
    golden = GoldenSet.from_dict(
        {"a": {"x": 1}, "b": {"x": 1}}, attributes={"a": {"w": 1}, "b": {"w": value}}
    )
    with pytest.raises(GoldenSetError, match=r"query 'b'.* number above 0|has no attribute 'w'"):
        golden.weighted("w")


def test_a_query_without_its_cluster_is_refused() -> None:
    with pytest.raises(GoldenSetError, match="no attribute 'usr'; did you mean 'user'"):
        GOLDEN.clustered("usr")


def test_merged_sets_must_be_weighted_by_the_same_attribute() -> None:
    other = GoldenSet.from_dict({"d": {"x": 1}}, attributes={"d": {"asked": 2, "user": "u3"}})
    merged = GOLDEN.weighted("asked").merge(other.weighted("asked"))
    assert merged.weights == [6, 3, 1, 2]
    with pytest.raises(GoldenSetError, match="weighted by asked and nothing; to merge them"):
        GOLDEN.weighted("asked").merge(other)


def test_the_interval_of_a_mean_by_hand() -> None:
    """RR of 1, 1/2 and 1/3: mean 11/18, standard error s / sqrt(3), t of 2 degrees 4.3027."""
    evaluation = evaluate(RUN, GOLDEN)
    values = np.array([1, 1 / 2, 1 / 3])
    half = 4.302652729911275 * values.std(ddof=1) / np.sqrt(3)
    assert evaluation.interval("RR") == pytest.approx((11 / 18 - half, 11 / 18 + half))
    # Of users: u1 has 1 and 1/2, u2 has 1/3. Linearised, with C = 2: m + (1.5 - 2m) 2/3 and
    # m + (1/3 - m) 2/3; t of 1 degree is 12.7062.
    mean = 11 / 18
    parts = np.array([mean + (1.5 - 2 * mean) * 2 / 3, mean + (1 / 3 - mean) * 2 / 3])
    half = 12.706204736432095 * parts.std(ddof=1) / np.sqrt(2)
    together = evaluate(RUN, GOLDEN.clustered("user"))
    assert together.interval("RR") == pytest.approx((mean - half, mean + half))
    with pytest.raises(MetricError, match="its mean is geometric"):
        evaluation.interval("GMAP")
