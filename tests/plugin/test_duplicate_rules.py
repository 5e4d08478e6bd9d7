"""The rule for duplicate documents in a test session: the ini line of the error, and baselines."""

from __future__ import annotations

import re

import pytest
from project import Project, text_of

TEST = """
import pytest
from pytest_rankcheck import GoldenSet, assert_recall_not_regressed

@pytest.fixture(scope="session")
def golden_set():
    return GoldenSet.from_dict({"q": {"b": 1}, "p": {"a": 1}}, queries={"q": "q", "p": "p"})

@pytest.fixture(scope="session")
def ranker():
    return lambda text: ["a"] * 5 + ["b"]

def test_recall(evaluation, baseline):
    assert_recall_not_regressed(evaluation, baseline, k=5)
"""


@pytest.mark.parametrize(
    ("rule", "recall", "file", "text"),
    [
        ("keep_places", "0.5000", "pytest.ini", "[pytest]\n{} = {}\n"),
        ("close_gaps", "1.0000", "pyproject.toml", '[tool.pytest.ini_options]\n{} = ["{}"]\n'),
    ],
)
def test_the_value_of_the_error_can_be_pasted(
    project: Project, rule: str, recall: str, file: str, text: str
) -> None:
    (project.path / "pyproject.toml").unlink()
    project.test(TEST)
    refused = text_of(project.run())
    value = re.search(r"(duplicates=)keep_places in (rankcheck_conventions)", refused)
    assert value is not None
    project.write(file, text.format(value[2], value[1] + rule))
    recorded = project.run("--snapshot-update")
    assert recall in text_of(recorded)
    project.run().assert_outcomes(passed=1)
