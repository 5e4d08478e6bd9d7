"""When a baseline is written: only if pytest reports no failure, and never over another's work."""

import pytest
from project import REGRESSION_TEST, Project, text_of

WORSE = {0: 2, 1: 2, 2: 2, 3: 2}
"""A fall of 4 / 2 / 80 = 0.025."""

GATE = "assert_mrr_not_regressed(evaluation, baseline, abs=0.01)"
HEAD = "import pytest\nfrom pytest_rankcheck import assert_mrr_not_regressed\n"

TEST = f"""{HEAD}
@pytest.fixture(scope="SCOPE")
def broken():
    yield
    raise OSError("in teardown")

MARK
def test_mrr(FIXTURES):
    {GATE}
    AFTER
"""
XFAIL = {"MARK": "@pytest.mark.xfail"}
OUTCOMES = {
    "a failing subtest": {
        "FIXTURES": "evaluation, baseline, subtests",
        "AFTER": "with subtests.test('another matter'): assert False",
    },
    "a strict xfail that passes": {"MARK": "@pytest.mark.xfail(strict=True)"},
    "an xfail that passes": XFAIL,
    "an xfail": {**XFAIL, "AFTER": "assert False"},
    "a skip after the gate": {"AFTER": "pytest.skip('enough')"},
    "an error in teardown": {"FIXTURES": "evaluation, baseline, broken"},
    "an error in the teardown of the session": {
        "SCOPE": "session",
        "FIXTURES": "broken, evaluation, baseline",
    },
}
USUAL = {"SCOPE": "function", "MARK": "", "FIXTURES": "evaluation, baseline", "AFTER": ""}


@pytest.mark.parametrize("case", OUTCOMES)
def test_a_test_that_does_not_pass_writes_nothing(project: Project, case: str) -> None:
    if "subtest" in case and not hasattr(pytest, "Subtests"):
        pytest.skip("this pytest has no subtests")
    project.test()
    project.rank(WORSE)
    before = project.update()
    project.rank({})
    test = TEST
    for word, text in {**USUAL, **OUTCOMES[case]}.items():
        test = test.replace(word, text)
    project.test(test)
    result = project.run("--snapshot-update")
    assert project.baseline_file().read_bytes() == before
    assert "baselines written" not in text_of(result)
    project.baseline_file().unlink()
    project.run("--snapshot-update")
    assert not project.baseline_file().exists()


RERUN = """
import pytest
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    \"\"\"Run a test again after a failure, as pytest-rerunfailures does; report the last outcome.\"\"\"
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(2):
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if attempt or not any(report.failed for report in reports):
            for report in reports:
                item.ihook.pytest_runtest_logreport(report=report)
            break
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""


@pytest.mark.parametrize("fails_first", [True, False])
def test_after_a_rerun_only_the_last_outcome_counts(project: Project, fails_first: bool) -> None:
    project.write("conftest.py", RERUN)
    project.test(
        f"""{HEAD}
ATTEMPTS = []

def test_mrr(evaluation, baseline):
    ATTEMPTS.append(1)
    {GATE}
    if {fails_first} or len(ATTEMPTS) > 1:
        assert len(ATTEMPTS) == 2
"""
    )
    project.run("--snapshot-update").assert_outcomes(passed=1)
    assert project.record()["metrics"]["RR"]["mean"] == 1.0


def test_a_baseline_without_rankings_is_compared_and_reported(project: Project) -> None:
    project.configure('rankcheck_kept_depth = "0"')
    project.test()
    project.update()
    reports = ("--rankcheck-json=report.json", "--rankcheck-markdown=report.md")
    assert project.run(*reports).ret == 0
    project.rank({0: 3, 1: None})
    result = project.run(*reports)
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert "RR regressed on golden set 'web' (80 queries)" in text
    assert 'q001 "query 1"   1.000 -> 0.000' in text
    assert "- ->" not in text


def test_an_approval_that_reaches_no_baseline_says_so(project: Project) -> None:
    project.test(f"{REGRESSION_TEST}\ndef test_floor(evaluation):\n    pass\n")
    project.update()
    result = project.run("-k", "floor", "--rankcheck-approve", "a faster index")
    assert result.ret == 0
    says = (
        "nothing to approve, so no reason was written:\n"
        "  no test that passed compares with a baseline"
    )
    assert says in text_of(result)


def test_a_row_does_not_say_that_a_failed_test_was_approved(project: Project) -> None:
    project.test()
    project.update()
    project.rank(WORSE)
    project.test(f"{REGRESSION_TEST}    assert evaluation.mean('RR') > 0.999\n")
    result = project.run("--rankcheck-approve", "a faster index")
    text = " ".join(text_of(result).split())
    assert "approved, not written, because the test failed" in text
    assert "no test that passed compares with a baseline" in text
    project.rank({})
    project.run("--rankcheck-approve", "a faster index").assert_outcomes(passed=1)
