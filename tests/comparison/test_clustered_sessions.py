"""Sessions of the same users: two logs are compared by user, and records keep no ids of users."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from pytest_rankcheck import (
    Evaluation,
    Gate,
    Metric,
    Record,
    SessionLog,
    SessionLogError,
    Unpaired,
    assert_not_regressed,
    compare,
    evaluate_sessions,
)
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.statistics.two_samples import TwoSamples
from tests.sessions.users import users_log

RATE = Metric.parse("SuccessRate")


def evaluated(
    seed: int, week: str, *, drawn: int = 0, clustered: str | None = "user"
) -> Evaluation:
    """Return the evaluation of a week of 60 users who differ a lot."""
    frame = users_log(60, seed=seed, week=week, users_seed=drawn)
    return evaluate_sessions(SessionLog.from_frame(frame), clustered=clustered)


def unpaired(now: Evaluation, before: Evaluation | Record) -> Unpaired:
    values = compare(now, before).values(RATE)
    assert isinstance(values, Unpaired)
    return values


def cluster_robust(values: np.ndarray, regressors: np.ndarray, users: np.ndarray) -> np.ndarray:
    """Return the cluster-robust standard errors of statsmodels, without its factor (N-1)/(N-k)."""
    import statsmodels.api as sm

    names = np.unique(users, return_inverse=True)[1]
    fit = sm.OLS(values, regressors).fit(cov_type="cluster", cov_kwds={"groups": names})
    count, parameters = regressors.shape
    return np.sqrt(np.diag(fit.cov_params()) * (count - parameters) / (count - 1))


@pytest.mark.oracle
def test_the_error_of_two_samples_is_that_of_cluster_robust_regressions() -> None:
    now, before = evaluated(1, "w2", drawn=1), evaluated(2, "w1", drawn=2)
    found = unpaired(now, Record.of(before, [RATE])).differences
    assert isinstance(found, TwoSamples)
    errors = [
        cluster_robust(
            each.values(RATE), np.ones((len(each.query_ids), 1)), np.array(each.cluster_names)
        )
        for each in (now, before)
    ]
    assert found.error == pytest.approx(float(np.hypot(*errors)[0]), rel=1e-9)
    assert found.mean == pytest.approx(now.mean(RATE) - before.mean(RATE))


def log_of(users: Sequence[str | None], selects: Sequence[bool]) -> SessionLog:
    """Return sessions of one event each: whose, and whether they select their first document."""
    return SessionLog.from_records(
        {"session_id": f"s{n}", "event": 1, "results": "a b", "user": user, "selected": chosen}
        for n, (user, select) in enumerate(zip(users, selects, strict=True))
        for chosen in ("a" if select else None,)
    )


def test_gates_decide_by_user() -> None:
    """One user with 300 sessions fails in the second week: that is one unit, not 300."""
    users = [f"u{n}" for n in range(40)] + ["big"] * 300
    now, before = (
        log_of(users, [n % 4 > 0 for n in range(40)] + [big] * 300) for big in (False, True)
    )
    for clustered, regressed in ((None, True), ("user", False)):
        pair = (evaluate_sessions(each, clustered=clustered) for each in (now, before))
        assert Gate.significant().decide(compare(*pair), RATE).regressed is regressed


def test_the_text_says_what_is_independent() -> None:
    before = evaluated(2, "w1")
    worse = evaluate_sessions(
        SessionLog.from_frame(users_log(60, seed=3, week="w3", fall=0.5)), clustered="user"
    )
    with collecting(evidence=True), pytest.raises(AssertionError) as raised:
        assert_not_regressed(worse, before, RATE, abs=0.01)
    assert "(permutation test of two samples of clusters)" in str(raised.value)


def test_a_log_of_repeated_users_says_so() -> None:
    evaluation = evaluated(1, "w1", clustered=None)
    (note,) = [text for text in evaluation.notes if "not independent" in text]
    users = len(set(evaluated(1, "w1").cluster_names or ()))
    assert note.startswith(f"the attribute 'user' repeats: {users} of its values have ")
    assert 'rankcheck_session_clusters = "user"' in note
    assert not any("independent" in text for text in evaluated(1, "w1").notes)


def test_a_session_without_a_user_is_one_unit() -> None:
    log = log_of(["x", "x", None, None, "y"], [True] * 5).clustered("user")
    assert log.cluster_names == ["x", "x", "(session s2)", "(session s3)", "y"]
    replayed = log.to_golden_set()
    assert (replayed.cluster_by, replayed.clusters) == ("user", log.cluster_names)
    nobody = log_of(["unknown", "anonymous", "N/A", "ann", "ann"], [True] * 5).clustered("user")
    assert len(set(nobody.cluster_names or ())) == 4


def test_an_unknown_attribute_is_refused() -> None:
    log = SessionLog.from_frame(users_log(3, seed=1))
    with pytest.raises(SessionLogError, match=r"has no attribute 'users'; did you mean 'user'\?"):
        log.clustered("users")
    with pytest.raises(SessionLogError, match="'query'"):
        evaluate_sessions(log, clustered="query")


def test_no_user_can_be_found_in_a_record() -> None:
    text = Record.of(evaluated(1, "w1"), [RATE]).text
    lines, users = json.loads(text)["queries"], set(evaluated(1, "w1").cluster_names or ())
    assert lines[0]["cluster"] == 0
    assert {line["cluster"] for line in lines} == set(range(len(users)))
    assert "user-" not in text.replace('"cluster_by": "user"', "")
    assert Record.from_text(text).text == text


def test_sessions_of_other_users_that_begin_in_the_same_instants_are_not_paired() -> None:
    def evaluated_log(who: str) -> Evaluation:
        rows = [
            {
                "client_id": f"{who}{n}",
                "time": 60.0 * n,
                "results": ["a", "b"],
                "selected": "a" if n % 3 else None,
            }
            for n in range(30)
        ]
        log = SessionLog.from_records(
            rows, columns={"session": "client_id"}, session_gap="30min", time_unit="s", name="week"
        )
        return evaluate_sessions(log, clustered="client_id")

    ann, bob = evaluated_log("ann"), evaluated_log("bob")
    assert ann.query_ids == bob.query_ids
    assert compare(ann, evaluated_log("ann")).is_paired
    assert not compare(ann, bob).is_paired
    assert isinstance(compare(ann, bob).values(RATE), Unpaired)
