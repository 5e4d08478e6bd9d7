"""Metrics of the whole run, by hand.

    q1  a b c        q2  a b d        q3  a e        q4  (nothing)        q5  c b a

In the top 2: a is shown by q1, q2, q3; b by q1, q2, q5; e by q3; c by q5. So 4 documents in 5 * 2
places, of which 8 are filled.
"""

import pytest

from pytest_rankcheck import (
    Gate,
    GoldenSet,
    MetricError,
    Run,
    SessionLog,
    compare,
    evaluate,
    evaluate_sessions,
)

RANKINGS = {
    "q1": ["a", "b", "c"],
    "q2": ["a", "b", "d"],
    "q3": ["a", "e"],
    "q4": [],
    "q5": ["c", "b", "a"],
}
GOLDEN = GoldenSet.from_dict({query_id: {} for query_id in RANKINGS})
EVALUATION = evaluate(Run.from_dict(RANKINGS), GOLDEN)


def test_by_hand() -> None:
    for metric, values in (
        # a and b count 1/3 each, of 2 places.
        (
            "Distinct@2",
            [(1 / 3 + 1 / 3) / 2, (1 / 3 + 1 / 3) / 2, (1 / 3 + 1) / 2, 0, (1 + 1 / 3) / 2],
        ),
        ("Distinct@1", [1 / 3, 1 / 3, 1 / 3, 0, 1]),
        # All three places: a is shown 4 times, b 3, c 2, d 1, e 1.
        (
            "Distinct",
            [
                (1 / 4 + 1 / 3 + 1 / 2) / 3,
                (1 / 4 + 1 / 3 + 1) / 3,
                (1 / 4 + 1) / 3,
                0,
                (1 / 2 + 1 / 3 + 1 / 4) / 3,
            ],
        ),
        # Of 4 documents in the top 2, 1% is one, which a and b are both shown as often as: 3 times.
        ("HeadShare@2", [1, 1, 1 / 2, 0, 1 / 2]),
        ("HeadShare@1", [1, 1, 1, 0, 0]),
        # Of 5 documents 20% is one: a, of 4 queries.
        ("HeadShare(head=0.2)", [1 / 3, 1 / 3, 1 / 2, 0, 1 / 3]),
        ("HeadShare(head=0.4)", [2 / 3, 2 / 3, 1 / 2, 0, 2 / 3]),
        ("HeadShare(head=1)", [1, 1, 1, 0, 1]),
        ("NoResults", [0, 0, 0, 1, 0]),
        # q1 and q2 show a and b first; q1 and q5 show the same three documents.
        ("RepeatedList@2", [1, 1, 0, 0, 0]),
        ("RepeatedList", [1, 0, 0, 0, 1]),
    ):
        assert EVALUATION.per_query(metric).tolist() == pytest.approx(values), metric
    assert EVALUATION.mean("Distinct@2") == pytest.approx(4 / (5 * 2)), "different / all"


def test_metrics_of_the_whole_run_are_gated_like_others() -> None:
    ids = [f"q{number}" for number in range(150)]
    golden = GoldenSet.from_dict({query_id: {} for query_id in ids})
    then = evaluate(Run.from_dict({query_id: [f"d{query_id}", "x"] for query_id in ids}), golden)
    now = evaluate(Run.from_dict({query_id: ["x", "y"] for query_id in ids}), golden)
    for metric in ("Distinct@2", "RepeatedList@2"):
        verdict = Gate.significant().decide(compare(now, then), metric)
        assert verdict.regressed, metric
    assert not Gate.significant().decide(compare(now, then), "NoResults").regressed


def test_metrics_of_the_whole_run_are_refused_for_sessions_and_scans(tmp_path) -> None:  # type: ignore[no-untyped-def]
    log = SessionLog.from_frame(__import__("pandas").DataFrame([{"session_id": "s"}]))
    with pytest.raises(MetricError, match="Distinct is a metric of the whole run"):
        evaluate_sessions(log).mean("Distinct@10")
    with pytest.raises(MetricError, match="metric of sessions"):
        EVALUATION.mean("SuccessRate")
    with pytest.raises(MetricError, match="head=2 is invalid"):
        EVALUATION.mean("HeadShare(head=2)@10")
    lines = [f"q1 Q0 d{place} {place} {-place} x\n" for place in range(30)]
    (tmp_path / "a.run").write_text("".join(lines))
    scanned = evaluate(Run.scan(tmp_path / "a.run"), GoldenSet.from_dict({"q1": {"d0": 1}}))
    assert scanned.mean("Distinct@10") == 1
    assert scanned.mean("NoResults") == 0
    with pytest.raises(MetricError, match="use a cutoff of at most 20"):
        scanned.mean("Distinct@30")
    with pytest.raises(MetricError, match="use a cutoff of at most 20"):
        scanned.mean("HeadShare")
