"""Broken files, unwritable folders, interruptions: clear errors, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from project import Project, text_of


def cut_short(text: str) -> str:
    return text[: len(text) // 2]


def not_json(text: str) -> str:
    return "oops\n" + text


def newer_version(text: str) -> str:
    return text.replace('"version": 3', '"version": 4')


def with_nan(text: str) -> str:
    return text.replace('"values": {"RR": 1.0}', '"values": {"RR": NaN}', 1)


def with_infinity(text: str) -> str:
    return text.replace('"values": {"RR": 1.0}', '"values": {"RR": 1e999}', 1)


def without_a_value(text: str) -> str:
    return text.replace('"values": {"RR": 1.0}', '"values": {}', 1)


def another_file(text: str) -> str:
    return '{"some": "JSON"}'


def empty(text: str) -> str:
    return ""


@pytest.mark.parametrize("arguments", [(), ("--snapshot-update",)])
@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (cut_short, "*test_mrr--web.json:*not JSON*the file was cut short*"),
        (not_json, "*test_mrr--web.json:1: this is not a baseline: not JSON*"),
        (newer_version, "*format version 4, this pytest-rankcheck reads up to 3; upgrade*"),
        (with_nan, "*test_mrr--web.json:16: NaN is not a value that a baseline can have*"),
        (with_infinity, "*query 'q000': RR: 'inf' is not a finite number*"),
        (without_a_value, "*this is not a baseline: it lacks 'RR'*"),
        (another_file, '*it has no "format": "pytest-rankcheck baseline"*'),
        (empty, "*this is not a baseline: it is empty*"),
    ],
)
def test_a_broken_baseline_is_an_error_and_stays_unchanged(
    project: Project, damage: Callable[[str], str], says: str, arguments: tuple[str, ...]
) -> None:
    project.test()
    damaged = damage(project.update().decode())
    project.baseline_file().write_text(damaged, encoding="utf-8")
    result = project.run(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([says])
    assert project.baseline_file().read_text("utf-8") == damaged
    assert "rankcheck/baselines/reading.py" not in text_of(result), "our own frames show"


def test_a_baseline_that_is_not_utf8_is_an_error(project: Project) -> None:
    project.test()
    project.baseline_file().parent.mkdir(parents=True)
    project.baseline_file().write_bytes(b'{"format": "\xff"}')
    result = project.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*byte 13 is not UTF-8*"])


def test_a_test_that_fails_after_its_assertions_writes_nothing(project: Project) -> None:
    project.test(
        """
from pytest_rankcheck import assert_mrr_not_regressed

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline)
    raise RuntimeError("afterwards")
"""
    )
    project.run("--snapshot-update").assert_outcomes(failed=1)
    assert not project.baseline_file().exists()


def test_a_folder_that_cannot_be_created_is_an_error(project: Project) -> None:
    project.test()
    project.write("tests/baselines", "a file where the folder should be")
    result = project.run("--snapshot-update")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the baseline cannot be written:*What was there is unchanged*"])


def test_a_read_only_folder_is_an_error_and_the_old_baseline_stays(project: Project) -> None:
    project.test()
    before = project.update()
    project.rank({0: 4})
    folder = project.baseline_file().parent
    command = [
        *_without_root_powers(),
        sys.executable,
        "-m",
        "pytest",
        "--snapshot-update",
        "--rankcheck-approve=why",
    ]
    folder.chmod(0o555)
    try:
        done = subprocess.run(
            command, cwd=project.path, capture_output=True, text=True, check=False
        )
    finally:
        folder.chmod(0o755)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the baseline cannot be written: Permission denied" in done.stdout
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert project.baseline_file().read_bytes() == before
    assert [path.name for path in folder.iterdir()] == ["test_mrr--web.json"]


def _without_root_powers() -> list[str]:
    """Return a command prefix that stops root from writing to read-only folders."""
    if not hasattr(os, "geteuid"):
        pytest.skip("read-only folders are a matter of POSIX permissions")
    if os.geteuid() != 0:
        return []
    tool = shutil.which("setpriv")
    if tool is None:
        pytest.skip("running as root, without setpriv to give its powers away")
    powers = "-dac_override,-dac_read_search,-fowner"
    return [tool, f"--bounding-set={powers}", f"--inh-caps={powers}", "--"]


SLOW_WRITE = """
import os, time
from pathlib import Path
import pytest

def fsync(handle):
    Path("writing").touch()
    time.sleep(600)

os.fsync = fsync
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills a process the POSIX way")
@pytest.mark.parametrize("kill", ["SIGKILL", "SIGINT"])
def test_a_process_that_dies_in_the_middle_of_an_update_leaves_the_old_file(
    project: Project, kill: str
) -> None:
    project.test()
    before = project.update()
    project.rank({0: 4})
    project.write("conftest.py", SLOW_WRITE)
    command = [sys.executable, "-m", "pytest", "--snapshot-update", "--rankcheck-approve=why"]
    process = subprocess.Popen(
        command,
        cwd=project.path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A shell lets what it runs in the background ignore SIGINT, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    _wait_for(project.path / "writing", process)
    process.send_signal(getattr(signal, kill))
    process.wait(timeout=300)
    assert project.baseline_file().read_bytes() == before
    (project.path / "conftest.py").unlink()
    project.run("--snapshot-update", "--rankcheck-approve", "again").assert_outcomes(passed=1)
    assert project.record()["approvals"][0]["reason"] == "again"


def _wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 300
    while not path.exists():
        assert process.poll() is None, "the process ended before it wrote"
        assert time.monotonic() < deadline, "the process did not come to write"
        time.sleep(0.02)


PARAMETERS = """
import pytest
from pytest_rankcheck import assert_mrr_not_regressed

@pytest.mark.parametrize("kind", {ids!r})
def test_mrr(evaluation, baseline, kind):
    assert_mrr_not_regressed(evaluation, baseline)
"""


def test_ids_that_differ_never_share_a_file(project: Project) -> None:
    ids = [
        "a/b",
        "ab",
        "a_b",
        "a:b",
        "A/B",
        "AB",
        "a b",
        "../../x",
        "x" * 300,
        "x" * 299,
        "ä",
        "a::b",
    ]
    project.test(PARAMETERS.format(ids=ids))
    project.run("--snapshot-update").assert_outcomes(passed=len(ids))
    folder = project.path / "tests/baselines/test_ranking"
    files = [path.name for path in folder.iterdir()]
    assert len({name.casefold() for name in files}) == len(ids)
    assert not list(project.path.glob("*.json~*"))
    assert {path.parent for path in project.path.rglob("test_mrr*.json")} == {folder}
    project.run().assert_outcomes(passed=len(ids))


def test_one_baseline_is_not_used_for_two_evaluations(project: Project) -> None:
    project.test(
        """
from pytest_rankcheck import assert_mrr_not_regressed, evaluate

def test_mrr(evaluation, ranking_run, golden_set, baseline):
    assert_mrr_not_regressed(evaluation, baseline)
    assert_mrr_not_regressed(evaluate(ranking_run, golden_set), baseline)
"""
    )
    result = project.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*compares two evaluations with one baseline*"])
    assert not project.baseline_file().exists()
