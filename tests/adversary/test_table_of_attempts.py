"""The manual's table of attempts is that of this suite."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import test_changed_tests
import test_everyday_work
import test_golden_set_edits
import test_large_records
import test_loosened_expectations
import test_loosened_gates
import test_loosened_limits
import test_record_edits
import test_updates
from manual_tables import check_table
from pull_request import ATTEMPTS, Attempt

MODULES = (
    test_updates,
    test_golden_set_edits,
    test_record_edits,
    test_large_records,
    test_changed_tests,
    test_loosened_gates,
    test_loosened_limits,
    test_loosened_expectations,
    test_everyday_work,
)
"""In the order of the manual."""


def in_order() -> list[Attempt]:
    """Return the attempts by module, and within it as they are written."""
    order = [module.__name__ for module in MODULES]
    return sorted(ATTEMPTS, key=lambda attempt: order.index(attempt.module))


def table_of(attempts: Iterable[Attempt]) -> str:
    """Return a table for each kind of attempt."""
    parts = []
    for kind, group in groupby(attempts, key=lambda attempt: attempt.kind):
        rows = [f"| {attempt.text} | {attempt.outcome} |" for attempt in group]
        parts.append(
            "\n".join([f"### {kind}", "", "| what the branch does | outcome |", "|---|---|"] + rows)
        )
    return "\n".join(["", "\n\n".join(parts), "", ""])


def test_the_manual_has_all_attempts() -> None:
    """Set RANKCHECK_WRITE_DOCS=1 to write them."""
    check_table("baselines.md", "attempts", table_of(in_order()))


def test_there_are_enough_attempts_and_no_two_have_the_same_text() -> None:
    texts = [attempt.text for attempt in ATTEMPTS]
    assert len(set(texts)) == len(texts)
    attacks = [attempt for attempt in ATTEMPTS if attempt.outcome != "passes"]
    assert len(attacks) >= 40
    assert {module.__name__ for module in MODULES} == {attempt.module for attempt in ATTEMPTS}
