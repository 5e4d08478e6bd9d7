"""The register: which lines an update rewrites, and which it keeps. Worked by hand."""

from collections.abc import Mapping

import pytest

from pytest_rankcheck import Conventions, Evaluation, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines.golden_changes import set_changes
from pytest_rankcheck.baselines.metric_check import MetricAssertion
from pytest_rankcheck.baselines.register import Defaults, next_record
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.comparison.comparison import compare
from pytest_rankcheck.gates.configured_gates import gate_of

RR, P1 = Metric.parse("RR"), Metric.parse("P@1")
GATE, LOOSER = "tolerance(abs=0.1, rel=0)", "tolerance(abs=0.2, rel=0)"


def measured(grade: int = 1, **ranks: int) -> Evaluation:
    """Return an evaluation in which the only relevant document of each query has a rank."""
    golden = GoldenSet.from_dict({query: {"good": grade} for query in ranks})
    rankings = {q: [f"x{i}" for i in range(1, rank)] + ["good"] for q, rank in ranks.items()}
    return evaluate(Run.from_dict(rankings), golden, conventions=Conventions(no_relevant="exclude"))


def updated(
    before: Record | None,
    evaluation: Evaluation,
    rewritten: tuple[Metric, ...] = (),
    *,
    gates: Mapping[Metric, str] = {RR: GATE},
    limits: tuple[StabilityLimits, ...] = (),
    watched: tuple[str, ...] = (),
    is_approved: bool = False,
    world: Mapping[str, str] | None = None,
) -> Record:
    """Return the next record of a test that gates RR."""
    asserted = MetricAssertion({metric: gate_of(text) for metric, text in gates.items()})
    return next_record(
        evaluation,
        [asserted, *limits],
        Defaults(watched=watched),
        before,
        rewritten=frozenset(rewritten),
        is_approved=is_approved,
        world=world,
    )


def values(record: Record, metric: Metric = RR) -> Mapping[str, float | None]:
    return dict(zip(record.query_ids, record.values(metric).tolist(), strict=True))


def test_an_update_that_rewrites_nothing_keeps_the_approved_lines_byte_for_byte() -> None:
    before = updated(None, measured(a=1, b=2))
    after = updated(before, measured(a=4, b=1))
    assert after.text == before.text


def test_new_and_edited_queries_get_new_lines_and_removed_ones_none() -> None:
    before = updated(None, measured(a=1, b=2, c=4))  # (1 + 1/2 + 1/4) / 3
    golden = GoldenSet.from_dict({"a": {"good": 1}, "b": {"good": 2}, "d": {"good": 1}})
    run = Run.from_dict({"a": ["x", "good"], "b": ["good"], "d": ["x", "good"]})
    evaluation = evaluate(run, golden, conventions=before.conventions)
    after = updated(before, evaluation)
    # a is unchanged and keeps 1 although it is 1/2 now; b has another grade, d is new.
    assert values(after) == {"a": 1.0, "b": 1.0, "d": 0.5}
    # The mean was 1.75 / 3; with a at its recorded value it is 2.5 / 3.
    moves = set_changes(before, compare(evaluation, before))
    assert moves == {"RR": pytest.approx(0.75 / 3)}
    assert set_changes(before, compare(measured(a=4, b=1, c=1), before)) == {}


def test_only_the_metrics_that_are_better_are_rewritten() -> None:
    gates = {RR: GATE, P1: GATE}
    before = updated(None, measured(a=1, b=2, c=4), gates=gates)
    after = updated(before, measured(a=1, b=2, c=2), (RR,), gates=gates)
    assert values(after) == {"a": 1.0, "b": 0.5, "c": 0.5}
    assert values(after, P1) == values(before, P1)
    assert after.ranking("c") == ("x1", "good"), "the rankings are those of what was raised"


def test_a_metric_that_is_no_longer_gated_keeps_its_values_until_an_approval() -> None:
    before = updated(None, measured(a=1, b=1), gates={RR: GATE, P1: GATE})
    after = updated(before, measured(a=2, b=2))
    assert values(after, P1) == {"a": 1.0, "b": 1.0}
    assert (after.metrics["P@1"].gated, after.metrics["P@1"].gate) == (False, GATE)
    back = updated(after, measured(a=2, b=2), gates={RR: GATE, P1: GATE})
    assert values(back, P1) == {"a": 1.0, "b": 1.0}
    approved = updated(after, measured(a=2, b=2), is_approved=True)
    assert "P@1" not in approved.metrics


def test_a_metric_that_is_only_recorded_is_not_lowered_when_others_are_raised() -> None:
    before = updated(None, measured(a=2, b=1), watched=("P@1",))
    better_rr = measured(a=1, b=1)
    assert values(updated(before, better_rr, (RR,), watched=("P@1",)), P1) == {"a": 1.0, "b": 1.0}
    worse_p1 = measured(a=2, b=2)
    assert values(updated(before, worse_p1, (RR,), watched=("P@1",)), P1) == {"a": 0.0, "b": 1.0}


def test_looser_gates_and_limits_are_recorded_with_a_reason_only() -> None:
    tight, loose = StabilityLimits(k=2), StabilityLimits(min_rbo=0.5, k=2)
    before = updated(None, measured(a=1, b=1), limits=(tight,))
    for approved, gate, limits in ((False, GATE, tight), (True, LOOSER, loose)):
        after = updated(
            *(before, measured(a=1, b=1)), gates={RR: LOOSER}, limits=(loose,), is_approved=approved
        )
        assert (after.gate(RR), after.limits) == (gate, (limits,))
    again = updated(after, measured(a=1, b=1), limits=(tight,))
    assert (again.gate(RR), again.limits) == (GATE, (tight,)), "a stricter one needs no reason"


def test_the_world_is_that_of_the_approved_lines() -> None:
    before = updated(None, measured(a=1, b=2), world={"index": "old"})
    new = {"index": "new"}
    assert updated(before, measured(a=1, b=2), world=new).world == {"index": "old"}
    assert updated(before, measured(a=1, b=1), (RR,), world=new).world == new
    unknown = updated(None, measured(a=1, b=2))
    assert updated(unknown, measured(a=1, b=2), world=new).world == new
    assert updated(unknown, measured(a=1, b=4), world=new).world == {}


def test_compared_rankings_change_with_a_reason_only() -> None:
    limits = (StabilityLimits(k=2),)
    before = updated(None, measured(a=2, b=2), limits=limits)
    better = measured(a=1, b=1)
    assert updated(before, better, (RR,), limits=limits).ranking("a") == ("x1", "good")
    assert updated(before, better, is_approved=True, limits=limits).ranking("a") == ("good",)
