"""Which keys a record needs to follow another one, and what a reason covers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pytest_rankcheck import Conventions, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines.change import Approval, Change, united
from pytest_rankcheck.baselines.families import Family
from pytest_rankcheck.baselines.recorded_metric import RecordedMetric
from pytest_rankcheck.baselines.succession import broken_promises
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits

GATE, LOOSER = "tolerance(abs=0.01, rel=0)", "tolerance(abs=0.2, rel=0)"


def named(name: str, before: float | str | None = None, after: float | str | None = None) -> Change:
    return Change.from_dict(name, {"from": before, "to": after})


def record(
    ranks: Sequence[int], prefix: str = "q", by: Sequence[str] = (), **more: object
) -> Record:
    """Return a record that gates RR and P@1; every second query is German, the others English."""
    ids = [f"{prefix}{number:02}" for number in range(len(ranks))]
    golden = GoldenSet.from_dict(
        {query: {"good": 1} for query in ids},
        attributes={q: {"lang": ["en", "de"][n % 2]} for n, q in enumerate(ids)},
    )
    rankings = {
        query: [f"x{place}" for place in range(1, rank)] + ["good"]
        for query, rank in zip(ids, ranks, strict=True)
    }
    gates = {Metric.parse(name): GATE for name in ("RR", "P@1")}
    made = Record.of(evaluate(Run.from_dict(rankings), golden), gates, attributes=by)
    return replace(made, **more)  # type: ignore[arg-type]


def gated(before: Record, name: str, **more: object) -> Record:
    """Return a record with another entry of a metric."""
    changed: RecordedMetric = replace(before.metrics[name], **more)  # type: ignore[arg-type]
    return replace(before, metrics={**before.metrics, name: changed})


def approved(after: Record, *keys: Change) -> Record:
    return replace(after, approvals=(Approval("why", "2026-11-23T00:00:00Z", None, None, keys),))


def problems(after: Record, before: Record | None = None) -> list[str]:
    return [key.text for key in broken_promises(before or BEFORE, after)]


def noisy(deviation: float | None, gate: str = "tolerance(abs=0.01, rel=0, noise=3)") -> Record:
    """Return the record with two replicates of this standard deviation, d / sqrt(2) apart."""
    means = {} if deviation is None else {"": (0.5, 0.5 + deviation * 2**0.5)}
    return gated(BEFORE, "RR", gate=gate, replicates=means)


def scaled(scale: float, fingerprint: str | None = None) -> Record:
    """Return the record with another scale, and another fingerprint of its golden set."""
    then = BEFORE.golden_set
    fingerprint = fingerprint or then.fingerprint
    return replace(BEFORE, golden_set=replace(then, scale=scale, fingerprint=fingerprint))


BEFORE = record([1] * 20)
STABLE = replace(BEFORE, limits=(StabilityLimits(k=5),))
LOWER = record([1] * 19 + [2])
RR_FALL, P_FALL = named("fall:RR", 1.0, 0.975), named("fall:P@1", 1.0, 0.95)


def test_a_lower_mean_by_however_little_is_a_fall() -> None:
    assert problems(BEFORE) == []
    assert problems(BEFORE, LOWER) == []
    assert problems(LOWER) == ["P@1 1.0000 -> 0.9500", "RR 1.0000 -> 0.9750"]
    values = BEFORE.queries.values["RR"].copy()
    values[0] = 0.999999
    queries = replace(BEFORE.queries, values={**BEFORE.queries.values, "RR": values})
    assert problems(replace(BEFORE, queries=queries)) == ["RR 1.0000 -> 1.0000"]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ((RR_FALL, P_FALL), []),
        ((RR_FALL,), ["P@1 1.0000 -> 0.9500"]),
        ((replace(RR_FALL, after=0.99), P_FALL), ["RR 1.0000 -> 0.9750"]),
        ((replace(RR_FALL, slice=("lang", "de")), P_FALL), ["RR 1.0000 -> 0.9750"]),
        ((replace(RR_FALL, subject="RR@10"), P_FALL), ["RR 1.0000 -> 0.9750"]),
        ((replace(RR_FALL, after=0.99), named("fall:RR", 0.99, 0.975), P_FALL), []),
    ],
)
def test_a_reason_covers_the_metrics_and_the_size_of_the_fall_that_it_names(
    keys: tuple[Change, ...], expected: list[str]
) -> None:
    assert problems(approved(LOWER, *keys)) == expected


def test_what_rose_with_an_approved_fall_may_be_undone_with_it() -> None:
    rise = named("rise:P@1", 0.9, 0.95)
    before = approved(record([1] * 19 + [2]), named("fall:RR", 1.0, 0.975), rise)
    reverted = gated(record([1] * 18 + [2, 2]), "RR")
    assert problems(reverted, before)[:1] == ["the earlier approvals differ"], "RR is not back"
    values = {**before.queries.values, "P@1": reverted.queries.values["P@1"]}
    values["RR"] = record([1] * 20).queries.values["RR"]
    undone = replace(before, approvals=(), queries=replace(before.queries, values=values))
    assert problems(undone, before) == []
    assert problems(undone, approved(before, RR_FALL)) == ["P@1 0.9500 -> 0.9000"]


def test_a_revert_is_one_though_means_are_written_with_six_decimals() -> None:
    """23/24 is 0.958333333 in a change."""
    third = record([1] * 23 + [3])
    mean = third.mean(Metric.parse("RR"))
    lower = approved(record([1] * 22 + [3, 3]), Change.fall(Metric.parse("RR"), mean, 0.9444))
    back = replace(third, approvals=())
    assert [each for each in problems(back, lower) if "RR" in each or "earlier" in each] == []


def test_a_revert_may_go_back_to_a_record_without_assertions() -> None:
    families = (Family({"RR": GATE, "P@1": GATE}),)
    lower = replace(approved(LOWER, RR_FALL, P_FALL), assertions=families)
    assert problems(BEFORE, lower) == []
    gone = "what its assertions decide together is gone"
    assert problems(BEFORE, replace(BEFORE, assertions=families)) == [gone]


def test_labels_that_move_back_with_a_revert_need_no_reason() -> None:
    before = record([1] * 20, by=["lang"])
    moved = replace(before.queries, slices=[{"lang": ("en",)}] * 20)
    after = approved(replace(before, queries=moved), Change("slice-gone", "lang", 20, 10))
    assert problems(after, before) == []
    assert problems(before, after) == []
    assert problems(replace(before, approvals=after.approvals), after) != []


def test_a_slice_of_many_queries_does_not_fall_behind_the_others() -> None:
    before = record([1, 2] * 40, by=["lang"])
    traded = record([2, 1] * 40, by=["lang"])
    fell = {"P@1 in lang=en 1.0000 -> 0.0000", "RR in lang=en 1.0000 -> 0.5000"}
    assert {*problems(traded, before)} == fell
    both = [named(f"fall:{name}[lang=en]", 1.0, 0.0) for name in ("RR", "P@1")]
    assert problems(approved(traded, *both), before) == []
    overall = [named(f"fall:{name}", 1.0, 0.0) for name in ("RR", "P@1")]
    assert {*problems(approved(traded, *overall), before)} == fell
    few = record([1, 2] * 10, by=["lang"]), record([2, 1] * 10, by=["lang"])
    assert problems(few[1], few[0]) == [], "slices of 10 queries are not gated"
    moved = replace(traded.queries, slices=[{"lang": ("en",)}] * 80)
    lost = {"40 of 80 queries lost a label of lang: de -> en (40)"}
    assert {*problems(replace(traded, queries=moved), before)} == fell | lost


def test_earlier_reasons_are_kept_unless_what_they_allowed_is_undone() -> None:
    before = approved(LOWER, RR_FALL, P_FALL)
    assert problems(LOWER, before) == ["the earlier approvals differ"]
    assert problems(BEFORE, before) == [], "as with git revert"
    gates = [named(f"gate-looser:{name}", GATE, LOOSER) for name in ("RR", "P@1")]
    loose = gated(gated(BEFORE, "RR", gate=LOOSER), "P@1", gate=LOOSER)
    assert problems(BEFORE, approved(loose, *gates)) == []
    assert problems(loose, approved(loose, *gates)) == ["the earlier approvals differ"]
    assert problems(BEFORE, approved(record([1] * 15), named("queries-lost", 20, 5))) == []


@pytest.mark.parametrize(
    ("key", "undone", "not_undone"),
    [
        (named("depth", None, 10), BEFORE, replace(BEFORE, depth=10)),
        (named("clusters", None, "user"), BEFORE, replace(BEFORE, cluster_by="user")),
        (
            named("convention:ties", "doc_id", "input"),
            BEFORE,
            replace(BEFORE, conventions=Conventions(ties="input")),
        ),
        (named("scale", 1.0, 4.0), BEFORE, scaled(4.0)),
        (named("slice-gone:lang"), record([1] * 20, by=["lang"]), BEFORE),
        (named("metric-gone:RR", GATE), BEFORE, gated(BEFORE, "RR", gated=False)),
        (named("no-value:RR", 20, 3), BEFORE, record([1] * 19)),
        (
            named("direction:RR", "higher", "lower"),
            BEFORE,
            gated(BEFORE, "RR", lower_is_better=True),
        ),
        (named("noise-wider:RR", 0.1, 0.4), noisy(0.1), noisy(0.4)),
        (named("replicates", 5, 1), gated(BEFORE, "RR", averaged=5), BEFORE),
        (named("limits", str(StabilityLimits(k=5))), STABLE, BEFORE),
        (named("golden-set", BEFORE.golden_set.fingerprint, "other"), BEFORE, scaled(1.0, "f")),
        (named("option-looser:rankcheck_unrun", "fail", "warn"), BEFORE, None),
        (named("unreadable"), None, BEFORE),
        (named("rankings", None, 2), None, BEFORE),
    ],
    ids=lambda each: each.name if isinstance(each, Change) else "",
)
def test_an_approval_may_go_where_what_it_allowed_is_undone(
    key: Change, undone: Record | None, not_undone: Record | None
) -> None:
    for after, expected in ((undone, []), (not_undone, ["the earlier approvals differ"])):
        if after is not None:
            assert problems(after, approved(after, key)) == expected


def test_an_approval_of_one_metric_does_not_cover_dropping_another_that_is_in_its_name() -> None:
    before = replace(BEFORE, metrics={f"{n}@1": BEFORE.metrics["P@1"] for n in ("P", "AP")})
    values = dict.fromkeys(before.metrics, BEFORE.queries.values["P@1"])
    before = replace(before, queries=replace(BEFORE.queries, values=values))
    after = gated(before, "P@1", gated=False)
    assert problems(approved(after, named("metric-gone:AP@1", GATE)), before) == [
        "P@1 is no longer gated"
    ]


def test_one_query_in_twenty_may_go_and_two_may_not() -> None:
    assert problems(record([1] * 19)) == []
    assert problems(record([1] * 18)) == ["2 of 20 queries removed or edited"]
    assert len(problems(approved(record([1] * 18), named("depth", None, 100)))) == 1
    assert problems(approved(record([1] * 18), named("queries-lost", 20, 2))) == []
    assert problems(approved(record([1] * 16), named("queries-lost", 20, 2))) == [
        "4 of 20 queries removed or edited"
    ]
    assert problems(record([1] * 20, prefix="new")) == ["20 of 20 queries removed or edited"]


def test_metrics_slices_gates_and_directions_stay() -> None:
    assert problems(gated(BEFORE, "RR", gated=False)) == ["RR is no longer gated"]
    assert problems(approved(gated(BEFORE, "RR", gated=False), named("metric-gone:RR", GATE))) == []
    assert problems(gated(BEFORE, "RR", gate=LOOSER)) == [
        f"the gate of RR was {GATE}, and is {LOOSER} now"
    ]
    key = named("gate-looser:RR", GATE, LOOSER)
    assert problems(approved(gated(BEFORE, "RR", gate=LOOSER), key)) == []
    assert len(problems(approved(gated(BEFORE, "RR", gate="tolerance(abs=0.9, rel=0)"), key))) == 1
    assert len(problems(approved(gated(BEFORE, "P@1", gate=LOOSER), key))) == 1
    assert problems(gated(BEFORE, "RR", gate="tolerance(abs=0, rel=0)")) == []
    assert problems(replace(BEFORE, metrics={"P@1": BEFORE.metrics["P@1"]})) == [
        "the values of RR are gone"
    ]
    assert problems(gated(BEFORE, "RR", lower_is_better=True)) == [
        "direction of RR: higher is better in the baseline, lower now"
    ]
    sliced = replace(BEFORE, slices={"lang": {"de": 20}})
    assert problems(BEFORE, sliced) == ["the slices of lang are no longer gated"]
    assert problems(approved(BEFORE, named("slice-gone:lang")), sliced) == []
    ungated = gated(BEFORE, "RR", gated=False)
    assert "RR 1.0000 -> 0.9750" in problems(gated(LOWER, "RR", gated=False), ungated)


def test_values_that_are_gone_are_a_loss() -> None:
    values = BEFORE.queries.values["RR"].copy()
    values[:2] = np.nan
    queries = replace(BEFORE.queries, values={**BEFORE.queries.values, "RR": values})
    after = replace(BEFORE, queries=queries)
    assert problems(after) == ["RR has no value for 2 of 20 queries that counted"]
    assert problems(approved(after, named("no-value:RR", 20, 2))) == []


def test_another_manner_needs_a_reason_and_means_are_not_compared() -> None:
    ties = replace(record([2] * 20), conventions=Conventions(ties="input"))
    assert problems(ties) == ["ties: 'doc_id' in the baseline, 'input' now"]
    assert problems(approved(ties, named("convention:ties", "doc_id", "input"))) == []
    depth = replace(record([2] * 20), depth=10)
    assert problems(depth) == ["depth: none in the baseline, 10 now"]
    assert problems(approved(depth, named("depth", None, 10))) == []
    assert problems(approved(depth, named("depth", None, 5))) == problems(depth)
    clusters = replace(record([2] * 20), cluster_by="user")
    assert problems(clusters) == ["clusters: none in the baseline, user now"]


def test_a_gate_that_allows_for_noise_is_not_widened_by_more_noise() -> None:
    calm, wide, unknown = map(noisy, (0.01, 0.4, None))
    text = "the gate of RR allows for noise, which was 0.0100 and is"
    assert problems(wide, calm) == [f"{text} 0.4000 now"]
    assert problems(unknown, calm) == [f"{text} none now"]
    assert problems(calm, wide) == []
    assert problems(approved(wide, named("noise-wider:RR", 0.01, 0.4)), calm) == []


def with_changed_rankings(count: int, *keys: Change) -> Record:
    """Return the stable record with another document on top of its first rankings."""
    tops = [("new", *top) if n < count else top for n, top in enumerate(STABLE.queries.tops)]
    return approved(replace(STABLE, queries=replace(STABLE.queries, tops=tops)), *keys)


def test_changed_rankings_need_a_reason_about_as_many() -> None:
    assert problems(with_changed_rankings(3), BEFORE) == [], "no test compares them"
    assert problems(with_changed_rankings(3), STABLE) == ["3 rankings changed"]
    one, two = named("rankings", None, 1), named("rankings", None, 2)
    assert problems(with_changed_rankings(3, two), STABLE) == ["3 rankings changed"]
    assert problems(with_changed_rankings(3, two, one), STABLE) == []


def test_limits_of_rankings_are_loosened_with_a_reason_only() -> None:
    now, then = StabilityLimits(k=5, allowed_queries=1), StabilityLimits(k=5)
    looser = replace(STABLE, limits=(now,))
    text = f"the rankings were limited by {then}, and are limited by {now} now"
    assert problems(looser, STABLE) == [text]
    assert problems(approved(looser, named("limits", str(then), str(now))), STABLE) == []
    assert problems(STABLE, looser) == []
    gone = f"the rankings were limited by {then}, and are limited by none now"
    assert problems(BEFORE, STABLE) == [gone]
    assert problems(approved(BEFORE, named("limits", str(then))), STABLE) == []
    assert problems(approved(BEFORE, named("limits", str(then), str(now))), STABLE) == [gone]


def test_keys_of_one_name_are_united_to_the_one_that_goes_furthest() -> None:
    small, large = named("fall:RR", 1.0, 0.9), named("fall:RR", 1.0, 0.5)
    assert united([small, large, named("depth", 1, 2)]) == (large, named("depth", 1, 2))
    assert named("rise:RR", 0.5, 0.6).is_covered([named("rise:RR", 0.5, 0.6)])
    assert not named("rise:RR", 0.5, 0.55).is_covered([named("rise:RR", 0.5, 0.6)])
    assert not named("fall:RR", 1.0, None).is_covered([large]), "no value is worse than any"
    assert large.is_covered([named("fall:RR", 1.0, None)])
