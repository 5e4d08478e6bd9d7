"""Attempts and everyday work end the same if CI runs the tests on workers of pytest-xdist."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import test_changed_tests as changed
import test_everyday_work as everyday
import test_golden_set_edits as golden
from pull_request import PullRequest, Repositories

STORIES = [
    changed.test_a_deleted_test,
    changed.test_skip,
    changed.test_a_renamed_test,
    changed.test_a_conftest_that_deselects,
    changed.test_an_assertion_removed,
    golden.test_dropped_queries_recorded_anew,
    everyday.test_a_renamed_test,
    everyday.test_a_new_test,
]


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_workers_change_nothing(
    story: Callable[[Repositories], None],
    repositories: Repositories,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("xdist")
    monkeypatch.setattr(PullRequest, "ci_arguments", ("-n", "2"))
    story(repositories)
