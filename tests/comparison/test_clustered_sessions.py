"""Sessions of the same users: two logs are compared by user, and records keep no ids of users."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import (
    BaselineError,
    ConfigurationError,
    Gate,
    Metric,
    Record,
    SessionEvaluation,
    SessionLog,
    SessionLogError,
    Unpaired,
    assert_not_regressed,
    compare,
    evaluate_sessions,
)
from pytest_rankcheck.baselines import data_file
from pytest_rankcheck.baselines.record_writer import record_text, write_record
from pytest_rankcheck.statistics.matched_samples import MatchedSamples
from pytest_rankcheck.statistics.two_samples import TwoSamples
from tests.sessions.users import users_log

RATE = Metric.parse("SuccessRate")


def evaluated(
    seed: int, week: str, *, drawn: int = 0, clustered: str | None = "user"
) -> SessionEvaluation:
    """Return the evaluation of a week of 60 users who differ a lot."""
    frame = users_log(60, "heavy", seed=seed, week=week, users_seed=drawn)
    return evaluate_sessions(SessionLog.from_frame(frame), clustered=clustered)


def unpaired(now: SessionEvaluation, before: SessionEvaluation | Record) -> Unpaired:
    values = compare(now, before).values(RATE)
    assert isinstance(values, Unpaired)
    return values


def cluster_robust(values: np.ndarray, regressors: np.ndarray, users: np.ndarray) -> np.ndarray:
    """Return the cluster-robust standard errors of statsmodels, without its factor (N-1)/(N-k)."""
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
    names = np.unique(users, return_inverse=True)[1]
    fit = sm.OLS(values, regressors).fit(cov_type="cluster", cov_kwds={"groups": names})
    count, parameters = regressors.shape
    return np.sqrt(np.diag(fit.cov_params()) * (count - parameters) / (count - 1))


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


def test_the_error_of_matched_samples_is_that_of_one_cluster_robust_regression() -> None:
    now, before = evaluated(1, "w2"), evaluated(2, "w1")
    values = unpaired(now, before)
    assert values.matched is not None
    assert values.matched.in_both == len({*now.cluster_names} & {*before.cluster_names}) > 40
    both = np.concatenate((before.values(RATE), now.values(RATE)))
    is_now = np.repeat([0.0, 1.0], [len(before.query_ids), len(now.query_ids)])
    regressors = np.column_stack((np.ones(len(both)), is_now))
    users = np.array([*before.cluster_names, *now.cluster_names])
    error = cluster_robust(both, regressors, users)[1]
    assert values.differences.error == pytest.approx(error, rel=1e-9)
    assert values.differences.mean == pytest.approx(now.mean(RATE) - before.mean(RATE))
    apart = unpaired(now, Record.of(before, [RATE])).differences
    assert values.differences.error < apart.error  # users behave alike in both weeks


def test_matched_units_by_hand() -> None:
    # User 0 has 1, 0 before and 1 now; user 1 has 1 before and 1, 0 now.
    found = MatchedSamples.of(
        (np.array([1.0, 0.0, 1.0]), np.array([0, 0, 1]), None),
        (np.array([1.0, 1.0, 0.0]), np.array([0, 1, 1]), None),
    )
    # m0 = m1 = 2/3. u_0 = (1 - 2/3) / 3 - (1 - 4/3) / 3 = 2/9; u_1 = (1 - 4/3) / 3 - (1 - 2/3) / 3.
    gains, weights = found.differences
    assert weights == pytest.approx([0.5, 0.5])
    assert gains == pytest.approx([4 / 9, -4 / 9])
    assert found.contributions == pytest.approx([4 / 9, -4 / 9])


def test_a_user_in_one_log_only_counts_there() -> None:
    before = np.array([1.0]), np.array([0]), np.array([3.0])
    found = MatchedSamples.of(before, (np.array([0.0]), np.array([1]), None))
    assert found.in_both == 0
    gains, weights = found.differences
    assert float(np.average(gains, weights=weights)) == -1


def test_sessions_of_their_own_give_the_numbers_of_sessions() -> None:
    alone = [evaluated(seed, week, clustered=None) for seed, week in ((1, "w2"), (2, "w1"))]
    each = [evaluate_sessions(each.log, clustered="session_number") for each in alone]
    simple, clustered = unpaired(*alone), unpaired(each[0], Record.of(each[1], [RATE]))
    assert clustered.differences.error == pytest.approx(simple.differences.error)
    assert clustered.p_of_fall() == pytest.approx(simple.p_of_fall(), abs=0.02)  # other draws
    assert clustered.differences.lower_bound(0.05) == pytest.approx(
        simple.differences.lower_bound(0.05)
    )


@pytest.mark.parametrize("gate", [Gate.significant(), Gate.significant(test="guaranteed")], ids=str)
def test_gates_decide_by_user(gate: Gate) -> None:
    """One user with 300 sessions fails in the second week: that is one unit, not 300."""

    def week(rank: int | None, name: str) -> SessionEvaluation:
        rows = [
            {
                "session_id": f"{name}-{n}",
                "event": 1,
                "selected_rank": 1 if n % 4 else None,
                "user": f"u{n}",
                "results": "a b",
            }
            for n in range(40)
        ] + [
            {
                "session_id": f"{name}-bot{n}",
                "event": 1,
                "selected_rank": rank,
                "user": "big",
                "results": "a b",
            }
            for n in range(300)
        ]
        frame = pd.DataFrame(rows).astype({"selected_rank": object})
        return evaluate_sessions(SessionLog.from_frame(frame, first_rank=1))

    now, before = week(None, "w2"), week(1, "w1")
    by_session = gate.decide(compare(now, before), RATE)
    assert by_session.regressed
    by_user = gate.decide(
        compare(*(evaluate_sessions(each.log, clustered="user") for each in (now, before))), RATE
    )
    assert not by_user.regressed


def test_the_text_says_what_is_independent_and_matched() -> None:
    now, before = evaluated(1, "w2"), evaluated(2, "w1")
    worse = evaluate_sessions(
        SessionLog.from_frame(users_log(60, "heavy", seed=3, week="w3", fall=0.5)), clustered="user"
    )
    with pytest.raises(AssertionError) as raised:
        assert_not_regressed(worse, before, RATE, abs=0.01)
    assert re.search(
        r"\d+ clusters in the baseline, \d+ now .*; the variance is [\d.]+ times", str(raised.value)
    )
    assert re.search(r"\d+ clusters are in both logs", str(raised.value))
    assert "sign-flip test of matched clusters" in str(raised.value)
    with pytest.raises(AssertionError, match="the logs count as independent") as raised:
        assert_not_regressed(worse, Record.of(before, [RATE]), RATE, abs=0.01)
    assert "(permutation test of two samples of clusters)" in str(raised.value)
    assert now.design_effect(RATE) > 1.5


def test_the_design_effect_by_hand() -> None:
    # 1, 1 of one user and 0, 0 of the other: each mean deviates by 1/2 from 1/2. Per user, the
    # linearised values are 1 and 0, variance 1/2, of the mean 1/4; per session 4 x 1/4 / 3 / 4 = 1/12.
    rows = [
        {
            "session_id": n,
            "event": 1,
            "selected": "a" if n < 2 else None,
            "results": "a",
            "user": "xxyy"[n],
        }
        for n in range(4)
    ]
    evaluation = evaluate_sessions(SessionLog.from_frame(pd.DataFrame(rows)))
    assert evaluation.design_effect("SuccessRate") == 1
    assert evaluation.design_effect("SuccessRate", "user") == pytest.approx(3)
    clustered = evaluate_sessions(evaluation.log, clustered="user")
    assert clustered.design_effect("SuccessRate") == pytest.approx(3)
    low, high = evaluation.interval("SuccessRate")
    wide_low, wide_high = clustered.interval("SuccessRate")
    assert wide_high - wide_low > 2 * (high - low)


def test_a_log_of_repeated_users_says_so() -> None:
    evaluation = evaluated(1, "w1", clustered=None)
    (note,) = [text for text in evaluation.notes if "not independent" in text]
    users = len(set(evaluated(1, "w1").cluster_names or ()))
    assert note.startswith(f"the attribute 'user' repeats: {users} of its values have ")
    effect = evaluation.design_effect("SuccessRate", "user")
    assert f"the variance of SuccessRate is {effect:.1f} times" in note
    assert 'rankcheck_session_clusters = "user"' in note
    assert not any("independent" in text for text in evaluated(1, "w1").notes)


def test_a_session_without_a_user_is_one_unit() -> None:
    rows = [
        {"session_id": name, "event": 1, "selected": "a", "results": "a", "user": user}
        for name, user in (
            ("s1", "x"),
            ("s2", "x"),
            ("s3", None),
            ("s4", None),
            ("s5", "(session s3)"),
        )
    ]
    log = SessionLog.from_frame(pd.DataFrame(rows)).clustered("user")
    assert log.cluster_names == ["x", "x", "((session s3))", "((session s4))", "(session s3)"]
    replayed = log.to_golden_set()
    assert replayed.cluster_by == "user"
    assert replayed.clusters == log.cluster_names


def test_an_unknown_attribute_is_refused() -> None:
    log = SessionLog.from_frame(users_log(3, "mild", seed=1))
    with pytest.raises(SessionLogError, match=r"has no attribute 'users'; did you mean 'user'\?"):
        log.clustered("users")
    with pytest.raises(SessionLogError, match="'query'"):
        evaluate_sessions(log, clustered="query")


class TestRecords:
    """What a record keeps of users."""

    def test_no_user_can_be_found_in_a_record(self, tmp_path: Path) -> None:
        record = Record.of(evaluated(1, "w1"), [RATE])
        text = record_text(record)
        lines = json.loads(text)["queries"]
        assert lines[0]["cluster"] == 0
        assert {line["cluster"] for line in lines} == set(
            range(len(set(evaluated(1, "w1").cluster_names or ())))
        )
        assert '"clusters": {"by": "user"}' in text
        assert "user-" not in text.replace('"by": "user"', "")
        path = tmp_path / "b.json"
        path.write_text(text, encoding="utf-8")
        assert record_text(Record.load(path)) == text

    @pytest.mark.parametrize("key", [None, "a key of at least 16 characters"])
    def test_large_records_keep_clusters(
        self, key: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(data_file, "COMPACT_FROM", 5)
        if key:
            monkeypatch.setenv("RANKCHECK_CLUSTER_KEY", key)
        record = Record.of(evaluated(1, "w1"), [RATE], attributes=["device"])
        path = tmp_path / "b.json"
        write_record(path, record)
        again = Record.load(path)
        assert again.clusters is not None
        assert again.clusters.tolist() == record.clusters.tolist()
        assert again.lines.clusters == record.lines.clusters

    def test_a_secret_key_matches_users(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now, before = evaluated(1, "w2"), evaluated(2, "w1")
        monkeypatch.setenv("RANKCHECK_CLUSTER_KEY", "a key of at least 16 characters")
        record = Record.of(before, [RATE])
        assert "user-" not in record_text(record).replace('"by": "user"', "")
        keyed = unpaired(now, record)
        at_hand = unpaired(now, before)
        assert keyed.matched is not None
        assert at_hand.matched is not None
        assert keyed.matched.in_both == at_hand.matched.in_both
        assert keyed.differences.error == pytest.approx(at_hand.differences.error, rel=1e-4)
        monkeypatch.setenv("RANKCHECK_CLUSTER_KEY", "another key of 16 characters")
        assert unpaired(now, record).matched is None
        monkeypatch.delenv("RANKCHECK_CLUSTER_KEY")
        assert unpaired(now, record).matched is None

    def test_a_short_key_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RANKCHECK_CLUSTER_KEY", "short")
        with pytest.raises(ConfigurationError, match="too short to be secret: it has 5 characters"):
            Record.of(evaluated(1, "w1"), [RATE])

    def test_a_line_with_a_broken_cluster_is_refused(self, tmp_path: Path) -> None:
        text = record_text(Record.of(evaluated(1, "w1"), [RATE]))
        path = tmp_path / "b.json"
        path.write_text(text.replace('"cluster": 0}', '"cluster": -1}'), encoding="utf-8")
        with pytest.raises(BaselineError, match="-1' is not a whole number from 0 on"):
            Record.load(path)


def test_placeholders_are_nobody() -> None:
    rows = [
        {"session_id": n, "event": 1, "selected": "a", "results": "a", "user": user}
        for n, user in enumerate(["unknown", "anonymous", "N/A", "ann", "ann"])
    ]
    log = SessionLog.from_records(rows).clustered("user")
    assert len(set(log.cluster_names or ())) == 4


def test_sessions_of_other_users_that_begin_in_the_same_instants_are_not_paired() -> None:
    def evaluated_log(who: str) -> SessionEvaluation:
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
            rows, session="client_id", session_gap="30min", time_unit="s", name="week"
        )
        return evaluate_sessions(log, clustered="client_id")

    ann, bob = evaluated_log("ann"), evaluated_log("bob")
    assert ann.query_ids == bob.query_ids
    assert compare(ann, evaluated_log("ann")).is_paired
    assert not compare(ann, bob).is_paired
    assert isinstance(compare(ann, bob).values(RATE), Unpaired)
