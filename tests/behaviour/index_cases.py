"""Documents and queries for the tests of indexes, and how the tests see a check fail."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, get_args

import pytest

from pytest_rankcheck import (
    GoldenSet,
    assert_index_invariant,
)
from pytest_rankcheck.behaviour.relation_rules import Relation

ALL = get_args(Relation)
SMALL = {
    "a": "red shoes",
    "b": "red hat",
    "c": "red scarf of wool",
    "d": "blue hat",
    "e": "blue shoes of wool",
}
SHOP = GoldenSet.from_dict(
    {"q1": {"a": 2, "b": 1}, "q2": {"d": 1}},
    {"q1": "red", "q2": "blue hat"},
    name="shop",
)


def corpus(size: int = 60) -> dict[str, str]:
    drawn = random.Random(7)
    return {
        f"d{number:02}": " ".join(
            f"w{int(24 * drawn.random() * drawn.random())}" for _ in range(3 + number % 7)
        )
        for number in range(size)
    }


CORPUS = corpus()
WEB = GoldenSet.from_dict(
    {f"q{number}": {f"d{number:02}": 1} for number in range(20)},
    {f"q{number}": f"w{number} w{number + 3}" for number in range(20)},
    name="web",
)


def failure_of(check: Callable[[], None]) -> str:
    with pytest.raises(AssertionError) as failure:
        check()
    return str(failure.value)


def failing(build: Any, relation: Relation, **options: Any) -> str:
    return failure_of(lambda: assert_index_invariant(build, CORPUS, WEB, relation, **options))
