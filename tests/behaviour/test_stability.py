"""How alike two runs are, and which limits that breaks; by hand."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import ConfigurationError, GoldenSet, Run, compare, evaluate, rbo
from pytest_rankcheck.behaviour.ranking_stability import (
    RankingStability,
    StabilityLimits,
    stability_of,
)
from tests.examples import examples

BEFORE = {"a": ["1", "2", "3", "4"], "b": ["1", "2", "3", "4"], "c": ["1", "2"], "d": []}
NOW = {"a": ["1", "2", "3", "4"], "b": ["2", "1", "3", "5"], "c": ["8", "9"], "d": ["1"]}


def stability(limits: StabilityLimits) -> RankingStability:
    golden = GoldenSet.from_dict({query_id: {} for query_id in BEFORE})
    now, then = (evaluate(Run.from_dict(rankings), golden) for rankings in (NOW, BEFORE))
    return stability_of(compare(now, then), limits)


def test_agreements_by_hand() -> None:
    all_limits = StabilityLimits(
        min_rbo=1, min_overlap=1, max_kendall=0, min_tau_ap=1, max_changed_queries=0, k=4
    )
    found = {one.query_id: one for one in stability(all_limits).agreements}
    # b, overlap: 3 of 4. Kendall: pairs of 1 2 3 | 4 5: (1, 2) are against; 4 and 5 are in
    # different lists, so against: 1. Of 16 + 1/2 * (12 + 12) / 2 = 22 at most, 2 / 22.
    # tauAP: 2 1 3 against 1 2 3: of place 2, 0 of 1 above is right; of place 3, 2 of 2: 0.
    names = ("RBO(p=0.9)", "overlap@4", "Kendall@4", "tauAP@4")
    for query_id, values in {
        "a": (),
        "b": (rbo(BEFORE["b"], NOW["b"], p=0.9), 0.75, 2 / 22, 0),
        "c": (0, 0, 1, 0),
    }.items():
        expected = dict(zip(names, values, strict=False))
        assert found[query_id].exceeded(all_limits) == pytest.approx(expected)
        assert found[query_id].is_changed is bool(values)
    assert found["d"].rbo == 0


def test_changed_queries_are_listed_the_least_alike_first() -> None:
    found = stability(StabilityLimits())
    assert [one.query_id for one in found.changed] == ["c", "d", "b"]
    assert [one.query_id for one in found.beyond] == ["c", "d", "b"]
    assert found.least_rbo == 0
    assert found.mean_rbo == pytest.approx((1 + found.agreements[1].rbo) / 4)


def test_limits() -> None:
    for limits, beyond, too_many in (
        ({"min_rbo": 0.5}, "cd", False),
        ({"min_overlap": 0.8, "k": 4}, "cdb", False),
        ({"min_overlap": 0.75, "k": 4}, "cd", False),
        ({"max_kendall": 0.1, "k": 4}, "c", False),
        ({"min_tau_ap": -0.1}, "", False),
        ({"min_tau_ap": 0.1}, "cdb", False),
        ({"max_changed_queries": 3}, "", False),
        ({"max_changed_queries": 2}, "", True),
        ({"max_changed_queries": 0.75}, "", False),
        ({"max_changed_queries": 0.7}, "", True),
        ({"max_changed_queries": 0}, "", True),
    ):
        found = stability(StabilityLimits.from_dict(limits))
        assert [one.query_id for one in found.beyond] == list(beyond), limits
        assert found.too_many is too_many, limits
        assert found.is_broken is bool(beyond or too_many), limits


def test_allowed_queries_may_exceed_the_limits() -> None:
    """The queries c and d are beyond min_rbo=0.5; three queries changed."""
    assert stability(StabilityLimits(min_rbo=0.5, allowed_queries=1)).is_broken
    allowed = StabilityLimits(min_rbo=0.5, allowed_queries=2)
    assert [one.query_id for one in stability(allowed).beyond] == ["c", "d"]
    assert not stability(allowed).is_broken
    also_few = StabilityLimits(min_rbo=0.5, allowed_queries=2, max_changed_queries=2)
    assert stability(also_few).is_broken, "the other limit still counts"


def test_invalid_limits_and_those_that_can_never_fail_are_refused() -> None:
    for limits, message in (
        ({"min_rbo": 1.5}, "min_rbo=1.5 is invalid; give a number above 0 and at most 1"),
        ({"min_rbo": 0}, "min_rbo=0 is invalid; give a number above 0"),
        ({"min_rbo": 1e-7}, "min_rbo=1e-07 is invalid"),
        ({"min_overlap": 0.0}, "min_overlap=0.0 is invalid"),
        ({"max_kendall": 1}, "max_kendall=1 is invalid"),
        ({"max_kendall": math.nan}, "max_kendall=nan is invalid"),
        ({"min_tau_ap": -2}, "min_tau_ap=-2 is invalid"),
        ({"min_tau_ap": -1}, "min_tau_ap=-1 is invalid"),
        ({"max_changed_queries": -1}, "max_changed_queries=-1 is invalid"),
        ({"p": 1}, "p=1 is invalid; give a number between 0 and 1"),
        ({"k": True}, "k=True is invalid; give a whole number"),
        ({"allowed_queries": 0.5}, "allowed_queries=0.5 is invalid; give a whole number from 0"),
        ({"min_rbo": None}, "no limit is set"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            StabilityLimits(**limits)
    for limits, named in (
        ({"allowed_queries": 80}, "allowed_queries=80"),
        ({"min_rbo": None, "max_changed_queries": 80}, "max_changed_queries=80"),
        (
            {"allowed_queries": 90, "max_changed_queries": 100},
            "max_changed_queries=100 and allowed_queries=90",
        ),
    ):
        chosen = StabilityLimits(**limits)
        with pytest.raises(ConfigurationError, match=f"^{named} can never fail on 80 queries"):
            chosen.refuse_never_failing(80)
        chosen.refuse_never_failing(101)
    StabilityLimits(allowed_queries=90, max_changed_queries=3).refuse_never_failing(80)
    StabilityLimits(min_rbo=None, max_changed_queries=0.99).refuse_never_failing(1)


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


STRICT = StabilityLimits(min_rbo=0.9, min_overlap=0.8, max_changed_queries=3, allowed_queries=1)


def test_which_limits_are_as_strict() -> None:
    for name, values in {
        "min_rbo": (0.8, None),
        "min_overlap": (0.7, None),
        "max_changed_queries": (4, None, 0.1),
        "allowed_queries": (2,),
        "k": (9, 11),
        "p": (0.8, 0.95),
    }.items():
        for looser in values:
            assert not replace(STRICT, **{name: looser}).is_at_least_as_strict_as(STRICT), name
    for tighter in (
        {},
        {"min_rbo": 0.95},
        {"min_overlap": 0.9},
        {"max_kendall": 0.1},
        {"max_changed_queries": 2},
        {"allowed_queries": 0},
        {"max_changed_queries": 0, "min_rbo": None, "min_overlap": None},
    ):
        assert replace(STRICT, **tighter).is_at_least_as_strict_as(STRICT), tighter
    # If no top ten may change, none can be beyond a limit on ten documents.
    unchanged = StabilityLimits(min_rbo=None, max_changed_queries=0)
    assert unchanged.is_at_least_as_strict_as(StabilityLimits())
    assert not replace(unchanged, k=5).is_at_least_as_strict_as(StabilityLimits())
    kendall = StabilityLimits(min_rbo=None, max_kendall=0.2, min_tau_ap=0.5)
    for looser in ({"max_kendall": 0.3}, {"min_tau_ap": 0.4}, {"min_tau_ap": None}):
        assert not replace(kendall, **looser).is_at_least_as_strict_as(kendall)
    assert replace(kendall, max_kendall=0.1, p=0.2).is_at_least_as_strict_as(kendall)


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


@examples(200)
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
