"""``unrun``: jobs that each run a part of the tests, and the gates that did not run in any of them."""

import json
import subprocess
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from project import MAIN, REGRESSION_TEST, Project, git

from pytest_rankcheck.command_line.main import main

FIRST = "tests/baselines/test_first/test_mrr--web.json"
SECOND = "tests/baselines/test_second/test_mrr--web.json"
THIRD = "tests/more/baselines/test_third/test_mrr--web.json"
MODULES = ("tests/test_first.py", "tests/test_second.py", "tests/more/test_third.py")


@pytest.fixture
def sharded(project: Project) -> Project:
    """A project with three gates, whose baselines are committed on main."""
    for module in MODULES:
        project.test(REGRESSION_TEST, module)
    assert project.run("--snapshot-update").ret == 0
    project.commit()
    return project


def job(project: Project, name: str, *arguments: str) -> str:
    """Run a part of the tests; return the path of its report."""
    project.run(*arguments, f"--rankcheck-json={name}")
    return name


def unrun(
    project: Project, *arguments: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    said, complained = StringIO(), StringIO()
    with chdir(folder or project.path), redirect_stdout(said), redirect_stderr(complained):
        code = main(["unrun", *arguments])
    return subprocess.CompletedProcess(arguments, code, said.getvalue(), complained.getvalue())


def test_every_gate_ran_in_one_of_the_jobs(sharded: Project) -> None:
    reports = [job(sharded, f"{place}.json", module) for place, module in enumerate(MODULES)]
    done = unrun(sharded, *reports)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "every expected gate ran: 3 baselines, 3 reports\n"
    assert (
        unrun(
            sharded, *[f"../{report}" for report in reports], folder=sharded.path / "tests"
        ).returncode
        == 0
    ), "baselines are those of the project, not of the folder"


@pytest.mark.slow
def test_a_gate_that_no_job_ran_is_listed_with_the_best_known_reason(sharded: Project) -> None:
    skipped = REGRESSION_TEST.replace(
        "\ndef test_mrr", '\nimport pytest\n\n@pytest.mark.skip(reason="flaky")\ndef test_mrr'
    )
    sharded.test(skipped, MODULES[0])
    reports = [job(sharded, "a.json", "tests", "-k", "second"), job(sharded, "b.json", MODULES[0])]
    for order in (reports, reports[::-1]):
        done = unrun(sharded, *order)
        assert done.returncode == 1
        assert "no job completed the gates of 2 of 3 baselines (2 reports):" in done.stdout
        assert f"  {FIRST}: its test was skipped" in done.stdout
        assert f"  {THIRD}: its test was not chosen on the command line\n" in done.stdout
        assert SECOND not in done.stdout
        assert " retire " in done.stdout


def test_a_test_that_fails_is_to_be_mended_and_not_retired(sharded: Project) -> None:
    sharded.test("def test_mrr(evaluation, baseline):\n    raise OSError('no index')\n", MODULES[0])
    done = unrun(sharded, job(sharded, "a.json", *MAIN))
    assert done.returncode == 1
    assert f"  {FIRST}: its test failed\nrun their tests until they pass" in done.stdout


@pytest.mark.slow
def test_a_deleted_baseline_is_found_at_the_reference(sharded: Project) -> None:
    sharded.path.joinpath(THIRD).unlink()
    sharded.path.joinpath(MODULES[2]).unlink()
    report = job(sharded, "a.json", *MODULES[:2])
    assert unrun(sharded, report).returncode == 0
    done = unrun(sharded, report, "--baseline-ref", "main")
    assert done.returncode == 1
    assert f"  {THIRD}: no report mentions it\n" in done.stdout
    done = unrun(sharded, report, "--baseline-ref", "nothing")
    assert done.returncode == 2
    assert "git does not find it" in done.stderr


def test_reports_are_of_the_commit_that_is_checked_out(sharded: Project) -> None:
    """A branch cannot commit a report in which all gates ran."""
    report = job(sharded, "committed.json")
    assert unrun(sharded, report).returncode == 0
    git(sharded.path, "add", report)
    git(sharded.path, "commit", "-qm", "a report")
    done = unrun(sharded, job(sharded, "a.json"), report)
    assert done.returncode == 2
    assert "committed.json is a report of commit" in done.stderr


def test_a_gate_that_main_has_got_since_is_not_expected(sharded: Project) -> None:
    git(sharded.path, "checkout", "-q", "-b", "feature")
    git(sharded.path, "checkout", "-q", "main")
    sharded.test(REGRESSION_TEST, "tests/test_new.py")
    assert sharded.run("--snapshot-update").ret == 0
    sharded.commit()
    git(sharded.path, "checkout", "-q", "feature")
    done = unrun(sharded, job(sharded, "a.json", *MAIN), "--baseline-ref", "main")
    assert done.returncode == 0, done.stdout + done.stderr


def test_several_projects_in_one_repository(sharded: Project) -> None:
    """Each has its own root of pytest; baselines are named from the top of the repository."""
    configuration = (
        "[pytest]\npythonpath = ..\nrankcheck_golden = ../golden/web.jsonl\n"
        "rankcheck_ranker = engine:search\n"
    )
    for name in ("news", "shop"):
        sharded.test(REGRESSION_TEST, f"{name}/test_{name}.py")
        sharded.write(f"{name}/pytest.ini", configuration)
        assert sharded.run("-c", f"{name}/pytest.ini", name, "--snapshot-update").ret == 0
    jobs = [("tests",), ("-c", "news/pytest.ini", "news"), ("-c", "shop/pytest.ini", "shop")]
    reports = [job(sharded, f"{place}.json", *each) for place, each in enumerate(jobs)]
    done = unrun(sharded, *reports)
    assert done.stdout == "every expected gate ran: 5 baselines, 3 reports\n"
    done = unrun(sharded, *reports[:2])
    assert done.returncode == 1
    assert "  shop/baselines/test_shop/test_mrr--web.json: no report mentions it" in done.stdout


def test_what_is_no_report_is_an_error(project: Project) -> None:
    no_report = "r.json is not a JSON report of a test session"
    mine = {"format": "pytest-rankcheck report", "version": 2}
    for text, says in (
        (None, "r.json does not exist; write the report of each job with --rankcheck-json"),
        ("[]", no_report),
        ("{", no_report),
        (json.dumps({**mine, "version": 1}), no_report),
        (
            json.dumps({**mine, "commit": "1f3", "created": "", "gates": [], "baselines": []}),
            "r.json is a report of commit 1f3",
        ),
    ):
        if text is not None:
            project.write("r.json", text)
        done = unrun(project, "r.json")
        assert done.returncode == 2, text
        assert says in done.stderr
