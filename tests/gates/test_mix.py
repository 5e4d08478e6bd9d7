"""The difference of two logs, split into what changed within slices and what their sizes did."""

import pandas as pd
import pytest

from pytest_rankcheck import (
    Evaluation,
    Gate,
    Metric,
    Record,
    SessionLog,
    Verdict,
    assert_not_regressed,
    compare,
    evaluate_sessions,
)

RATE = Metric.parse("SuccessRate")


def sessions(week: str, **successes: tuple[int, int]) -> Evaluation:
    """Return sessions by device: how many succeed, of how many."""
    rows = [
        {
            "session_id": f"{week}-{device}-{number}",
            "event": 1,
            "results": "a b",
            "selected": "a" if number < successful else None,
            "device": device,
        }
        for device, (successful, count) in successes.items()
        for number in range(count)
    ]
    return evaluate_sessions(SessionLog.from_frame(pd.DataFrame(rows), attributes=["device"]))


BEFORE = sessions("w1", desktop=(560, 700), mobile=(120, 300))
SHIFTED = sessions("w2", desktop=(440, 550), mobile=(180, 450))
"""80% on desktops and 40% on phones as before, but phones rose from 30% to 45%."""
WORSE = sessions("w3", desktop=(385, 550), mobile=(135, 450))
"""70% and 30%, and phones rose from 30% to 45%."""


def decided(now: Evaluation, by: str | None = "device") -> Verdict:
    record = Record.of(BEFORE, [RATE], attributes=["device"])
    return Gate.significant().decide(compare(now, record), RATE, by)


@pytest.mark.parametrize(
    ("now", "difference", "at_mix"),
    [
        # Before 0.7 x 0.8 + 0.3 x 0.4 = 0.68; now 0.55 x 0.8 + 0.45 x 0.4 = 0.62.
        (SHIFTED, -0.06, 0.0),
        # 0.55 x 0.7 + 0.45 x 0.3 = 0.52; at the mix before, each device fell by 0.1.
        (WORSE, -0.16, -0.1),
    ],
)
def test_the_mix_by_hand(now: Evaluation, difference: float, at_mix: float) -> None:
    verdict = decided(now)
    assert verdict.overall.pairs.difference == pytest.approx(difference)
    (effect,) = verdict.mixes
    assert effect == ("device", pytest.approx(at_mix), pytest.approx(difference - at_mix))


def test_nothing_is_said_without_slices_a_shift_or_a_common_slice() -> None:
    assert not decided(SHIFTED, None).mixes
    assert not decided(sessions("w4", desktop=(490, 700), mobile=(90, 300))).mixes
    assert not decided(sessions("w5", desktop=(490, 700), tablet=(90, 300))).mixes


def test_the_text_tells_mix_from_quality() -> None:
    with pytest.raises(AssertionError) as raised:
        assert_not_regressed(WORSE, BEFORE, RATE, gate=Gate.significant(), by="device")
    assert "-0.1000 at the baseline's mix of device; -0.0600 from the mix" in str(raised.value)
