"""Broken files, unwritable folders, interruptions: clear errors, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from project import Project, text_of


def test_a_broken_baseline_is_an_error_and_stays_unchanged(project: Project) -> None:
    project.test()
    text = project.update().decode()
    newer = text.replace('"version": 4', '"version": 5')
    for damaged, says in (
        (text[: len(text) // 2], "*test_mrr--web.json:*not JSON*the file was cut short*"),
        (newer, "*format version 5, this pytest-rankcheck reads 4. *upgrade*"),
        ('{"some": "JSON"}', '*it has no "format": "pytest-rankcheck baseline"*'),
        ("", "*this is not a baseline: it is empty*"),
    ):
        project.baseline_file().write_text(damaged, encoding="utf-8")
        result = project.run("--snapshot-update")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines([says])
        assert project.baseline_file().read_text("utf-8") == damaged
        assert "pytest_rankcheck/baselines" not in text_of(result), "our own frames show"


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
