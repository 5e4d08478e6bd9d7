"""Commands read golden sets and runs as the project configures it, and as their options say."""

import os
import sys
from pathlib import Path

import pytest

from pytest_rankcheck.command_line.main import main
from pytest_rankcheck.plugin.configuration import CONFIG, project_configuration

CODES = "query,document,label\nq00,good,1\nq00,bad,5\nq01,good,1\nq01,bad,5\n"
"""A table in which 1 is the best label and 5 the worst."""

READING = """
rankcheck_golden = codes.csv
rankcheck_grades =
    1=4
    5=0
rankcheck_columns =
    query_id=query
    doc_id=document
    relevance=label
"""


def test_the_configuration_is_found_as_pytest_finds_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[tool.pytest.ini_options]\nrankcheck_depth = "7"\nrankcheck_slices = ["locale"]\n'
    (folder / "pyproject.toml").write_text(text, "utf-8")
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    project = project_configuration()
    assert project.stash[CONFIG].depth == 7
    assert project.stash[CONFIG].slices == ("locale",)
    assert project.rootpath == folder


def test_other_plugins_and_options_of_the_project_do_not_matter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    (folder / "conftest.py").write_text("raise SystemExit('imported')\n", "utf-8")
    (folder / "pytest.ini").write_text(
        "[pytest]\naddopts = --cov --strict-config\nrequired_plugins = nothing>=1\nunknown = 1\n"
        "rankcheck_depth = 7\n",
        "utf-8",
    )
    assert project_configuration().stash[CONFIG].depth == 7
    assert os.environ["PYTEST_ADDOPTS"] == "--no-such-option"
    assert os.environ["PYTEST_PLUGINS"] == "no_such_plugin"


def test_an_invalid_configuration_is_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for line, says in (
        ("rankcheck_deep = 7", "did you mean 'rankcheck_depth'"),
        ("rankcheck_depth = 0", "give a whole number from 1 on"),
        ("rankcheck_gate = x()", "rankcheck_gate: 'x()' is not a gate"),
        ("minversion = 99", "pytest cannot read its configuration file: "),
    ):
        (folder / "pytest.ini").write_text(f"[pytest]\n{line}\n", "utf-8")
        assert main(["compare", "good.run", "worse.run", "--golden", "web.jsonl"]) == 2
        assert says in capsys.readouterr().err


def test_golden_sets_are_read_as_configured(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "codes.csv").write_text(CODES, "utf-8")
    assert main(["lint", "codes.csv"]) == 2
    capsys.readouterr()
    (folder / "pytest.ini").write_text(f"[pytest]{READING}", "utf-8")
    assert main(["lint"]) == 0
    assert "golden set 'codes' (2 queries): 0 errors" in capsys.readouterr().out
    assert main(["compare", "good.run", "worse.run", "--metric", "RR"]) == 1
    assert "RR regressed on golden set 'codes' (2 queries): 1.0000 -> 0.5000" in (
        capsys.readouterr().out
    )


def test_the_configuration_is_overridden_as_that_of_pytest(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "codes.csv").write_text(CODES, "utf-8")
    (folder / "pytest.ini").write_text(f"[pytest]{READING}", "utf-8")
    grades = ["-o", 'rankcheck_grades=["1=0", "5=4"]']
    assert main(["compare", "worse.run", "good.run", "--metric", "RR", *grades]) == 1
    capsys.readouterr()
    for override, says in (
        ("rankcheck_columns=query_id=query", "codes.csv has no column 'doc_id'"),
        ("rankcheck_grades=1=1", "5"),
        ("rankcheck_deep=1", "did you mean 'rankcheck_depth'"),
        ("rankcheck_depth", "pytest cannot read its configuration file: "),
    ):
        assert main(["lint", "-o", override]) == 2
        assert says in capsys.readouterr().err


def test_gates_slices_conventions_and_depth_are_the_configured_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compared = ["compare", "good.run", "worse.run", "--golden", "web.jsonl", "--metric", "RR"]
    assert main(compared) == 1
    ini = folder / "pytest.ini"
    ini.write_text("[pytest]\nrankcheck_gate = web RR: tolerance(abs=0.1)\n", "utf-8")
    assert main(compared) == 0
    assert main([*compared, "--gate", "tolerance()"]) == 1
    capsys.readouterr()
    slices = "rankcheck_slices = locale nothing\n"
    ini.write_text(
        f"[pytest]\nrankcheck_gate = tolerance(abs=0.1, min_queries=9)\n{slices}", "utf-8"
    )
    assert main(compared) == 1
    assert "locale=de (20 queries" in capsys.readouterr().out
    ini.write_text("[pytest]\nrankcheck_depth = 1\n", "utf-8")
    assert main(compared) == 1
    assert "1.0000 -> 0.8500" in capsys.readouterr().out, "at rank 2 nothing is found"
    assert main([*compared, "-o", "rankcheck_depth=2"]) == 1
    assert "1.0000 -> 0.9250" in capsys.readouterr().out
    ini.write_text("[pytest]\nrankcheck_conventions = missing=error\n", "utf-8")
    lines = (folder / "worse.run").read_text("utf-8").splitlines(keepends=True)
    (folder / "worse.run").write_text("".join(lines[9:]), "utf-8")
    assert main(compared) == 2
    assert "lacks judged queries" in capsys.readouterr().err


def test_the_linter_has_the_configured_options(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ini = folder / "pytest.ini"
    ini.write_text("[pytest]\nrankcheck_lint = scale=0..1\n", "utf-8")
    assert main(["lint", "web.jsonl"]) == 1
    assert "grade-off-scale (error): web.jsonl:1" in capsys.readouterr().out
    (folder / "two.qrels").write_text("a 0 x 1\na 0 x 2\n", "utf-8")
    ini.write_text("[pytest]\nrankcheck_contradictions = last\n", "utf-8")
    assert main(["lint", "two.qrels"]) == 0
    assert "contradictory-judgment" in capsys.readouterr().out


def test_no_golden_set_or_several_are_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "good.run", "worse.run"]) == 2
    assert "give it with --golden; rankcheck_golden configures none" in capsys.readouterr().err
    assert main(["lint"]) == 2
    assert "configure rankcheck_golden" in capsys.readouterr().err
    (folder / "pytest.ini").write_text(
        "[pytest]\nrankcheck_golden = web.jsonl app.jsonl\n", "utf-8"
    )
    assert main(["compare", "good.run", "worse.run"]) == 2
    assert "rankcheck_golden configures 2 of them" in capsys.readouterr().err


def test_modules_are_imported_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("first", "second"):
        (folder / f"{name}.py").write_text(f"print('{name}')\n", "utf-8")
    monkeypatch.syspath_prepend(folder)
    assert main(["--import", "first", "--import", "second", "metrics", "RR"]) == 0
    assert capsys.readouterr().out.startswith("first\nsecond\nRR\n")
    for name in ("first", "second"):
        del sys.modules[name]
