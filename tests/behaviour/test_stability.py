"""How alike two runs are, and which limits that breaks; by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rankcheck import ConfigurationError, GoldenSet, Run, compare, evaluate, rbo
from pytest_rankcheck.behaviour.ranking_stability import RankingStability, stability_of
from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

BEFORE = {"a": ["1", "2", "3", "4"], "b": ["1", "2", "3", "4"], "c": ["1", "2"], "d": []}
NOW = {"a": ["1", "2", "3", "4"], "b": ["2", "1", "3", "5"], "c": ["8", "9"], "d": ["1"]}


def stability(limits: StabilityLimits) -> RankingStability:
    golden = GoldenSet.from_dict({query_id: {} for query_id in BEFORE})
    now, then = (evaluate(Run.from_dict(rankings), golden) for rankings in (NOW, BEFORE))
    return stability_of(compare(now, then), limits)


def test_agreements_by_hand() -> None:
    found = {one.query_id: one for one in stability(StabilityLimits(k=4)).agreements}
    assert not found["a"].is_changed
    assert (found["a"].rbo, found["a"].overlap, found["a"].kendall, found["a"].tau_ap) == (
        1, 1, 0, 1,
    )  # fmt: skip
    b = found["b"]
    assert b.rbo == rbo(BEFORE["b"], NOW["b"], p=0.9)
    assert b.overlap == 3 / 4
    # Pairs of 1 2 3 | 4 5: (1, 2) are against; (4, 5) is known in neither list: 1/2 would be for
    # pairs that are both in only one list (4 and 5 are in different ones, so against: 1).
    # Of 16 + 1/2 * (12 + 12) / 2 = 22 at most.
    assert b.kendall == pytest.approx(2 / 22)
    # Now 2 1 3 against before 1 2 3: of place 2, 0 of 1 above is right; of place 3, 2 of 2.
    assert b.tau_ap == pytest.approx(2 * (0 / 1 + 2 / 2) / 2 - 1)
    c = found["c"]
    assert (c.rbo, c.overlap, c.tau_ap) == (0, 0, 0)
    assert c.kendall == 1
    assert (found["d"].rbo, found["d"].overlap) == (0, 0)


def test_changed_queries_are_listed_the_least_alike_first() -> None:
    found = stability(StabilityLimits())
    assert [one.query_id for one in found.changed] == ["c", "d", "b"]
    assert [one.query_id for one in found.beyond] == ["c", "d", "b"]
    assert found.least_rbo == 0
    assert found.mean_rbo == pytest.approx((1 + found.agreements[1].rbo) / 4)


@pytest.mark.parametrize(
    ("limits", "beyond", "too_many"),
    [
        (StabilityLimits(min_rbo=0.5), ["c", "d"], False),
        (StabilityLimits(min_rbo=None, min_overlap=0.8, k=4), ["c", "d", "b"], False),
        (StabilityLimits(min_rbo=None, min_overlap=0.75, k=4), ["c", "d"], False),
        (StabilityLimits(min_rbo=None, max_kendall=0.1, k=4), ["c"], False),
        (StabilityLimits(min_rbo=None, min_tau_ap=-0.1), ["b"][:0], False),
        (StabilityLimits(min_rbo=None, min_tau_ap=0.1), ["c", "d", "b"], False),
        (StabilityLimits(min_rbo=None, max_changed_queries=3), [], False),
        (StabilityLimits(min_rbo=None, max_changed_queries=2), [], True),
        (StabilityLimits(min_rbo=None, max_changed_queries=0.75), [], False),
        (StabilityLimits(min_rbo=None, max_changed_queries=0.7), [], True),
        (StabilityLimits(min_rbo=None, max_changed_queries=0), [], True),
    ],
)
def test_limits(limits: StabilityLimits, beyond: list[str], too_many: bool) -> None:
    found = stability(limits)
    assert [one.query_id for one in found.beyond] == beyond
    assert found.too_many is too_many
    assert found.is_broken is bool(beyond or too_many)


def test_allowed_queries_may_exceed_the_limits() -> None:
    """The queries c and d are beyond min_rbo=0.5; three queries changed."""
    assert stability(StabilityLimits(min_rbo=0.5, allowed_queries=1)).is_broken
    allowed = StabilityLimits(min_rbo=0.5, allowed_queries=2)
    assert [one.query_id for one in stability(allowed).beyond] == ["c", "d"]
    assert not stability(allowed).is_broken
    also_few = StabilityLimits(min_rbo=0.5, allowed_queries=2, max_changed_queries=2)
    assert stability(also_few).is_broken, "the other limit still counts"


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"min_rbo": 1.5}, "min_rbo=1.5 is invalid; give a number from 0 to 1"),
        ({"min_tau_ap": -2}, "min_tau_ap=-2 is invalid"),
        ({"max_changed_queries": -1}, "max_changed_queries=-1 is invalid"),
        ({"max_kendall": math.nan}, "max_kendall=nan is invalid"),
        ({"p": 1}, "p=1 is invalid; give a number between 0 and 1"),
        ({"k": 0}, "k=0 is invalid; give a whole number"),
        ({"k": True}, "k=True is invalid; give a whole number"),
        ({"allowed_queries": -1}, "allowed_queries=-1 is invalid; give a whole number from 0"),
        ({"allowed_queries": 0.5}, "allowed_queries=0.5 is invalid; give a whole number from 0"),
        ({"min_rbo": None}, "no limit is set"),
    ],
)
def test_limits_that_are_none(limits: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        StabilityLimits(**limits)  # type: ignore[arg-type]


def test_only_what_is_known_counts() -> None:
    """A record keeps ten documents: what changed below them is not seen."""
    golden = GoldenSet.from_dict({"q": {}})
    ids = [f"d{place}" for place in range(20)]
    now = evaluate(Run.from_dict({"q": [*ids[:10], *reversed(ids[10:])]}), golden)
    then = evaluate(Run.from_dict({"q": ids}), golden)
    assert not stability_of(compare(now, then), StabilityLimits()).changed
    assert stability_of(compare(now, then), StabilityLimits(k=20)).changed


def test_rankings_still_in_their_file_are_read_as_far_down_as_needed(tmp_path: Path) -> None:
    golden = GoldenSet.from_dict({"q": {"d0": 1}})
    ids = [f"d{place}" for place in range(60)]
    for name, docs in (("then", ids), ("now", [*ids[:40], *reversed(ids[40:])])):
        Run.from_dict({"q": docs}).save(tmp_path / name)
    runs = [Run.scan(tmp_path / name) for name in ("now", "then")]
    comparison = compare(*(evaluate(run, golden) for run in runs))
    assert not stability_of(comparison, StabilityLimits(k=20)).changed
    assert not any(run.is_in_memory for run in runs), "the top is known"
    assert not stability_of(comparison, StabilityLimits(k=40)).changed
    [changed] = stability_of(comparison, StabilityLimits(k=60)).changed
    assert len(changed.now) == len(changed.before) == 60


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"min_rbo": 0}, "min_rbo=0 can never fail; give another number, or None for no limit"),
        ({"min_rbo": 1e-7}, "min_rbo=1e-07 can never fail"),
        ({"min_overlap": 0.0}, "min_overlap=0 can never fail"),
        ({"max_kendall": 1}, "max_kendall=1 can never fail"),
        ({"min_tau_ap": -1}, "min_tau_ap=-1 can never fail"),
    ],
)
def test_limits_that_can_never_fail_are_refused(limits: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        StabilityLimits(**limits)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({"allowed_queries": 80}, "allowed_queries=80"),
        ({"min_rbo": None, "max_changed_queries": 80}, "max_changed_queries=80"),
        (
            {"allowed_queries": 90, "max_changed_queries": 100},
            "max_changed_queries=100 and allowed_queries=90",
        ),
    ],
)
def test_limits_that_allow_all_queries_are_refused(limits: dict[str, float], named: str) -> None:
    chosen = StabilityLimits(**limits)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=f"^{named} can never fail on 80 queries"):
        chosen.refuse_never_failing(80)
    chosen.refuse_never_failing(101)
    StabilityLimits(allowed_queries=90, max_changed_queries=3).refuse_never_failing(80)
    StabilityLimits(min_rbo=None, max_changed_queries=0.99).refuse_never_failing(1)


STRICT = StabilityLimits(min_rbo=0.9, min_overlap=0.8, max_changed_queries=3, allowed_queries=1)


@pytest.mark.parametrize(
    "looser",
    [
        {"min_rbo": 0.8},
        {"min_rbo": None},
        {"min_overlap": 0.7},
        {"min_overlap": None},
        {"max_changed_queries": 4},
        {"max_changed_queries": None},
        {"max_changed_queries": 0.1},
        {"allowed_queries": 2},
        {"k": 9},
        {"k": 11},
        {"p": 0.8},
        {"p": 0.95},
    ],
)
def test_limits_that_are_or_may_be_looser(looser: dict[str, float]) -> None:
    assert not replace(STRICT, **looser).is_at_least_as_strict_as(STRICT)


@pytest.mark.parametrize(
    "tighter",
    [
        {},
        {"min_rbo": 0.95},
        {"min_overlap": 0.9},
        {"max_kendall": 0.1},
        {"min_tau_ap": 0.5},
        {"max_changed_queries": 2},
        {"max_changed_queries": 0},
        {"allowed_queries": 0},
        {"max_changed_queries": 0, "min_rbo": None, "min_overlap": None, "k": 20},
        {"max_changed_queries": 1, "min_rbo": None, "min_overlap": None, "p": 0.5},
    ],
)
def test_limits_that_are_as_strict(tighter: dict[str, float]) -> None:
    assert replace(STRICT, **tighter).is_at_least_as_strict_as(STRICT)


def test_fewer_changes_of_fewer_documents_are_not_as_strict() -> None:
    """If no top ten may change, none can be beyond a limit on ten documents."""
    unchanged = StabilityLimits(min_rbo=None, max_changed_queries=0)
    assert unchanged.is_at_least_as_strict_as(StabilityLimits())
    assert not replace(unchanged, k=5).is_at_least_as_strict_as(StabilityLimits())


def test_other_limits_are_compared_in_their_own_direction() -> None:
    kendall = StabilityLimits(min_rbo=None, max_kendall=0.2, min_tau_ap=0.5)
    for looser in ({"max_kendall": 0.3}, {"min_tau_ap": 0.4}, {"min_tau_ap": None}):
        assert not replace(kendall, **looser).is_at_least_as_strict_as(kendall)
    assert replace(kendall, max_kendall=0.1, p=0.2).is_at_least_as_strict_as(kendall)
    share = StabilityLimits(min_rbo=None, max_changed_queries=0.2, p=0.5)
    assert replace(share, max_changed_queries=0.1, k=20).is_at_least_as_strict_as(share)
    for looser in (0.3, 1, 5):
        assert not replace(share, max_changed_queries=looser).is_at_least_as_strict_as(share)
    assert not replace(share, k=5).is_at_least_as_strict_as(share)


some = st.sampled_from
any_limits = st.builds(
    dict,
    min_rbo=some([None, 0.3, 0.6, 0.9]),
    p=some([0.5, 0.9]),
    min_overlap=some([None, 0.4, 0.8]),
    max_kendall=some([None, 0.1, 0.4]),
    min_tau_ap=some([None, -0.5, 0.5]),
    max_changed_queries=some([None, 0, 0.4, 0.8, 1, 2, 3]),
    k=some([1, 2, 4]),
    allowed_queries=some([0, 1, 2, 3]),
).filter(
    lambda given: any(
        given[name] is not None for name in given if name not in ("p", "k", "allowed_queries")
    )
)
orders = st.lists(st.permutations("12345"), min_size=4, max_size=4)


@settings(max_examples=300)
@given(any_limits, any_limits, st.lists(orders, min_size=1, max_size=12))
def test_stricter_limits_fail_whatever_the_others_fail(
    mine: dict[str, Any], theirs: dict[str, Any], runs: list[list[list[str]]]
) -> None:
    """Against 1 2 3 4 in each query; a run is the order of five documents in each of four."""
    one, other = StabilityLimits(**mine), StabilityLimits(**theirs)
    if not one.is_at_least_as_strict_as(other):
        return
    golden = GoldenSet.from_dict({str(query): {} for query in range(4)})
    then = evaluate(Run.from_dict({query: list("1234") for query in golden.query_ids}), golden)
    for orders in runs:
        rankings = dict(zip(golden.query_ids, orders, strict=True))
        comparison = compare(evaluate(Run.from_dict(rankings), golden), then)
        if stability_of(comparison, other).is_broken:
            assert stability_of(comparison, one).is_broken


@given(any_limits)
def test_limits_come_back_from_a_file(given: dict[str, Any]) -> None:
    limits = StabilityLimits(**given)
    entry = json.loads(json.dumps(limits.to_dict()))
    back = StabilityLimits.from_dict(entry)
    assert back.to_dict() == limits.to_dict()
    assert back.is_at_least_as_strict_as(limits)
    assert limits.is_at_least_as_strict_as(back)


def test_limits_are_written_as_plain_numbers() -> None:
    limits = StabilityLimits(
        min_rbo=np.float32(0.5), max_changed_queries=Fraction(2), k=np.int64(5), allowed_queries=1
    )
    assert json.dumps(limits.to_dict()) == (
        '{"min_rbo": 0.5, "max_changed_queries": 2, "p": 0.9, "k": 5, "allowed_queries": 1}'
    )
    assert str(limits) == "min_rbo=0.5, max_changed_queries=2, p=0.9, k=5, allowed_queries=1"
