"""Two groups of one log: ``assert_no_worse``."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    Gate,
    GoldenSetError,
    MetricError,
    SessionLog,
    SessionLogError,
    assert_no_worse,
    evaluate_sessions,
)
from pytest_rankcheck.evaluation.session_evaluation import session_groups
from pytest_rankcheck.reports.findings import GateFinding, Note, Topic
from pytest_rankcheck.reports.ledger import collecting


def experiment(
    a: tuple[int, int], b: tuple[int, int], *, both: int = 0, clustered: str | None = None
) -> Evaluation:
    """Return the sessions of two groups: how many succeed, of how many.

    Users have two sessions each; the first ``both`` users of A also have one session in B.
    """
    rows = [
        {
            "session_id": f"{group}{number}",
            "event": 1,
            "results": "a b",
            "selected": "a" if number < successes else None,
            "group": group,
            "user": f"{group}-{number // 2}",
            "device": ("phone", "desktop")[number % 2],
        }
        for group, (successes, count) in (("A", a), ("B", b))
        for number in range(count)
    ]
    rows += [
        {**rows[0], "session_id": f"both{n}", "group": "B", "user": f"A-{n}"} for n in range(both)
    ]
    log = SessionLog.from_frame(pd.DataFrame(rows), attributes=["group", "user", "device"])
    return evaluate_sessions(log, clustered=clustered)


def check(evaluation: Evaluation, metric: Any = "SuccessRate", **more: Any) -> None:
    """Fail if group B is worse than group A."""
    assert_no_worse(evaluation, metric, **{"group": "B", "than": "A", "by": "group", **more})


def test_a_worse_group_fails() -> None:
    evaluation = experiment((300, 400), (240, 400))
    with pytest.raises(AssertionError) as raised:
        check(evaluation)
    lines = str(raised.value).splitlines()
    assert lines[0].startswith(
        "SuccessRate of group=B is worse than that of group=A on session log 'session log': "
        "0.7500 -> 0.6000, -0.1500; more than chance explains"
    )
    assert lines[1].strip() == (
        "400 sessions of group=A, 400 of group=B: different sessions, so compared as two samples"
    )
    assert lines[2].strip() == (
        "400 sessions of group=B and 400 of group=A; the plan was 1 of group=B for each one of "
        "group=A (chi-square test, p = 1.0000)"
    )
    check(evaluation, group="A", than="B")


@pytest.mark.slow
def test_a_gate_slices_and_several_metrics() -> None:
    evaluation, worse = experiment((300, 400), (290, 400)), experiment((300, 400), (200, 400))
    check(evaluation)
    with pytest.raises(AssertionError, match=r"allowed -0\.0100"):
        check(evaluation, gate=Gate.tolerance(abs=0.01))
    with pytest.raises(AssertionError, match=r"\n  device=\w+ \(\d+ sessions, regressed\)"):
        check(worse, ["SuccessRate", "SessionRR(abandoned=zero)"], slices="device")


def test_users_are_the_units_and_none_is_in_both_groups() -> None:
    evaluation = experiment((300, 400), (240, 400), both=30, clustered="user")
    groups = session_groups(evaluation, "group", "B", "A")
    assert (groups.units, groups.in_both, groups.left_out) == ((170, 200), 30, 90)
    assert len(groups.other.query_ids) == 340  # two sessions of each of 30 users left
    assert len(groups.tested.query_ids) == 400
    with collecting(evidence=True), pytest.raises(AssertionError) as raised:
        check(evaluation, ratio=200 / 170)
    text = str(raised.value)
    assert "200 clusters of group=B and 170 of group=A" in text
    assert "30 clusters were in both groups and left out, with 90 sessions" in text
    assert "170 clusters of group=A, 200 of group=B (such as users)" in text


def test_values_of_the_groups_are_those_of_the_whole() -> None:
    evaluation = experiment((3, 4), (1, 6))
    groups = session_groups(evaluation, "group", "B", "A")
    assert groups.tested.mean("SuccessRate") == pytest.approx(1 / 6)
    assert groups.other.mean("SuccessRate") == 0.75
    assert groups.tested.query_ids == ("B0", "B1", "B2", "B3", "B4", "B5")
    assert groups.tested.source.log.attributes("B0")["group"] == "B"
    assert list(groups.tested.ranking("B0")) == ["a", "b"]


@pytest.mark.parametrize("count", [400, 330])
def test_sizes_that_chance_explains(count: int) -> None:
    assert stats.chisquare([400, count]).pvalue > 0.001
    with pytest.raises(AssertionError, match="is worse than"):
        check(experiment((300, 400), (0, count)))


def test_sizes_that_chance_does_not_explain(entered: list[object]) -> None:
    """The p is that of scipy's chi-square test."""
    expected = stats.chisquare([400, 290]).pvalue
    evaluation = experiment((300, 400), (0, 290))
    check(evaluation)
    (note,) = [each for each in entered if isinstance(each, Note)]
    assert note.topic is Topic.INCONCLUSIVE
    assert "the groups do not have the planned sizes" in note.text
    assert expected < 0.0001
    assert "chance does not explain this (chi-square test, p < 0.0001)" in note.text
    (gate,) = [each for each in entered if isinstance(each, GateFinding)]
    assert gate.said == "inconclusive"


def test_an_inconclusive_comparison_fails_if_the_project_says_so() -> None:
    evaluation = experiment((300, 400), (0, 200))
    with collecting(strict=True), pytest.raises(AssertionError, match="cannot be compared"):
        check(evaluation)


def test_a_planned_ratio(entered: list[object]) -> None:
    evaluation = experiment((300, 400), (150, 200))
    check(evaluation, ratio=0.5)
    (gate,) = [each for each in entered if isinstance(each, GateFinding)]
    assert gate.said.startswith("passed")


def test_wrong_arguments() -> None:
    for arguments, error, message in (
        ({"group": "C"}, SessionLogError, r"has no session with group=C; its values are A, B"),
        ({"group": "A"}, SessionLogError, "belong to units that are in both groups"),
        ({"ratio": 0}, ConfigurationError, "ratio=0 is invalid"),
        ({"by": "grup"}, GoldenSetError, "has no attribute 'grup'; did you mean 'group'"),
        ({"metric": "MedianSessionDuration"}, MetricError, "has no value on session log"),
        ({"evaluation": 3}, ConfigurationError, "evaluation must be the sessions of a log, not 3"),
        ({"group": 1}, ConfigurationError, "group must be a text, not 1"),
        (
            {"evaluation": experiment((3, 4), (2, 4), clustered="group")},
            ConfigurationError,
            "makes each group a single unit",
        ),
    ):
        with pytest.raises(error, match=message):
            check(**{"evaluation": experiment((3, 4), (1, 4)), **arguments})


def test_all_units_in_both_groups() -> None:
    evaluation = experiment((2, 4), (0, 0), both=2, clustered="user")
    with pytest.raises(SessionLogError, match=r"belong to units that are in both groups \(2 of"):
        check(evaluation)


def test_slices_have_intervals_and_p() -> None:
    """By hand: Student's interval of each group, and Welch's two-sided p against all others."""
    evaluation = experiment((300, 400), (240, 400))
    table = evaluation.by("group", "SuccessRate")
    assert list(table.columns) == ["mean", "queries", "low", "high", "p"]
    a, b = np.repeat([1.0, 0.0], [300, 100]), np.repeat([1.0, 0.0], [240, 160])
    low, high = stats.t.interval(0.95, 399, a.mean(), stats.sem(a))
    assert table.loc["A", ["low", "high"]].tolist() == pytest.approx([low, high])
    p = stats.ttest_ind(a, b, equal_var=False).pvalue
    assert table["p"].tolist() == pytest.approx([p, p])
