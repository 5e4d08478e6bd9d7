"""Tests that a plugin repeats: their baseline is settled once, when all repeats have passed.

pytest imports this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.plugin.fixtures import BASELINE
from pytest_rankcheck.plugin.item_identity import is_repeat, repeated_id

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline

__all__ = ["item_to_settle"]

_REPEATS = pytest.StashKey["dict[str, _Repeats]"]()


@dataclass
class _Repeats:
    """The repeats of one test, as far as they have run."""

    expected: int
    passed: dict[pytest.Item, bool] = field(default_factory=dict)
    """Whether each repeat passed the last time that it ran."""


def item_to_settle(item: pytest.Item, passed: bool) -> pytest.Item | None:
    """Return the test whose baseline is written or kept now; None if it is too early, or failed.

    For a repeated test, that is the repeat with the least favourable result, once all repeats have
    passed. A worker of pytest-xdist does not run all repeats, so it writes nothing for them.

    Args:
        item: the test that has just run.
        passed: whether it passed in all its phases.
    """
    if not is_repeat(item) or hasattr(item.config, "workerinput"):
        return item if passed and BASELINE in item.stash else None
    if _REPEATS not in item.config.stash:
        counts = Counter(repeated_id(each) for each in item.session.items if is_repeat(each))
        item.config.stash[_REPEATS] = {test: _Repeats(count) for test, count in counts.items()}
    repeats = item.config.stash[_REPEATS][repeated_id(item)]
    repeats.passed[item] = passed and BASELINE in item.stash
    if len(repeats.passed) < repeats.expected or not all(repeats.passed.values()):
        return None
    return min(repeats.passed, key=lambda each: _favour(each.stash[BASELINE]))


def _favour(baseline: Baseline) -> tuple[int, Sequence[float]]:
    """Return a key by which the least favourable result of a test comes first."""
    from pytest_rankcheck.baselines.update_actions import CAREFUL

    settlement = baseline.decide()
    if settlement is None or baseline.evaluation is None:
        return len(CAREFUL), ()
    metrics = dict.fromkeys(check.metric for check in baseline.checks)
    means = [
        baseline.evaluation.mean(metric) * (1 if metric.higher_is_better else -1)
        for metric in metrics
    ]
    worst_first = [-math.inf if math.isnan(mean) else mean for mean in means]
    return CAREFUL.index(settlement.action), worst_first
