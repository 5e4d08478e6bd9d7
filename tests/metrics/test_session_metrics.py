"""Every session metric on sessions worked by hand.

    session  events (seconds, results shown)          selections
    s1 (A)   0 s: 3    2 s: 2    5 s: 4               the 4th of the third list
    s2 (A)   10 s: 2   14 s: 1                        the 2nd of the first, the 1st of the second
    s3 (B)   20 s: 2   23 s: 5                        none
    s4 (B)   30 s: 2                                  the 2nd

So the final selections of s1, s2 and s4 have the ranks 4, 1 and 2, in the events 3, 2 and 1; the
sessions last 5, 4, 3, 0 s and have 3, 2, 2, 1 events.
"""

import math

import pandas as pd
import pytest

from pytest_rankcheck import (
    Evaluation,
    GoldenSet,
    GoldenSetError,
    Metric,
    MetricError,
    Run,
    SessionLog,
    evaluate,
    evaluate_sessions,
)


def event(session: str, time: float, shown: int, *selected: int) -> dict[str, object]:
    group = "A" if session in ("s1", "s2") else "B"
    return {
        "session_id": session,
        "time": time,
        "results": [f"d{place}" for place in range(1, shown + 1)],
        "selected_rank": list(selected),
        "group": group,
    }


LOG = SessionLog.from_frame(
    pd.DataFrame(
        [
            event("s1", 0, 3),
            event("s1", 2, 2),
            event("s1", 5, 4, 4),
            event("s2", 10, 2, 2),
            event("s2", 14, 1, 1),
            event("s3", 20, 2),
            event("s3", 23, 5),
            event("s4", 30, 2, 2),
        ]
    ),
    first_rank=1,
    time_unit="s",
)
NOTHING = math.nan


@pytest.fixture
def evaluation() -> Evaluation:
    return evaluate_sessions(LOG)


def test_by_hand(evaluation: Evaluation) -> None:
    for metric, values in (
        ("SessionRR(abandoned=zero)", [1 / 4, 1, 0, 1 / 2]),
        ("SessionRR(abandoned=exclude)", [1 / 4, 1, NOTHING, 1 / 2]),
        ("SuccessRate", [1, 1, 0, 1]),
        ("SuccessRate@1", [0, 1, 0, 0]),
        ("SuccessRate@2", [0, 1, 0, 1]),
        ("SuccessRate@4", [1, 1, 0, 1]),
        ("AbandonmentRate", [0, 0, 1, 0]),
        ("MeanEventRank(abandoned=exclude)", [3, 2, NOTHING, 1]),
        ("MeanEventRank(abandoned=next)", [3, 2, 2 + 1, 1]),
        ("MeanEventRank(abandoned=zero)", [3, 2, 0, 1]),
        # s2: the mean of the ranks 2 and 1; s3 would have gone on to the sixth of five.
        ("ClickRank(abandoned=exclude)", [4, 3 / 2, NOTHING, 2]),
        ("ClickRank(abandoned=next)", [4, 3 / 2, 5 + 1, 2]),
        # From the session's start to its first selection; s3 had none in its 3 seconds.
        ("TimeToSelection(abandoned=exclude)", [5, 0, NOTHING, 0]),
        ("TimeToSelection(abandoned=next)", [5, 0, 3, 0]),
        ("SessionDuration", [5, 4, 3, 0]),
        ("MedianSessionDuration", [5, 4, 3, 0]),
        ("EventsPerSession", [3, 2, 2, 1]),
    ):
        assert evaluation.per_query(metric).tolist() == pytest.approx(values, nan_ok=True)
        counted = [value for value in values if not math.isnan(value)]
        if not metric.startswith("Median"):
            assert evaluation.mean(metric) == pytest.approx(sum(counted) / len(counted))


def test_the_median_of_durations(evaluation: Evaluation) -> None:
    assert evaluation.mean("MedianSessionDuration") == (3 + 4) / 2
    assert evaluation.median("SessionDuration") == (3 + 4) / 2


def test_the_abandonment_policy_is_in_the_name() -> None:
    for name in ("SessionRR", "MeanEventRank", "ClickRank", "TimeToSelection"):
        with pytest.raises(MetricError, match=f"{name} needs abandoned=, .* no default"):
            Metric.parse(name)
    assert str(Metric.parse("sessionmrr(abandoned=ZERO)")) == "SessionRR(abandoned=zero)"
    with pytest.raises(MetricError, match="abandoned=worst is invalid"):
        Metric.parse("SessionRR(abandoned=worst)")
    with pytest.raises(MetricError, match="no parameter 'abandoned'"):
        Metric.parse("SuccessRate(abandoned=zero)")


def test_session_metrics_and_query_metrics_are_kept_apart(evaluation: Evaluation) -> None:
    with pytest.raises(MetricError, match=r"nDCG is a metric of queries.* log.to_golden_set"):
        evaluation.mean("nDCG@10")
    of_queries = evaluate(Run.from_dict({"q": ["d"]}), GoldenSet.from_dict({"q": {"d": 1}}))
    with pytest.raises(MetricError, match=r"SuccessRate is a metric of sessions.* session_evalu"):
        of_queries.mean("SuccessRate@3")


def test_the_final_of_several_clicks_is_the_last_in_time() -> None:
    clicks = [{"rank": 1, "start": 9.0}, {"rank": 3, "start": 4.0}]
    frame = pd.DataFrame(
        [{"session_id": "s", "time": 1, "results": ["a", "b", "c"], "clicks": clicks}]
    )
    trails = SessionLog.from_frame(frame, time_unit="s").trails
    assert trails.final_rank.tolist() == [1.0]
    assert trails.first_selection.tolist() == [3.0]
    assert trails.duration.tolist() == [8.0]


def test_session_dcg_by_hand() -> None:
    """DCG of [2, 0, 1] is 2 + 1/log2 3 = 2.6309, of [0, 3] it is 3/max(1, log2 2) = 3.

    sDCG = 2.6309 / (1 + log4 1) + 3 / (1 + log4 2) = 2.6309 + 3 / 1.5 = 4.6309.
    """
    frame = pd.DataFrame(
        [
            {"session_id": "s", "event": 1, "results": ["a", "b", "c"], "topic": "t"},
            {"session_id": "s", "event": 2, "results": ["d", "e"], "topic": "t"},
        ]
    )
    log = SessionLog.from_frame(frame)
    grades = {"a": 2, "b": 0, "c": 1, "e": 3, "f": 3}
    expected = 2 + 1 / math.log2(3) + 3 / 1.5
    for judgments, by in (
        (GoldenSet.from_dict({"s.1": grades, "s.2": grades}), None),
        (GoldenSet.from_dict({"s": grades}), None),
        (GoldenSet.from_dict({"t": grades}), "topic"),
    ):
        evaluation = evaluate_sessions(log, judgments, judged_by=by)
        assert evaluation.mean("sDCG") == pytest.approx(expected)
        # At 2: DCG of [2, 0] is 2.
        assert evaluation.mean("sDCG@2") == pytest.approx(2 + 3 / 1.5)
        # Less patience, base 2 of queries: the second list is divided by 1 + log2 2 = 2.
        assert evaluation.mean("sDCG(bq=2)@2") == pytest.approx(2 + 3 / 2)
    with pytest.raises(MetricError, match=r"sDCG needs graded judgments"):
        evaluate_sessions(log).mean("sDCG")
    with pytest.raises(GoldenSetError, match=r"judges no state of session log .*; is judged_by="):
        evaluate_sessions(log, GoldenSet.from_dict({"other": grades}))


def test_a_session_may_start_before_its_first_event() -> None:
    frame = pd.DataFrame(
        [
            {"session_id": "s", "time": 10, "start": 4, "results": ["a"], "selected": None},
            {"session_id": "s", "time": 12, "start": 4, "results": ["a"], "selected": "a"},
            {"session_id": "t", "time": 20, "start": 20, "results": ["a"], "selected": "a"},
        ]
    )
    evaluation = evaluate_sessions(SessionLog.from_frame(frame, time_unit="s"))
    assert evaluation.per_query("SessionDuration").tolist() == [12 - 4, 0]
    assert evaluation.per_query("TimeToSelection(abandoned=exclude)").tolist() == [12 - 4, 0]
