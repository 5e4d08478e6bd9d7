"""An expectation is removed or loosened, so that the worse ranker meets those that are left."""

from __future__ import annotations

from pull_request import FALLEN, PullRequest, listed, passes
from record_entries import Entry

TEST = """
from pytest_rankcheck import assert_expectations

def test_expectations(ranking_run, golden_set):
    assert_expectations(ranking_run, golden_set)
"""
LOOSENED = "expectations that this branch removed or loosened, compared with main"


def expectation(entry: Entry, **marks: object) -> Entry:
    return {"in_top": 2, "documents": list(entry["relevance"])[:1]} | marks


def expecting(main: PullRequest) -> None:
    """Each relevant document is expected in the top 2; the last query is a known failure."""
    main.golden([{**line, "expect": [expectation(line)]} for line in main.lines])
    strict = {"in_top": 1, "known_failure": "no synonyms yet", "known_rank": 2}
    main.edit_queries([79], lambda entry: {"expect": [expectation(entry, **strict)]})
    main.test(TEST)


@listed(LOOSENED, "query 'q000', expected doc of query 0 in the top 2: now a known", main=expecting)
def test_known_failures_of_the_queries_that_fell(branch: PullRequest) -> None:
    """The expectations that now fail are marked as known failures."""
    branch.make_the_ranker_worse()
    mark = {"known_failure": "the new model is still learning", "known_rank": 10}
    branch.edit_queries(FALLEN, lambda entry: {"expect": [expectation(entry, **mark)]})


@listed(LOOSENED, "query 'q000', expected doc of query 0 in the top 2: removed", main=expecting)
def test_removed_expectations(branch: PullRequest) -> None:
    """The expectations that now fail are removed."""
    branch.make_the_ranker_worse()
    branch.golden(
        [
            {key: value for key, value in line.items() if key != "expect" or number not in FALLEN}
            for number, line in enumerate(branch.lines)
        ]
    )


@listed(LOOSENED, "query 'q000', expected doc of query 0 in the top 2: removed", main=expecting)
def test_a_larger_top(branch: PullRequest) -> None:
    """The expectations that now fail ask for the top 10 instead of the top 2."""
    branch.make_the_ranker_worse()
    branch.edit_queries(FALLEN, lambda entry: {"expect": [expectation(entry, in_top=10)]})


@listed(LOOSENED, "in the top 2: only warns now (severity warn)", main=expecting)
def test_expectations_that_only_warn(branch: PullRequest) -> None:
    """The expectations that now fail only warn."""
    branch.make_the_ranker_worse()
    branch.edit_queries(FALLEN, lambda entry: {"expect": [expectation(entry, severity="warn")]})


@listed(LOOSENED, "in the top 1: known_rank 2 -> 10", main=expecting)
def test_a_lower_known_rank(branch: PullRequest) -> None:
    """A known failure gets worse, and its `known_rank` follows."""
    branch.rank({**branch.main_ranks, 79: 10})
    mark = {"in_top": 1, "known_failure": "no synonyms yet", "known_rank": 10}
    branch.edit_queries([79], lambda entry: {"expect": [expectation(entry, **mark)]})


UNCHECKED = "golden sets with expectations that no test checked", "web.jsonl: 80 expectations"


@listed(*UNCHECKED, main=expecting)
def test_a_deleted_test_of_expectations(branch: PullRequest) -> None:
    """The test that checks the expectations is deleted."""
    branch.make_the_ranker_worse()
    branch.test("def test_other(evaluation):\n    pass\n")


@listed(*UNCHECKED, main=expecting)
def test_a_skipped_test_of_expectations(branch: PullRequest) -> None:
    """The test that checks the expectations is skipped."""
    branch.make_the_ranker_worse()
    branch.edit_test("def test_exp", 'import pytest\n\n@pytest.mark.skip("flaky")\ndef test_exp')


@listed(*UNCHECKED, main=expecting)
def test_expectations_behind_a_condition(branch: PullRequest) -> None:
    """The expectations are checked only if the mean is high enough."""
    branch.make_the_ranker_worse()
    branch.edit_test(
        "(ranking_run, golden_set):\n",
        "(ranking_run, golden_set, evaluation):\n    if evaluation.mean('RR') > 0.9:\n    ",
    )


@passes(main=expecting)
def test_stricter_expectations(branch: PullRequest) -> None:
    """A known failure is repaired and its mark removed, and the reasons are reworded."""
    branch.rank({**branch.main_ranks, 79: 1})
    branch.edit_queries([79], lambda entry: {"expect": [expectation(entry, in_top=1)]})
    branch.edit_queries(range(5), lambda entry: {"expect": [expectation(entry, reason="asked")]})
    terminal = branch.run("--rankcheck-baseline-ref=main").terminal
    assert LOOSENED not in terminal
    assert UNCHECKED[0] not in terminal
