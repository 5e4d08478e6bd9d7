"""The histories of pull requests that the calibration plays, on changes written by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pytest_rankcheck import Gate

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
import pull_requests

TOLERANCE = Gate.tolerance(abs=0.05)


def history(*means: float, noise: tuple[float, ...] | None = None):
    """A history that moves both queries by so much at each step."""
    changes = np.repeat(np.array(means)[:, np.newaxis], 2, axis=1)
    added = np.zeros(1 + len(means)) if noise is None else np.array(noise)
    return pull_requests.History(changes, np.repeat(added[:, np.newaxis], 2, axis=1))


def test_small_falls_add_up_against_the_approved_values_and_not_against_the_last() -> None:
    played = pull_requests.play(history(-0.03, -0.03, -0.02, -0.03), TOLERANCE)
    # 0.5 approved; 0.47 merged; 0.44 blocked and dropped; 0.45 merged; 0.42 blocked.
    assert played.blocked.tolist() == [False, True, False, True]
    assert played.merged.tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("rule", "blocked"),
    [("any_gain", [False, True]), ("by_the_gate", [False, True]), ("never", [False, False])],
)
def test_a_raised_baseline_is_what_the_next_is_compared_with(
    rule: str, blocked: list[bool]
) -> None:
    """0.5 -> 0.54 -> 0.48: 0.06 below what was merged, 0.02 below what was approved first."""
    played = pull_requests.play(
        history(0.04, -0.06), TOLERANCE, raise_rule=getattr(pull_requests, rule)
    )
    assert played.blocked.tolist() == blocked


def test_renewed_noise_does_not_stay() -> None:
    noise = (0.0, 0.04, 0.0, 0.0)
    played = pull_requests.play(history(0, 0, 0, noise=noise), Gate.tolerance(abs=0.03))
    # The first raises the baseline to 0.54; all that follow are back at 0.5.
    assert played.blocked.tolist() == [False, True, True]


def test_the_mean_of_the_last_five_includes_the_first_values_until_five_are_merged() -> None:
    last = pull_requests.LastMerged(np.array([0.5]))
    for value in (0.6, 0.7, 0.8, 0.9, 1.0):
        pairs = pull_requests.Paired(pull_requests.METRIC, ("q",), last.values, np.array([value]))
        last.merged(TOLERANCE, pairs)
        expected = {0.6: 0.55, 0.7: 0.6, 0.8: 0.65, 0.9: 0.7, 1.0: 0.8}[value]
        assert last.values == pytest.approx([expected])


def test_a_guard_sees_the_changes_since_the_values_were_approved() -> None:
    seen: list[int] = []

    def guard(pairs, steps: int) -> bool:
        seen.append(steps)
        return pairs.gain < -0.025

    played = pull_requests.play(history(-0.01, -0.01, -0.01, 0.04, -0.01), TOLERANCE, guard=guard)
    # 0.49, 0.48, 0.47 (stopped), 0.52 (raises the baseline), 0.51.
    assert played.stopped.tolist() == [False, False, True, False, False]
    assert seen == [1, 2, 3, 3, 1]
    assert not played.blocked.any()


def test_the_true_fall_is_spread_over_the_queries_that_move() -> None:
    for is_renewed in (False, True):
        process = pull_requests.Process(queries=2000, fall=0.01, is_renewed=is_renewed)
        made = process.history(np.random.default_rng(3))
        assert made.changes.mean() == pytest.approx(-0.01, abs=0.001)
        moved = made.noise if is_renewed else made.changes
        assert (moved != 0).mean() == pytest.approx(0.3, abs=0.01)
        assert moved[moved != 0].std() == pytest.approx(0.15, abs=0.005)
