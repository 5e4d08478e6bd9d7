"""Differences at the baseline's mix: what changed within slices, and what comes from their sizes."""

from functools import cache

import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    Gate,
    GoldenSet,
    Metric,
    Outcome,
    Record,
    Run,
    SessionLog,
    Verdict,
    assert_not_regressed,
    compare,
    evaluate,
    evaluate_sessions,
)
from pytest_rankcheck.gates.configured_gates import gate_of
from pytest_rankcheck.reports.text.verdict_notes import verdict_notes

RATE, RR, GAUC = map(Metric.parse, ("SuccessRate", "RR", "GAUC"))


def sessions(week: str, **successes: tuple[int, int]) -> Evaluation:
    """Return sessions by device: how many succeed, of how many."""
    rows = [
        {
            "session_id": f"{week}-{device}-{number}",
            "event": 1,
            "results": "a b",
            "selected": "a" if number < successful else None,
            "device": device,
            "user": f"{week}-{device}-{number % 40}",
        }
        for device, (successful, count) in successes.items()
        for number in range(count)
    ]
    return evaluate_sessions(
        SessionLog.from_frame(pd.DataFrame(rows), attributes=["device", "user"])
    )


BEFORE = sessions("w1", desktop=(560, 700), mobile=(120, 300))
SHIFTED = sessions("w2", desktop=(440, 550), mobile=(180, 450))
"""80% on desktops and 40% on phones as before, but phones rose from 30% to 45%."""
WORSE = sessions("w3", desktop=(385, 550), mobile=(135, 450))
"""70% and 30%, and phones rose from 30% to 45%."""


@cache
def decided(now: Evaluation, gate: Gate, by: str | None = "device") -> Verdict:
    return gate.decide(compare(now, Record.of(BEFORE, [RATE], attributes=["device"])), RATE, by)


def test_the_mix_by_hand() -> None:
    # Before 0.7 x 0.8 + 0.3 x 0.4 = 0.68; now 0.55 x 0.8 + 0.45 x 0.4 = 0.62.
    verdict = decided(SHIFTED, Gate.significant())
    assert verdict.overall.pairs.difference == pytest.approx(-0.06)
    (effect,) = verdict.mixes
    assert effect.attribute == "device"
    assert effect.at_mix == pytest.approx(0, abs=1e-9)
    assert effect.mix == pytest.approx(-0.06)
    # 0.55 x 0.7 + 0.45 x 0.3 = 0.52, 0.16 lower; at the mix before, each device fell by 0.1.
    (effect,) = decided(WORSE, Gate.significant()).mixes
    assert (effect.at_mix, effect.mix) == (pytest.approx(-0.1), pytest.approx(-0.06))


def test_without_slices_or_without_a_shift_nothing_is_said() -> None:
    assert decided(SHIFTED, Gate.significant(), None).mixes == ()
    same = sessions("w4", desktop=(490, 700), mobile=(90, 300))
    assert decided(same, Gate.significant()).mixes == ()


def test_a_shift_of_the_mix_blocks_unless_the_gate_standardises() -> None:
    plain = decided(SHIFTED, Gate.significant())
    assert plain.regressed
    gate = Gate.significant(standardise="device")
    verdict = decided(SHIFTED, gate, None)
    assert verdict.ruling == "passed"
    assert verdict.overall.pairs.mean_after == pytest.approx(0.68)
    assert [part.label for part in verdict.slices] == ["device=desktop", "device=mobile"]
    worse = decided(WORSE, gate)
    assert worse.regressed
    assert worse.overall.pairs.difference == pytest.approx(-0.1)


def test_the_text_tells_mix_from_quality() -> None:
    with pytest.raises(AssertionError) as raised:
        assert_not_regressed(WORSE, BEFORE, RATE, gate=Gate.significant(), by="device")
    assert "-0.1000 at the baseline's mix of device; -0.0600 from the mix" in str(raised.value)
    both = ["AbandonmentRate", RATE]
    with pytest.raises(AssertionError, match=r"  AbandonmentRate: \+0\.1000 at the baseline's mix"):
        assert_not_regressed(WORSE, BEFORE, both, gate=Gate.significant(), by="device")
    with pytest.raises(AssertionError) as raised:
        assert_not_regressed(WORSE, BEFORE, RATE, gate=Gate.significant(), standardise="device")
    text = str(raised.value)
    assert "0.6800 -> 0.5800, -0.1000" in text.splitlines()[0]
    assert (
        "-0.1000 at the baseline's mix of device, which decides; -0.1600 in all; -0.0600 from the mix"
        in text
    )


def test_a_slice_that_is_not_gated_names_the_test_of_two_samples() -> None:
    verdict = decided(WORSE, Gate.tolerance(abs=0.5, min_queries=600))
    texts = [each.text for each in verdict_notes("week", [verdict])]
    assert texts[0] == (
        "SuccessRate on 'week' in device=desktop (550 sessions): 0.8000 -> 0.7000, p = 0.0002 "
        "(permutation test of two samples, Holm)"
    )


def test_slices_that_are_gone() -> None:
    gate = Gate.significant(standardise="device")
    few, many = (
        sessions("w1", desktop=(560, 700), mobile=(120, 300), tv=(tv, tv)) for tv in (10, 100)
    )
    verdict = gate.decide(compare(SHIFTED, few), RATE)
    assert verdict.overall.pairs.difference == pytest.approx(0, abs=1e-9)
    assert verdict.mixes[0].missing_share == pytest.approx(10 / 1010)
    with pytest.raises(ConfigurationError, match=r"device=tv had 9% of it and has no values now"):
        gate.decide(compare(SHIFTED, many), RATE)


def test_a_record_without_the_slices_is_not_comparable() -> None:
    record = Record.of(BEFORE, [RATE])
    with pytest.raises(ConfigurationError, match="the baseline does not record the slices"):
        Gate.significant(standardise="device").decide(compare(SHIFTED, record), RATE)


def test_slices_that_overlap_have_no_mix() -> None:
    golden = GoldenSet.from_dict(
        {"q1": {"a": 1}, "q2": {"a": 1}},
        attributes={"q1": {"tag": ["x", "y"]}, "q2": {"tag": ["x"]}},
    )
    evaluation = evaluate(Run.from_dict({"q1": ["a"], "q2": ["a"]}), golden)
    with pytest.raises(ConfigurationError, match="slices overlap and have no mix"):
        Gate.significant(standardise="tag").decide(compare(evaluation, evaluation), "RR")
    assert Gate.significant().decide(compare(evaluation, evaluation), "RR", "tag").mixes == ()


def test_a_golden_set_whose_slices_change_size() -> None:
    """Of 20 German queries 15 left; on the others German fell by 0.5 and English rose by 0.1."""

    def measured(german: int, of_german: list[str], misses: int) -> Evaluation:
        runs = {f"de{n}": of_german for n in range(german)}
        runs |= {f"en{n}": ["a"] if n >= misses else ["b"] for n in range(20)}
        golden = GoldenSet.from_dict(
            {query_id: {"a": 1} for query_id in runs},
            attributes={query_id: {"locale": query_id[:2]} for query_id in runs},
        )
        return evaluate(Run.from_dict(runs), golden)

    before = measured(20, ["a"], 2)
    record = Record.of(before, [Metric.parse("RR")], attributes=["locale"])
    now = measured(5, ["x", "a"], 0)
    # Unchanged queries: 5 x -0.5 + 2 x 1, of 25, is -0.02. At the mix before, half and half:
    # (-0.5 + 0.1) / 2 = -0.2.
    verdict = Gate.tolerance(abs=0.05).decide(compare(now, record), "RR", "locale")
    assert verdict.overall.pairs.difference == pytest.approx(-0.02)
    assert verdict.mixes[0].at_mix == pytest.approx(-0.2)
    standard = Gate.tolerance(abs=0.05, standardise="locale").decide(compare(now, record), "RR")
    assert standard.overall.pairs.difference == pytest.approx(-0.2)
    assert standard.overall.outcome is Outcome.REGRESSED


def test_the_mix_is_of_what_counts_in_the_mean() -> None:
    """By weight, and without queries that have no value: the same queries have the same mix."""
    ids = [f"q{number}" for number in range(12)]
    of_query = {
        each: {"locale": "de" if number < 6 else "en", "volume": 1 + number}
        for number, each in enumerate(ids)
    }
    more = {each: {f"{each} {number}": 0 for number in range(int(each[1:]))} for each in ids}
    judged = {each: {"good": int(each != "q1"), "bad": 0, **more[each]} for each in ids}
    golden = GoldenSet.from_dict(judged, attributes=of_query)
    before = Run.from_dict({each: ["good"] for each in ids})
    now = Run.from_dict({each: ["bad", "good"] if each > "q5" else ["good"] for each in ids})
    for measured, metric in ((golden.weighted("volume"), RR), (golden, RR), (golden, GAUC)):
        sides = [evaluate(run, measured, no_relevant="exclude") for run in (now, before)]
        record = Record.of(sides[1], [metric], attributes=["locale"])
        for other in (sides[1], record):
            verdict = Gate.significant().decide(compare(sides[0], other), metric, "locale")
            assert verdict.mixes == ()
    standardised = Gate.significant(standardise="locale")
    weighted = [evaluate(run, golden.weighted("volume")) for run in (now, before)]
    pairs = standardised.decide(compare(*weighted), RR).overall.pairs
    assert pairs.mean_after == pytest.approx(weighted[0].mean(RR))


def test_the_gate_is_written_and_compared_with_its_mix() -> None:
    gate = Gate.significant(standardise="device")
    assert str(gate) == "significant(alpha=0.05, min_drop=0, standardise=device)"
    assert gate_of(str(gate)) == gate
    odd = Gate.tolerance(abs=0.1, standardise="kind of device")
    assert gate_of(str(odd)) == odd
    assert not gate.is_at_least_as_strict_as(Gate.significant())
    assert not Gate.significant().is_at_least_as_strict_as(gate)
    assert gate.is_at_least_as_strict_as(gate)


def test_the_repr_of_a_verdict_fits_on_a_line() -> None:
    verdict = decided(WORSE, Gate.significant(standardise="device"))
    assert repr(verdict) == (
        "Verdict(SuccessRate: regressed, 0.6800 -> 0.5800, "
        "significant(alpha=0.05, min_drop=0, standardise=device))"
    )
    assert repr(verdict.overall.pairs) == (
        "Unpaired(SuccessRate, 1,000 -> 1,000 values, mean 0.6800 -> 0.5800)"
    )


def test_slices_that_record_the_outcome_are_refused() -> None:
    frame = pd.DataFrame(
        {
            "session_id": [f"s{n}" for n in range(40)],
            "event": 1,
            "results": "a b",
            "selected": ["a" if n % 4 else None for n in range(40)],
            "ended": ["ok" if n % 4 else "bounce" for n in range(40)],
        }
    )
    now = evaluate_sessions(SessionLog.from_frame(frame))
    before = evaluate_sessions(SessionLog.from_frame(frame.assign(session_id=range(40))))
    with pytest.raises(ConfigurationError, match="the slices record the outcome"):
        Gate.significant(standardise="ended").decide(compare(now, before), RATE)
    assert Gate.significant().decide(compare(now, before), RATE, "ended").ruling == "passed"
