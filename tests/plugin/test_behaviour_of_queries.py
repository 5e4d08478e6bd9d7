"""Expectations inside pytest: failure texts, the summary, reports and workers."""

import pytest
from project import Project, text_of

EXPECTING = """
from pytest_rankcheck import assert_expectations

def test_expectations(ranking_run, golden_set):
    assert_expectations(ranking_run, golden_set)
"""


@pytest.fixture
def shop(project: Project) -> Project:
    """The project with expectations for four queries in its golden set."""
    lines = project.queries()
    first = {"in_top": 1, "documents": ["doc of query 0"], "reason": "it is the answer"}
    lines[0]["expect"] = [first, {"results": "some"}]
    lines[1]["expect"] = [{"above": ["doc of query 1", "filler-0"]}]
    lines[2]["expect"] = [{"in_top": 1, "documents": ["filler-0"], "known_failure": "no fillers"}]
    lines[3]["expect"] = [
        {"not_in_top": 3, "documents": ["doc of query 3", "filler-9"], "severity": "warn"}
    ]
    project.golden(lines)
    project.test(EXPECTING)
    return project


def test_known_failures_and_warnings_are_in_the_summary_of_a_green_session(shop: Project) -> None:
    result = shop.run()
    result.assert_outcomes(passed=1)
    text = text_of(result)
    for line in (
        "expectations:\n  golden set 'web' (80 queries): 3 of 5 expectations hold, 1 violated (1 with ",
        'expectations with a known failure:\n  q002 "query 2" [golden/web.jsonl:3]: expected filler-0',
        'expectations that only warn (severity warn):\n  q003 "query 3" [golden/web.jsonl:4]: expected',
        "doc of query 3 is at 1, filler-9 is at 11",
    ):
        assert line in text


FAILURE = [
    "E       AssertionError: golden set 'web' (80 queries): 1 of 5 expectations holds, 3 violated *",
    "E         known failures that now hold; remove their known_failure",
    "E         not ranked as expected",
    'E           q000 "query 0"  (golden/web.jsonl:1)',
    "E             expected  doc of query 0 in the top 1",
]
MISTAKES = {0: 4, 1: 2, 2: 5}


@pytest.mark.parametrize(
    "arguments", [(), ("--assert=plain",), pytest.param(("-n", "2"), marks=pytest.mark.slow)]
)
def test_all_violations_are_reported_with_and_without_workers(
    shop: Project, arguments: tuple[str, ...]
) -> None:
    shop.rank(MISTAKES)
    result = shop.run(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(FAILURE)
    result.stdout.fnmatch_lines(
        [
            "expectations:",
            "  FAILED: golden set 'web' (80 queries): 1 of 5 expectations holds, 3 violated*",
            "expectations that only warn (severity warn):",
        ]
    )
    assert "assertions/expectations.py" not in text_of(result)
