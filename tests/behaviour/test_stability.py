"""How alike two runs are, and which limits that breaks; by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from pytest_rankcheck import ConfigurationError, GoldenSet, Run, compare, evaluate, rbo
from pytest_rankcheck.behaviour.ranking_stability import (
    RankingStability,
    StabilityLimits,
    stability_of,
)

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


def test_so_many_queries_may_be_beyond_the_limits() -> None:
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
