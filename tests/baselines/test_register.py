"""The register: which lines an update rewrites, and what it keeps account of. Worked by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pandas as pd
import pytest

from pytest_rankcheck import Conventions, Evaluation, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.query_losses import set_changes
from pytest_rankcheck.baselines.record_writer import record_text
from pytest_rankcheck.baselines.register import Revision, next_record
from pytest_rankcheck.comparison.comparison import compare

RR, P1 = Metric.parse("RR"), Metric.parse("P@1")
GATE = "tolerance(abs=0.1, rel=0)"


def measured(grade: int = 1, **ranks: int) -> Evaluation:
    """Return an evaluation in which the only relevant document of each query has a rank."""
    golden = GoldenSet.from_dict({query: {"good": grade} for query in ranks})
    rankings = {q: [f"x{i}" for i in range(1, rank)] + ["good"] for q, rank in ranks.items()}
    return evaluate(Run.from_dict(rankings), golden, conventions=Conventions(no_relevant="exclude"))


def updated(
    before: Record | None,
    evaluation: Evaluation,
    rewritten: tuple[Metric, ...] = (),
    **more: object,
) -> Record:
    """Return the next record of a test that gates RR."""
    gates = more.pop("gates", {RR: GATE})
    return next_record(before, evaluation, Revision(gates, rewritten=frozenset(rewritten), **more))  # type: ignore[arg-type]


def values(record: Record, metric: Metric = RR) -> Mapping[str, float | None]:
    return {query_id: line.values[str(metric)] for query_id, line in record.queries.items()}


def test_an_update_that_rewrites_nothing_keeps_the_approved_lines_byte_for_byte() -> None:
    before = updated(None, measured(a=1, b=2))
    after = updated(before, measured(a=4, b=1))
    assert record_text(after) == record_text(before)


def test_new_and_edited_queries_get_new_lines_and_removed_ones_none() -> None:
    before = updated(None, measured(a=1, b=2, c=4))  # (1 + 1/2 + 1/4) / 3
    golden = GoldenSet.from_dict({"a": {"good": 1}, "b": {"good": 2}, "d": {"good": 1}})
    run = Run.from_dict({"a": ["x", "good"], "b": ["good"], "d": ["x", "good"]})
    after = updated(before, evaluate(run, golden, conventions=before.conventions))
    # a is unchanged and keeps 1 although it is 1/2 now; b has another grade, d is new.
    assert values(after) == {"a": 1.0, "b": 1.0, "d": 0.5}
    since = after.since_approval
    assert since is not None
    assert (since.queries, since.added, since.removed, since.edited) == (3, 1, 1, 1)
    # The mean was 1.75 / 3; with a at its recorded value it is 2.5 / 3.
    assert since.mean_change == {"RR": pytest.approx(0.75 / 3)}


def test_what_the_golden_set_did_adds_up_until_a_reason_is_given() -> None:
    record = updated(None, measured(a=1, b=1))
    record = updated(record, measured(a=1, b=1, c=2))
    record = updated(record, measured(a=1, c=2))
    since = record.since_approval
    assert since is not None
    assert (since.added, since.removed) == (1, 1)
    assert since.mean_change["RR"] == pytest.approx(0.75 - 1)
    approved = updated(record, measured(a=1, c=4), is_approved=True)
    assert approved.since_approval is not None
    assert (approved.since_approval.added, approved.since_approval.queries) == (0, 2)
    assert values(approved) == {"a": 1.0, "c": 0.25}


def test_only_the_metrics_that_are_better_are_rewritten() -> None:
    gates = {RR: GATE, P1: GATE}
    before = updated(None, measured(a=1, b=2, c=4), gates=gates)
    after = updated(before, measured(a=1, b=2, c=2), (RR,), gates=gates)
    assert values(after) == {"a": 1.0, "b": 0.5, "c": 0.5}
    assert values(after, P1) == values(before, P1)
    assert after.queries["c"].top == ("x1", "good"), "the rankings are those of what was raised"


def test_a_metric_that_is_no_longer_gated_keeps_its_values_also_through_an_approval() -> None:
    before = updated(None, measured(a=1, b=1), gates={RR: GATE, P1: GATE})
    for approved in (False, True):
        after = updated(before, measured(a=2, b=2), is_approved=approved)
        assert values(after, P1) == {"a": 1.0, "b": 1.0}
        assert (after.kept["P@1"].gated, after.kept["P@1"].was_gated) == (False, True)
        assert after.kept["P@1"].gate == GATE
    back = updated(after, measured(a=2, b=2), gates={RR: GATE, P1: GATE})
    assert values(back, P1) == {"a": 1.0, "b": 1.0}


def test_a_metric_that_is_only_recorded_is_not_lowered_when_others_are_raised() -> None:
    before = updated(None, measured(a=2, b=1), watched=(P1,))
    better_rr = measured(a=1, b=1)
    assert values(updated(before, better_rr, (RR,), watched=(P1,)), P1) == {"a": 1.0, "b": 1.0}
    worse_p1 = measured(a=2, b=2)
    assert values(updated(before, worse_p1, (RR,), watched=(P1,)), P1) == {"a": 0.0, "b": 1.0}


def test_the_distance_from_the_best_shrinks_by_gains_and_grows_by_approved_falls_only() -> None:
    record = updated(None, measured(a=1, b=1))
    record = updated(record, measured(a=1, b=2), is_approved=True)
    assert record.below_best(RR) == pytest.approx(0.25)
    # Ten more queries at 1/4: the mean falls, the distance stays.
    more = {f"q{index}": 4 for index in range(10)}
    record = updated(record, measured(a=1, b=2, **more))
    assert record.below_best(RR) == pytest.approx(0.25)
    record = updated(record, measured(a=1, b=1, **more), (RR,))  # + (1/2) / 12
    assert record.below_best(RR) == pytest.approx(0.25 - 0.5 / 12)


def test_values_that_are_lost_are_counted() -> None:
    def relevant_to(queries: str) -> Evaluation:
        rank = Metric.parse("MeanRank(missing=omit)")
        golden = GoldenSet.from_dict({q: {"good": 1} for q in "abc"})
        run = Run.from_dict({q: ["good"] if q in queries else ["x"] for q in "abc"})
        evaluation = evaluate(run, golden)
        evaluation.values(rank)
        return evaluation

    rank = Metric.parse("MeanRank(missing=omit)")
    before = updated(None, relevant_to("abc"), gates={rank: GATE})
    kept = updated(before, relevant_to("ab"), gates={rank: GATE})
    assert kept.since_approval is not None
    assert kept.since_approval.uncounted == {}, "nothing was rewritten"
    after = updated(before, relevant_to("ab"), (rank,), gates={rank: GATE})
    assert after.since_approval is not None
    assert after.since_approval.uncounted == {str(rank): 1}
    assert after.since_approval.counted == {str(rank): 3}


def test_slices_that_are_no_longer_gated_stay_recorded_without_a_reason() -> None:
    judgments = pd.DataFrame({"query_id": ["a"], "doc_id": ["good"], "relevance": [1]})
    queries = pd.DataFrame({"query_id": ["a"], "query": ["a"], "lang": ["en"]})
    golden = GoldenSet.from_frame(judgments, queries)
    evaluation = evaluate(Run.from_dict({"a": ["good"]}), golden)
    before = updated(None, evaluation, attributes=("lang",))
    assert updated(before, evaluation).slices == {"lang": {"en": 1}}
    assert updated(before, evaluation, is_approved=True).slices == {}


def test_what_the_changed_queries_do_to_the_mean_is_known_before_an_update() -> None:
    before = updated(None, measured(a=1, b=2))
    comparison = compare(measured(a=2, c=4), before)
    # (1 + 1/4) / 2, with the recorded value of a, against (1 + 1/2) / 2.
    assert set_changes(before, comparison) == {"RR": pytest.approx(0.625 - 0.75)}
    assert set_changes(before, compare(measured(a=2, b=2), before)) == {}


def test_a_reason_is_added_to_those_before() -> None:
    reasons = [
        Approval(reason, "2026-11-22T00:00:00Z", None, None, {}) for reason in ("first", "second")
    ]
    record = updated(None, measured(a=1))
    for reason in reasons:
        record = updated(record, measured(a=2), approval=reason, is_approved=True)
    entry = json.loads(record_text(record))
    assert [approval["reason"] for approval in entry["approvals"]] == ["first", "second"]
