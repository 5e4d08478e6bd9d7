"""Merging two records loses no reason and no best mean, whatever the two branches did."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.record_merge import RecordMerge
from pytest_rankcheck.baselines.record_writer import record_text
from pytest_rankcheck.baselines.succession import broken_promises
from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

QUERIES = [f"q{index}" for index in range(4)]
METRICS = ("RR", "P@1", "FirstRank")
"""Of the last, lower is better."""


def record_of(wrong: int, bests: list[int], reasons: list[str]) -> Record:
    golden = GoldenSet.from_dict({name: {"good": 1} for name in QUERIES}, name="web")
    run = Run.from_dict(
        {name: ["x", "good"] if i < wrong else ["good"] for i, name in enumerate(QUERIES)}
    )
    approvals = tuple(Approval(reason, "2024-05-01", None, None, {}) for reason in reasons)
    record = Record.of(
        evaluate(run, golden), list(map(Metric.parse, METRICS)), approvals=approvals, test="test_x"
    )
    kept = {
        name: replace(metric, best=round(metric.best + better(name) * best / 100, 9))
        for best, (name, metric) in zip(bests, record.kept.items(), strict=True)
    }
    return replace(record, kept=kept)


def better(name: str) -> int:
    return 1 if Metric.parse(name).higher_is_better else -1


a_record = st.builds(
    record_of,
    st.integers(0, 4),
    st.lists(st.integers(0, 9), min_size=3, max_size=3),
    st.lists(st.sampled_from("abcd"), unique=True),
)


@given(a_record, a_record)
def test_a_merge_keeps_lines_approvals_and_the_best(target: Record, other: Record) -> None:
    merged = RecordMerge.of(target, other).record
    assert merged.queries == target.queries
    assert merged.approvals[: len(target.approvals)] == target.approvals
    assert all(approval in merged.approvals for approval in other.approvals)
    assert len(merged.approvals) == len({a.reason for a in merged.approvals})
    for name, kept in merged.kept.items():
        bests = [record.kept[name].best for record in (target, other)]
        assert kept.best == max(bests, key=lambda best: better(name) * best)
    assert broken_promises(target, merged) == []
    assert Record.from_text(record_text(merged)) == merged
    assert RecordMerge.of(merged, other).record == merged, "merging again changes nothing"


def test_other_limits_of_rankings_are_left_out() -> None:
    loose, strict = (StabilityLimits(min_rbo=limit) for limit in (0.5, 0.9))
    target = replace(record_of(0, [0, 0, 0], []), stability=(loose,))
    merge = RecordMerge.of(target, replace(target, stability=(loose, strict)))
    assert merge.left_out == ("the limits on rankings min_rbo=0.9, p=0.9, k=10",)
    assert merge.record.stability == (loose,)
