"""When a baseline is written: only if pytest reports no failure, and never over another's work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from project import Project, text_of

WORSE = {0: 2, 1: 2, 2: 2, 3: 2}
"""A fall of 4 / 2 / 80 = 0.025."""

GATE = "assert_mrr_not_regressed(evaluation, baseline, abs=0.01)"
HEAD = "import pytest\nfrom pytest_rankcheck import assert_mrr_not_regressed\n"

OUTCOMES = {
    "a failing subtest": f"""
def test_mrr(evaluation, baseline, subtests):
    {GATE}
    with subtests.test("another matter"):
        assert False
""",
    "a strict xfail that passes": f"""
@pytest.mark.xfail(strict=True)
def test_mrr(evaluation, baseline):
    {GATE}
""",
    "an xfail that passes": f"""
@pytest.mark.xfail
def test_mrr(evaluation, baseline):
    {GATE}
""",
    "an xfail": f"""
@pytest.mark.xfail
def test_mrr(evaluation, baseline):
    {GATE}
    assert False
""",
    "a skip after the gate": f"""
def test_mrr(evaluation, baseline):
    {GATE}
    pytest.skip("enough")
""",
    "an error in teardown": f"""
@pytest.fixture
def broken():
    yield
    raise OSError("in teardown")

def test_mrr(evaluation, baseline, broken):
    {GATE}
""",
    "an error in the teardown of the session": f"""
@pytest.fixture(scope="session")
def broken():
    yield
    raise OSError("in teardown")

def test_mrr(broken, evaluation, baseline):
    {GATE}
""",
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_a_test_that_does_not_pass_writes_nothing(project: Project, case: str) -> None:
    if "subtests" in OUTCOMES[case] and not hasattr(pytest, "Subtests"):
        pytest.skip("this pytest has no subtests")
    project.test()
    project.rank(WORSE)
    before = project.update()
    project.rank({})
    project.test(HEAD + OUTCOMES[case])
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


OVERTAKEN = """
import json, shutil
from pathlib import Path
import pytest

@pytest.fixture
def another_session():
    \"\"\"Another test session writes the baseline between this one's reading and writing.\"\"\"
    yield
    shutil.copy("theirs.json", BASELINE)
"""


def overtaken(project: Project, theirs: bytes) -> None:
    """Let another session write its record after the assertions of the test."""
    (project.path / "theirs.json").write_bytes(theirs)
    path = project.baseline_file().relative_to(project.path)
    project.write("conftest.py", OVERTAKEN.replace("BASELINE", repr(str(path))))
    project.test(
        f"""{HEAD}
def test_mrr(another_session, evaluation, baseline):
    {GATE}
"""
    )


def test_a_record_that_another_session_raised_is_not_lowered(project: Project) -> None:
    project.test()
    best = project.update()
    project.baseline_file().unlink()
    project.rank({**WORSE, 4: 2, 5: 2})
    before = project.update()
    overtaken(project, best)
    project.rank(WORSE)  # better than what it read, worse than what is there when it writes
    result = project.run("--snapshot-update")
    assert before != best
    assert project.baseline_file().read_bytes() == best
    result.assert_outcomes(passed=1, errors=1)
    text = text_of(result)
    assert "another test session has written this baseline while this test ran" in text
    assert "run the update again" in text


def test_an_approval_of_another_session_is_kept(project: Project) -> None:
    project.test()
    before = project.update()
    project.rank(WORSE)
    project.update("--rankcheck-approve", "theirs")
    theirs = project.baseline_file().read_bytes()
    project.baseline_file().write_bytes(before)
    overtaken(project, theirs)
    project.rank({**WORSE, 0: 1})
    project.run("--snapshot-update", "--rankcheck-approve", "ours").assert_outcomes(passed=1)
    record = project.record()
    assert [approval["reason"] for approval in record["approvals"]] == ["theirs"], (
        "against their record ours is an improvement"
    )
    assert record["metrics"]["RR"]["mean"] == pytest.approx(1 - 3 / 2 / 80)


def test_what_killed_writers_left_is_removed_by_the_next_update(project: Project) -> None:
    project.test()
    project.update()
    record = project.baseline_file()
    leftover = record.parent / f".{record.name}-abc12345.rankcheck-tmp"
    leftover.write_text("half of a rec", "utf-8")
    project.run()
    assert leftover.exists(), "a plain run writes nothing"
    project.update()
    assert not leftover.exists()


MANY = """
import pytest
from pytest_rankcheck import assert_mrr_not_regressed

@pytest.mark.parametrize("number", range(COUNT))
def test_mrr(evaluation, baseline, number):
    assert_mrr_not_regressed(evaluation, baseline, abs=1e-9 + 0.2)
"""


@pytest.mark.slow
def test_two_sessions_at_once_lose_lower_and_forget_nothing(project: Project) -> None:
    """On 1,000 records, one session raises while the other approves a fall."""
    project.test(MANY.replace("COUNT", "1000"))
    project.rank(WORSE)
    assert project.run("--snapshot-update").ret == 0
    folder = project.path / "tests" / "baselines" / "test_ranking"
    other = project.path / "other"
    subprocess.run(
        ["cp", "-r", str(project.path / "tests"), str(project.path / "golden"), "."],
        cwd=_folder(other, project),
        check=True,
    )
    (other / "tests" / "baselines").rename(other / "unused")
    (other / "tests" / "baselines").symlink_to(folder.parent)
    project.rank({})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--snapshot-update"]
    sessions = [
        subprocess.Popen(command, cwd=project.path, stdout=subprocess.DEVNULL),
        subprocess.Popen(
            [*command, "--rankcheck-approve", "why"], cwd=other, stdout=subprocess.DEVNULL
        ),
    ]
    for session in sessions:
        session.wait(timeout=600)
    files = sorted(folder.glob("*.json"))
    assert len(files) == 1000
    for file in files:
        record = json.loads(file.read_text("utf-8"))
        mean, reasons = record["metrics"]["RR"]["mean"], record["approvals"]
        # Raised to 1; or lowered with a reason, from where it was or from 1.
        assert mean == 1.0 or reasons, file.name
        assert len(reasons) <= 1
    assert not list(folder.glob(".*.tmp"))


def _folder(folder: Path, project: Project) -> Path:
    """Make a second project with a worse ranker."""
    folder.mkdir()
    for name in ("pyproject.toml", "engine.py"):
        (folder / name).write_bytes((project.path / name).read_bytes())
    ranks = {f"query {index}": 2 for index in range(8)}
    (folder / "ranks.json").write_text(json.dumps(ranks), "utf-8")
    return folder
