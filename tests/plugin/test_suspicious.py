"""Improvements that look like a leak, and verdicts that depend on the order of ties."""

from __future__ import annotations

import pytest
from project import CONFIGURATION, Project, text_of

HEADING = "suspiciously good: judgments may have leaked into the model:"


@pytest.fixture
def perfect(project: Project) -> Project:
    """A project whose ranker has become perfect: 20 of 80 queries got better."""
    project.test()
    project.rank(dict.fromkeys(range(20), 2))
    project.update()
    project.rank({})
    return project


def configure(project: Project, line: str) -> None:
    project.write("pyproject.toml", f"{CONFIGURATION}\n{line}\n")


def test_a_suspicious_gain_is_a_warning_by_default(perfect: Project) -> None:
    result = perfect.run()
    result.assert_outcomes(passed=1)
    text = text_of(result)
    assert HEADING in text
    assert "test_mrr: RR is perfect now, 1.0000" in text
    assert "test_mrr: every one of the 20 queries that could get better did" in text
    configure(perfect, 'rankcheck_suspicious = "ignore"')
    assert HEADING not in text_of(perfect.run())


def test_a_suspicious_gain_that_fails_needs_a_reason(perfect: Project) -> None:
    configure(perfect, 'rankcheck_suspicious = "fail"')
    before = perfect.baseline_file().read_bytes()
    for arguments in ((), ("--snapshot-update",)):
        result = perfect.run(*arguments)
        result.assert_outcomes(failed=1)
        text = text_of(result)
        assert "RR on golden set 'web' (80 queries) is too good: 0.8750 -> 1.0000, +0.1250" in text
        assert "RR is perfect now, 1.0000" in text
        assert "check whether training data, features or prompts contain this golden set" in text
        assert perfect.baseline_file().read_bytes() == before
    perfect.update("--rankcheck-approve", "fixed the tokenizer; looked for leaks, none")
    [approval] = perfect.record()["approvals"]
    assert approval["reason"] == "fixed the tokenizer; looked for leaks, none"
    assert approval["change"].startswith("suspicious: RR is perfect now")
    assert approval["fall"] == {}
    perfect.run().assert_outcomes(passed=1)


def test_an_unknown_setting_is_refused(project: Project) -> None:
    configure(project, 'rankcheck_suspicious = "maybe"')
    project.test()
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "rankcheck_suspicious: 'maybe' is not one of ignore, warn, fail" in text_of(result)


TIED = """
def search(text):
    return {f"doc of {text}": 1.0, "a": 1.0, "zz": 0.5}
"""


def test_a_verdict_that_depends_on_the_order_of_ties_says_so(project: Project) -> None:
    project.test()
    project.update()
    project.write("engine.py", TIED)  # "doc of ..." comes before "a": ids in descending order
    result = project.run()
    result.assert_outcomes(passed=1)
    text = text_of(result)
    assert "verdicts that depend on the order of tied scores:" in text
    assert (
        "test_mrr: 80 queries have tied scores in their rankings: depending on how ties are ordered, "
        "RR ranges from 0.5000 to 1.0000; the verdict depends on the order, so break the ties in the ranker"
    ) in text
    assert (
        "are mostly tied in 80 of 80 rankings (query 'q000': 3 "
        "documents, 2 distinct scores); depending on how ties are ordered, RR ranges from 0.5000 to "
        "1.0000 (tie_range)"
    ) in text
    project.write("engine.py", TIED.replace('"a"', '"f"'))
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "80 queries have tied scores in their rankings" in text_of(result)


DEEP_TIES = """
def search(text):
    if text != "query 0":
        return [f"doc of {text}"]
    scores = {f"filler {place:02}": 9.0 - place / 10 for place in range(29)}
    return {**scores, f"doc of {text}": 1.0, "a": 1.0}
"""


def test_ties_that_hardly_change_the_mean_are_not_worth_a_note(project: Project) -> None:
    project.write("engine.py", DEEP_TIES)
    project.test(
        "from pytest_rankcheck import assert_mrr_not_regressed\n\n"
        "def test_mrr(evaluation, baseline):\n"
        "    assert_mrr_not_regressed(evaluation, baseline)\n"
    )
    project.update()
    text = text_of(project.run())
    assert "passed" in text
    assert "depend on the order of tied scores" not in text
    assert "mostly tied" not in text
