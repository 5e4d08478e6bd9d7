"""Options and ini values: their effects, and the errors for invalid ones."""

import subprocess
import sys

import pytest
from project import CONFIGURATION, FLOOR_TEST, Project, text_of

from pytest_rankcheck.plugin.configuration import all_option_rows
from pytest_rankcheck.plugin.option_table import Config


def test_a_wrong_configuration_is_a_usage_error_of_the_test_that_needs_it(project: Project) -> None:
    project.test(FLOOR_TEST)
    for arguments, says in (
        (("--rankcheck-ranker", "nowhere:search"), "ranker module 'nowhere' cannot be imported"),
        (("--rankcheck-golden", "none.jsonl"), "(asked for by tests/test_ranking.py::test_floor)"),
        (("--rankcheck-resume", "parts"), "--rankcheck-resume-key KEY need each other"),
    ):
        result = project.run(*arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR, arguments
        text = text_of(result)
        assert says in text
        assert "Traceback" not in text
        assert "INTERNALERROR" not in text


def test_tests_that_do_not_use_the_plugin_run_with_a_wrong_configuration(project: Project) -> None:
    project.test("def test_nothing():\n    pass\n")
    result = project.run("--rankcheck-ranker", "nowhere:search", "--rankcheck-golden", "none")
    result.assert_outcomes(passed=1)


def test_paths_are_relative_to_the_file_that_has_them_or_to_the_caller(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.test(FLOOR_TEST)
    monkeypatch.chdir(project.path / "tests")
    project.run().assert_outcomes(passed=1)
    project.run("--rankcheck-golden", "../golden/web.jsonl").assert_outcomes(passed=1)


def test_a_golden_set_can_be_an_indirect_parameter(project: Project) -> None:
    project.golden(project.queries(10), "golden/small.jsonl")
    project.test(
        """
import pytest
from pathlib import Path
from pytest_rankcheck import GoldenSet

SETS = ["golden/small.jsonl", Path("golden/small.jsonl"), GoldenSet.from_dict({"a": {"b": 1}})]

@pytest.mark.parametrize("golden_set", SETS, indirect=True, ids=["text", "path", "set"])
def test_it(golden_set):
    assert len(golden_set) in (1, 10)
"""
    )
    project.run().assert_outcomes(passed=3)


def test_a_run_replaces_the_ranker(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"q{index:03} Q0 doc-of 1 {2.0} tag\n" for index in range(80)]
    project.write("runs/bm25.run", "".join(lines))
    project.test("def test_it(evaluation):\n    assert evaluation.name == 'bm25.run'\n")
    text = CONFIGURATION.replace('rankcheck_ranker = "engine:search"', "")
    project.write("pyproject.toml", f'{text}rankcheck_run = "runs/bm25.run"\n')
    project.run().assert_outcomes(passed=1)
    project.write("engine.py", "raise SystemError('the model must not be loaded')\n")
    monkeypatch.chdir(project.path / "runs")
    project.run("../tests").assert_outcomes(passed=1)


def test_a_misspelt_name_is_a_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrankcheck_depht = 3\n")
    result = pytester.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    says = "unknown configuration option 'rankcheck_depht'; did you mean 'rankcheck_depth'?"
    assert says in text_of(result)


def test_every_row_of_the_table_of_options_is_read() -> None:
    rows = all_option_rows()
    assert Config.__annotations__.keys() - rows.keys() == {
        "update",
        "inputs",
        "left_out",
        "reports",
        "step_summary",
    }
    names = [name for row in rows.values() for name in (row.flag, row.ini) if name]
    assert len(names) == len(set(names))
    for name, row in rows.items():
        assert row.flag or row.ini, name
        assert (row.flag or "--rankcheck-").startswith("--rankcheck-")
        assert (row.ini or "rankcheck_").startswith("rankcheck_")


def test_every_option_has_help(project: Project) -> None:
    text = " ".join(text_of(project.run("--help")).split())
    for row in all_option_rows().values():
        assert (row.flag or "") in text
        assert (row.ini or "") in text
        assert row.help.split(";")[0][:40] in text


@pytest.mark.parametrize("arguments", [("--collect-only",), ()])
def test_a_test_session_without_the_plugin_pays_and_shows_nothing(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    pytester.makepyfile(
        """
import pytest

@pytest.fixture(scope="session")
def evaluation():
    return "a fixture that only has the name of one of ours"

def test_nothing(evaluation):
    assert evaluation.startswith("a fixture")
"""
    )
    command = [sys.executable, "-X", "importtime", "-m", "pytest", *arguments]
    done = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "pytest_rankcheck.plugin.fixtures" in imported
    assert not {name for name in imported if name.partition(".")[0] in ("numpy", "pandas", "scipy")}
    # syrupy's own plugin is loaded by pytest; what our store needs of it beyond that is not.
    assert "pytest_rankcheck.baselines.syrupy_store" not in imported
    said = [line for line in done.stdout.splitlines() if "rankcheck" in line]
    assert all(line.startswith(("plugins:", "rootdir:")) for line in said), said
