"""A small run that passes imports what it needs, and nothing that only others need.

One golden set of ten queries, one evaluation, one baseline.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from project import Project

ROOT = Path(__file__).parents[2]
PLUGIN = ("-p", "syrupy", "-p", "pytest_rankcheck.plugin.hooks", "-p", "no:cacheprovider")
TEST = """
from pytest_rankcheck import assert_mrr_not_regressed

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.2)
"""
CONFTEST = """
import json
import sys

def pytest_unconfigure():
    with open("modules.json", "w") as file:
        json.dump(sorted(sys.modules), file)
"""
OTHERS = [
    *("altair", "asyncio", "jinja2", "pandas", "polars", "pyarrow", "scipy", "sqlite3", "ssl")
]
"""What other people's code takes 10 to 500 ms to import."""
NOT_NEEDED = [
    *("behaviour.determinism_check", "behaviour.changed_queries", "command_line", "sessions"),
    "files.git_commands",
    *("comparison.query_planning", "comparison.unjudged_documents"),
    *("evaluation.run_documents", "golden.documents"),
    *("metrics.families.catalogue", "metrics.families.shown_documents"),
    *("plugin.lint_items", "rankers.adapters", "rankers.kept_answers"),
    *("explanation.gate_numbers", "reports.html_report", "reports.report_data"),
    *("reports.text.blocked_text", "reports.text.evidence_text", "reports.text.branch_notes"),
    *("reports.text.failure_text", "reports.text.metrics_text", "reports.text.verdict_notes"),
]
MOST = 190
"""The number of our modules; it may fall. Before it rises, look for an import that can wait."""


def modules_after(project: Project, *arguments: str) -> list[str]:
    """Return the modules that are imported at the end of a run in a process of its own."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COV")}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", *PLUGIN, *arguments]
    done = subprocess.run(
        command, cwd=project.path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return list(json.loads((project.path / "modules.json").read_text("utf-8")))


@pytest.fixture
def small(project: Project) -> Project:
    """A project with ten queries, whose baseline is recorded."""
    project.golden(project.queries(10))
    project.write("conftest.py", CONFTEST)
    project.test(TEST)
    project.update()
    return project


def test_a_small_run_that_passes_imports_only_what_it_needs(small: Project) -> None:
    modules = set(modules_after(small))
    ours = {name for name in modules if name.startswith("pytest_rankcheck.")}
    assert not modules.intersection(OTHERS)
    assert not ours.intersection(f"pytest_rankcheck.{name}" for name in NOT_NEEDED)
    assert "numpy" in modules
    assert MOST // 2 < len(ours) <= MOST, sorted(ours)


def test_scipy_is_loaded_where_an_interval_of_a_change_is_shown(small: Project) -> None:
    json_report, page = "--rankcheck-json=r.json", "--rankcheck-html=r.html"
    assert not {"altair", "scipy", "pandas"}.intersection(modules_after(small, json_report, page))
    small.rank({0: 2})
    markdown = modules_after(small, "--rankcheck-markdown=r.md")
    assert not {"jinja2", "pandas", "scipy"}.intersection(markdown)
    assert "scipy.special" in modules_after(small, json_report)


def test_what_is_not_needed_exists() -> None:
    for name in NOT_NEEDED:
        path = ROOT / "pytest_rankcheck" / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), name
