"""Configured gates that could never fail, or that are never used, in a test session."""

from __future__ import annotations

import json

import pytest
from project import REGRESSION_TEST, WITHOUT_AND_WITH_WORKERS, Project, text_of


def configure(project: Project, *lines: str) -> None:
    ini = project.path / "pyproject.toml"
    ini.write_text("\n".join((ini.read_text().rstrip(), *lines)) + "\n")


UNCONFIGURED = """
from pytest_rankcheck import assert_not_regressed

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR")
"""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("RR: tolerance(rel=2)", "rankcheck_gate: 'RR: tolerance(rel=2)': rel=2 lets RR fall by"),
        (
            "wbe RR: tolerance(abs=0.1)",
            "rankcheck_gate: unknown golden set 'wbe'; did you mean 'web'?; configured: web",
        ),
        ("mobile: tolerance(abs=0.1)", "unknown golden set 'mobile'; configured: web"),
    ],
)
def test_a_gate_that_can_never_fail_is_a_usage_error(
    project: Project, line: str, message: str
) -> None:
    project.test(UNCONFIGURED)
    configure(project, f'rankcheck_gate = ["{line}"]')
    result = project.run("--snapshot-update")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in text_of(result)
    assert not project.baseline_file().exists()


def test_a_gate_for_all_metrics_is_checked_with_the_first_metric(project: Project) -> None:
    """Also without a record: else the gate would be approved with the first baseline."""
    project.test(UNCONFIGURED)
    configure(project, 'rankcheck_gate = ["tolerance(abs=1)"]')
    result = project.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    assert "abs=1 is as wide as the range of RR, 0 to 1" in text_of(result)
    assert not project.baseline_file().exists()


OWN_SET = """
import pytest
from pytest_rankcheck import GoldenSet

@pytest.fixture(scope="session")
def golden_set():
    return GoldenSet.load("golden/web.jsonl", name="shop")
"""


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_a_gate_for_a_set_that_no_test_measured_is_listed(
    project: Project, workers: tuple[str, ...]
) -> None:
    """A golden set of the project's own fixture is only known when a test has used it."""
    project.test(REGRESSION_TEST)
    project.write("conftest.py", OWN_SET)
    configure(project, 'rankcheck_gate = ["shop: tolerance", "shpo: tolerance(abs=0.1)"]')
    project.run("--snapshot-update")
    json_file, markdown, html = (project.path / f"report.{end}" for end in ("json", "md", "html"))
    result = project.run(
        *workers,
        f"--rankcheck-json={json_file}",
        f"--rankcheck-markdown={markdown}",
        f"--rankcheck-html={html}",
    )
    result.assert_outcomes(passed=1)
    heading = "rankcheck_gate has lines for golden sets that no test measured"
    assert f"{heading}:\n  golden set 'shpo'; did you mean 'shop'?" in text_of(result)
    assert "golden set 'shop'\n" not in text_of(result)
    notes = json.loads(json_file.read_text("utf-8"))["notes"]
    assert [note["topic"] for note in notes].count("unused-gate") == 1
    assert "no test measured" in html.read_text("utf-8")
    assert "no test measured" in markdown.read_text("utf-8")


def test_a_selection_of_tests_does_not_list_the_gates_of_the_others(project: Project) -> None:
    project.test(REGRESSION_TEST + "\ndef test_other():\n    pass\n")
    project.write("conftest.py", OWN_SET)
    configure(project, 'rankcheck_gate = ["shpo: tolerance(abs=0.1)"]')
    assert "no test measured" not in text_of(project.run("--snapshot-update", "-k", "mrr"))


def test_an_unknown_option_of_the_linter_is_refused_without_the_linter(project: Project) -> None:
    project.test(REGRESSION_TEST)
    configure(project, 'rankcheck_lint = ["tolerence=0.02"]')
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "rankcheck_lint: 'tolerence' is neither an option nor a rule" in text_of(result)
