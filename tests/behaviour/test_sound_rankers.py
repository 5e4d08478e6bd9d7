"""No false alarm: every kind of deterministic ranker passes every condition, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_rankcheck import assert_consistent_depth, assert_deterministic
from pytest_rankcheck.rankers.adapter_choice import adapter_of
from tests.behaviour.sound_rankers import GOLDEN, LETOR, MAKERS, Engine


@contextmanager
def shifted(seconds: float) -> Iterator[None]:
    """Shift nothing: no ranker here has a clock."""
    yield


def check(name: str, **how: Any) -> None:
    make = MAKERS[name]
    golden = LETOR if name == "model" else GOLDEN
    ranker = make()
    if make() is not ranker:  # a function has no instances
        how["fresh"] = make
    assert_deterministic(ranker, golden, clock=shifted, **how)
    if adapter_of(make()).takes_depth:
        assert_consistent_depth(make(), golden, (2, 5, 9))


@pytest.mark.parametrize("name", MAKERS)
def test_a_deterministic_ranker_passes(name: str) -> None:
    check(name)


def test_deterministic_rankers_pass_in_new_processes() -> None:
    for name in ("an object with a cache", "scores with ties"):
        check(name, processes=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_a_deterministic_ranker_passes_twenty_times(name: str) -> None:
    for time in range(20):
        check(name, processes=2 if time < 2 else 0)


def test_there_are_twenty_of_them_and_more() -> None:
    assert len(MAKERS) >= 20
    assert MAKERS["an object with a cache"] is Engine
