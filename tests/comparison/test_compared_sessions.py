"""Two logs: of the same sessions they are compared in pairs, of others as two samples."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pytest_rankcheck import (
    Evaluation,
    Gate,
    MetricError,
    Outcome,
    Record,
    SessionLog,
    assert_at_least,
    assert_at_most,
    assert_not_regressed,
    compare,
    evaluate_sessions,
)
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.ledger import collecting

RR = "SessionRR(abandoned=zero)"


def sessions(ranks: list[int | None], prefix: str = "s") -> Evaluation:
    """Return the evaluation of sessions with one event each, and these selections."""
    rows = [
        {
            "session_id": f"{prefix}{number}",
            "event": 1,
            "time": float(number),
            "results": ["a", "b", "c", "d"],
            "selected_rank": rank,
            "group": "AB"[number % 2],
        }
        for number, rank in enumerate(ranks)
    ]
    frame = pd.DataFrame(rows).astype({"selected_rank": object})
    log = SessionLog.from_frame(frame, first_rank=1, time_unit="s", selections_where="all")
    return evaluate_sessions(log)


def drawn(seed: int, count: int, weights: list[float]) -> list[int | None]:
    rng = np.random.default_rng(seed)
    return [None if pick == 0 else int(pick) for pick in rng.choice(5, count, p=weights)]


GOOD, WORSE = [0.1, 0.5, 0.2, 0.1, 0.1], [0.3, 0.2, 0.2, 0.2, 0.1]


def test_the_same_sessions_are_pairs() -> None:
    then, now = sessions([1, 2, None, 1]), sessions([1, 1, None, 4])
    comparison = compare(now, then)
    assert comparison.is_paired
    pairs = comparison.values(RR)
    assert (pairs.wins, pairs.ties, pairs.losses) == (1, 2, 1)
    assert comparison.values(RR).difference == pytest.approx((0.5 - 0.75) / 4)


def test_other_sessions_are_two_samples() -> None:
    then = sessions(drawn(1, 200, GOOD), "old")
    now = sessions(drawn(2, 150, WORSE), "new")
    comparison = compare(now, then)
    assert not comparison.is_paired
    pairs = comparison.values(RR)
    assert (pairs.wins, pairs.ties, pairs.losses, pairs.size) == (0, 0, 0, 150)
    before, after = then.values(RR), now.values(RR)
    assert comparison.p(RR) == 1 / 10_001  # no division at random has means so far apart
    # Welch's interval of scipy is the same.
    both = stats.ttest_ind(after, before, equal_var=False).confidence_interval(0.95)
    assert comparison.interval(RR) == pytest.approx((both.low, both.high))
    by = comparison.values_by("group", RR)
    assert {value: len(part.before) for value, part in by.items()} == {"A": 100, "B": 100}
    assert by["A"].mean_before == pytest.approx(before[::2].mean())


def test_every_gate_decides_on_two_samples() -> None:
    now, then = sessions(drawn(2, 150, WORSE), "new"), sessions(drawn(1, 200, GOOD), "old")
    for gate, outcome in (
        (Gate.tolerance(abs=0.05), Outcome.REGRESSED),
        (Gate.tolerance(abs=0.5), Outcome.LOWER),
        (Gate.significant(), Outcome.REGRESSED),
        (Gate.noninferior(margin=0.05), Outcome.REGRESSED),
        (Gate.noninferior(margin=0.9), Outcome.LOWER),
    ):
        verdict = gate.decide(compare(now, then), RR, by="group")
        assert verdict.overall.outcome is outcome, gate


def test_samples_with_a_single_value_need_to_be_large() -> None:
    """One failure in 41 sessions would be a fall of more than 0.01; in 801 it would not."""
    for size, outcome in ((40, Outcome.INCONCLUSIVE), (800, Outcome.EQUAL)):
        comparison = compare(sessions([1] * size, "new"), sessions([1] * 2 * size, "old"))
        verdict = Gate.noninferior(margin=0.01).decide(comparison, RR)
        assert verdict.overall.outcome is outcome


def test_a_new_group_is_not_gated() -> None:
    then = sessions([1] * 400, "old")
    now = sessions([1] * 400, "new")
    record = Record.of(then, [Metric.parse(RR)], attributes=["group"])
    only_a = [{"group": ("A",)}] * len(record.queries)
    record = dataclasses.replace(record, queries=dataclasses.replace(record.queries, slices=only_a))
    verdict = Gate.noninferior(margin=0.1).decide(compare(now, record), RR, by="group")
    assert [one.outcome for one in verdict.slices] == [Outcome.EQUAL, Outcome.NOT_GATED]


def test_assertions_on_sessions() -> None:
    good, worse = sessions([1, 1, 2, None]), sessions([1, 4, 4, None])
    assert_at_least(good, "SuccessRate@1", 0.5)
    with pytest.raises(AssertionError, match=r"SuccessRate@1 is 0.2500 on session log .* \(4 sess"):
        assert_at_least(worse, "SuccessRate@1", 0.5)
    with pytest.raises(AssertionError) as caught:
        assert_not_regressed(worse, good, "SessionRR(abandoned=zero)", abs=0.1)
    text = str(caught.value)
    assert "on session log 'session log' (4 sessions): 0.6250 -> 0.3750, -0.2500" in text
    assert "2 sessions worse, 0 better, 2 equal" in text
    assert "the sessions that fell most" in text


def test_a_metric_without_a_value_passes_no_gate() -> None:
    """Else a log without times, or without selections, would pass every gate."""
    then, now = sessions([1, 1, 2]), sessions([None, None, None])
    for gate in (Gate.tolerance(abs=0.9), Gate.significant(), Gate.noninferior(margin=0.5)):
        with pytest.raises(
            MetricError, match=r"has no value on session log .* all .* sessions are left out"
        ):
            assert_not_regressed(now, then, "SessionRR(abandoned=exclude)", gate=gate)
    with pytest.raises(MetricError, match="nothing was selected"):
        assert_at_least(now, "SessionRR(abandoned=exclude)", 0)
    untimed = evaluate_sessions(
        SessionLog.from_frame(
            pd.DataFrame([{"session_id": "s", "results": ["a"], "selected": "a"}])
        )
    )
    with pytest.raises(MetricError, match="the log may have no times"):
        assert_at_most(untimed, "SessionDuration", 10)


def test_the_text_says_how_far_off_a_test_of_durations_can_be() -> None:
    def timed(seed: int, longer: float) -> Evaluation:
        waits = np.random.default_rng(seed).lognormal(1, 1, 120) + longer
        rows = [
            {"session_id": f"{seed}-{n}", "results": ["a"], "selected": selected, "time": time}
            for n, wait in enumerate(waits)
            for selected, time in ((None, 0.0), ("a", wait))
        ]
        return evaluate_sessions(SessionLog.from_records(rows, time_unit="s"))

    then, now = timed(1, 0), timed(2, 9)
    with collecting(evidence=True), pytest.raises(AssertionError) as caught:
        assert_not_regressed(now, then, "SessionDuration", gate=Gate.significant())
    assert "blocks up to twice as many innocent changes as alpha says" in str(caught.value)
    with pytest.raises(AssertionError) as caught:
        assert_not_regressed(sessions([4] * 40, "new"), sessions([1] * 40, "old"), RR)
    assert "as alpha says" not in str(caught.value)
