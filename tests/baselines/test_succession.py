"""What a record must keep of the one before it, whoever or whatever wrote it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_rankcheck import Conventions, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.approved_limits import approved_changes, changed_rankings
from pytest_rankcheck.baselines.record_contents import SinceApproval
from pytest_rankcheck.baselines.succession import broken_promises
from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

RR, P1 = Metric.parse("RR"), Metric.parse("P@1")
GATES = {RR: "tolerance(abs=0.01, rel=0)", P1: "tolerance(abs=0.01, rel=0)"}


def record(ranks: list[int], prefix: str = "q") -> Record:
    """Return a record in which the only relevant document of each query has a rank."""
    ids = [f"{prefix}{index:02}" for index in range(len(ranks))]
    golden = GoldenSet.from_dict({query_id: {"good": 1} for query_id in ids})
    rankings = {
        query_id: [f"x{i}" for i in range(1, rank)] + ["good"]
        for query_id, rank in zip(ids, ranks, strict=True)
    }
    return Record.of(evaluate(Run.from_dict(rankings), golden), GATES)


BEFORE = record([1] * 20)


def problems(after: Record, before: Record = BEFORE) -> list[str]:
    return [problem.text for problem in broken_promises(before, after)]


def approval(fall: dict[str, tuple[float, float]], change: str | None = None) -> Approval:
    falls = {name: {"from": start, "to": end} for name, (start, end) in fall.items()}
    return Approval("why", "2026-11-22T00:00:00Z", None, "Ada", falls, change)


def test_the_same_record_and_a_better_one_break_nothing() -> None:
    worse = record([2] * 20)
    assert problems(BEFORE) == problems(worse, worse) == problems(BEFORE, worse) == []


def test_a_lower_mean_by_however_little_is_a_fall() -> None:
    lower = record([1] * 19 + [2])
    best_kept = {name: replace(kept, best=1.0) for name, kept in lower.kept.items()}
    assert problems(replace(lower, kept=best_kept)) == [
        "P@1 1.0000 -> 0.9500",
        "RR 1.0000 -> 0.9750",
    ]
    line = BEFORE.queries["q00"]
    queries = {**BEFORE.queries, "q00": replace(line, values={**line.values, "RR": 0.999999})}
    assert problems(replace(BEFORE, queries=queries)) == ["RR 1.0000 -> 1.0000"]


@pytest.mark.parametrize(
    ("fall", "expected"),
    [
        ({"RR": (1.0, 0.975), "P@1": (1.0, 0.95)}, []),
        ({"RR": (1.0, 0.975)}, ["P@1 1.0000 -> 0.9500"]),
        ({"RR": (1.0, 0.99), "P@1": (1.0, 0.95)}, ["RR 1.0000 -> 0.9750"]),
        ({"RR, lang=de": (1.0, 0.5), "P@1": (1.0, 0.95)}, ["RR 1.0000 -> 0.9750"]),
    ],
)
def test_a_reason_covers_the_metrics_and_the_size_of_the_fall_that_it_names(
    fall: dict[str, tuple[float, float]], expected: list[str]
) -> None:
    after = record([1] * 19 + [2])
    kept = {name: replace(kept, best=1.0) for name, kept in after.kept.items()}
    assert problems(replace(after, kept=kept, approvals=(approval(fall),))) == expected


def test_an_approved_fall_is_still_measured_from_the_best() -> None:
    fall = {"RR": (1.0, 0.975), "P@1": (1.0, 0.95)}
    after = replace(record([1] * 19 + [2]), approvals=(approval(fall),))
    assert problems(after) == [
        "P@1 no longer knows its best mean, 1.0000",
        "RR no longer knows its best mean, 1.0000",
    ]


def test_earlier_reasons_are_kept() -> None:
    before = replace(BEFORE, approvals=(approval({"RR": (1.0, 0.9)}),))
    assert problems(BEFORE, before) == ["the earlier approvals differ"]


def without_a_query() -> Record:
    """Return the record of an update after one of the queries was removed."""
    since = SinceApproval(20, {"RR": 20, "P@1": 20}, removed=1)
    return replace(record([1] * 19), since_approval=since)


def test_one_query_in_twenty_may_go_and_two_may_not() -> None:
    assert problems(without_a_query()) == []
    assert problems(record([1] * 18)) == [
        "2 of 20 queries removed and 0 edited since the last approval; 1 need no reason",
        "the queries lost since the last approval were forgotten",
    ]
    reasoned = replace(record([1] * 18), approvals=(approval({}, change="depth: 100"),))
    assert len(problems(reasoned)) == 1, "the reason is about something else"
    about = approval({}, change="2 of 20 queries removed and 0 edited since the last approval")
    assert problems(replace(reasoned, approvals=(about,))) == []


def test_the_count_of_lost_queries_is_not_reset_without_a_reason() -> None:
    forgotten = "the queries lost since the last approval were forgotten"
    assert problems(record([1] * 19)) == [forgotten]
    assert problems(record([1] * 19), without_a_query()) == [forgotten]
    assert problems(without_a_query(), without_a_query()) == []


def test_metrics_slices_and_gates_stay() -> None:
    kept = BEFORE.kept
    ungated = {**kept, "RR": replace(kept["RR"], gated=False)}
    assert problems(replace(BEFORE, kept=ungated)) == ["RR is no longer gated"]
    loose = {**kept, "RR": replace(kept["RR"], gate="tolerance(abs=0.2, rel=0)")}
    assert problems(replace(BEFORE, kept=loose)) == [
        "the gate of RR was tolerance(abs=0.01, rel=0), and is tolerance(abs=0.2, rel=0)"
    ]
    strict = {**kept, "RR": replace(kept["RR"], gate="tolerance(abs=0, rel=0)")}
    assert problems(replace(BEFORE, kept=strict)) == []
    assert problems(replace(BEFORE, kept={"P@1": kept["P@1"]})) == [
        "RR is no longer gated",
        "the values of RR are gone",
    ]
    sliced = replace(BEFORE, slices={"lang": {"de": 20}})
    assert problems(BEFORE, sliced) == ["the slices of lang are no longer gated"]


def test_a_metric_that_was_gated_before_is_not_lowered_either() -> None:
    before = replace(BEFORE, kept={**BEFORE.kept, "RR": replace(BEFORE.kept["RR"], gated=False)})
    after = record([1] * 19 + [2])
    lowered = replace(after, kept={**after.kept, "RR": replace(after.kept["RR"], gated=False)})
    assert "RR 1.0000 -> 0.9750" in problems(lowered, before)


def test_values_that_are_gone_are_a_loss() -> None:
    queries = {
        query_id: replace(line, values={**line.values, "RR": None if place < 2 else 1.0})
        for place, (query_id, line) in enumerate(BEFORE.queries.items())
    }
    assert problems(replace(BEFORE, queries=queries)) == [
        "RR has no value for 2 of 20 queries that counted at the last approval"
    ]


def test_other_conventions_and_other_queries_need_a_reason() -> None:
    other = replace(BEFORE, conventions=Conventions(ties="input"))
    assert problems(other) == ["conventions or depth differ"]
    assert problems(record([1] * 20, prefix="new"))[0] == (
        "20 of 20 queries removed and 0 edited since the last approval; 1 need no reason"
    )


def test_a_query_that_gained_before_it_left_does_not_hide_the_best() -> None:
    """0.05 below the best; a query gains 0.05 and is removed: nothing is below the best."""
    low = record([1] * 19 + [100])
    before = replace(low, kept={name: replace(kept, best=1.0) for name, kept in low.kept.items()})
    assert problems(without_a_query(), before) == []


def test_a_gate_that_allows_for_noise_is_not_widened_by_more_noise() -> None:
    gate = "tolerance(abs=0.01, rel=0, noise=3)"
    calm, noisy, unknown = (
        replace(
            BEFORE, kept={"RR": replace(BEFORE.kept["RR"], gate=gate, noise=noise)}, approvals=()
        )
        for noise in (0.01, 0.4, None)
    )
    text = "the gate of RR allows for the noise of the ranker, which was 0.01 and is"
    assert problems(noisy, calm) == [f"{text} 0.4"]
    assert problems(unknown, calm) == [f"{text} None"]
    assert problems(calm, noisy) == []


def test_a_reason_for_one_change_does_not_cover_another() -> None:
    loose = replace(BEFORE.kept["RR"], gate="tolerance(abs=0.5, rel=0)")
    reason = approval({}, change="6 of 20 queries removed and 0 edited since the last approval")
    after = replace(BEFORE, kept={**BEFORE.kept, "RR": loose}, approvals=(reason,))
    text = "the gate of RR was tolerance(abs=0.01, rel=0), and is tolerance(abs=0.5, rel=0)"
    assert problems(after) == [text]
    assert problems(replace(after, approvals=(approval({}, change=text),))) == []


def test_means_of_another_convention_are_not_compared() -> None:
    after = replace(record([2] * 20), depth=10)
    change = approval({}, change="depth: None in the baseline, 10 now")
    assert problems(after) == ["conventions or depth differ"]
    assert problems(replace(after, approvals=(change,))) == []


STABLE = replace(BEFORE, stability=(StabilityLimits(k=5),))


def with_changed_rankings(count: int, *approvals: Approval) -> Record:
    """Return the stable record with another document on top of its first rankings."""
    lines = {
        query_id: replace(line, top=("new", *line.top)) if place < count else line
        for place, (query_id, line) in enumerate(STABLE.queries.items())
    }
    return replace(STABLE, queries=lines, approvals=approvals)


@pytest.mark.parametrize("count", [1, 2, 999, 1_000, 1_234_567])
def test_the_number_of_changed_rankings_is_read_as_it_was_written(count: int) -> None:
    texts = (f"depth: 10 in the baseline, 5 now; {changed_rankings(count)}", None, "3 queries")
    assert approved_changes(approval({}, text) for text in texts) == count


def test_changed_rankings_need_a_reason_about_as_many() -> None:
    assert problems(STABLE, STABLE) == []
    assert problems(with_changed_rankings(3), BEFORE) == [], "no test compares them"
    assert problems(with_changed_rankings(3), STABLE) == ["3 rankings changed"]
    one, two = (approval({}, f"{each} changed") for each in ("1 ranking", "2 rankings"))
    assert problems(with_changed_rankings(3, two), STABLE) == ["3 rankings changed"]
    assert problems(with_changed_rankings(3, two, one), STABLE) == []
    assert problems(with_changed_rankings(1, approval({}, "depth")), STABLE) == [
        "1 ranking changed"
    ]


def test_limits_of_rankings_are_loosened_with_a_reason_only() -> None:
    looser = replace(STABLE, stability=(StabilityLimits(k=5, allowed_queries=1),))
    text = (
        "the rankings were limited by min_rbo=0.9, p=0.9, k=5, and are limited by min_rbo=0.9, "
        "p=0.9, k=5, allowed_queries=1 now"
    )
    assert problems(looser, STABLE) == [text]
    assert problems(replace(looser, approvals=(approval({}, text),)), STABLE) == []
    assert problems(STABLE, looser) == []
    gone = "the rankings are no longer compared with those of the baseline"
    assert problems(BEFORE, STABLE) == [gone]
    assert problems(replace(BEFORE, approvals=(approval({}, gone),)), STABLE) == []
    assert problems(replace(BEFORE, approvals=(approval({}, text),)), STABLE) == [gone]
