"""Attempts that are not blocked yet, each with what it waits for."""

from __future__ import annotations

OPEN: dict[str, str] = {
    "test_golden_set_edits::test_a_query_dropped_in_one_pull_request_and_brought_back_in_the_next": "the register",
    "test_loosened_gates::test_a_larger_budget": "approved gates",
    "test_loosened_gates::test_inconclusive_results_pass": "approved gates",
}
