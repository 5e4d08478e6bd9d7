"""Options and ini values: their effects, and the errors for invalid ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from project import CONFIGURATION, Project, text_of

from pytest_rankcheck.plugin.configuration import all_option_rows
from pytest_rankcheck.plugin.option_table import Config

FLOOR = """
from pytest_rankcheck import assert_ndcg_at_least

def test_floor(evaluation):
    assert_ndcg_at_least(evaluation, 0.5, k=10)
"""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--rankcheck-ranker", "nowhere:search"), "ranker module 'nowhere' cannot be imported"),
        (("--rankcheck-ranker", "engine:serch"), "there is no 'serch' in engine; did you mean 'se"),
        (("--rankcheck-ranker", "engine.search"), "does not name a ranker; write package.module"),
        (("--rankcheck-ranker", "engine:__doc__"), "is NoneType, which cannot be called"),
        (("--rankcheck-ranker", "json:JSONEncoder"), "is a class; write 'json:JSONEncoder()'"),
        (
            ("--rankcheck-golden", "golden/none.jsonl"),
            "none.jsonl does not exist; correct rankcheck_golden",
        ),
        (("--rankcheck-run", "none.run"), "none.run does not exist"),
        (("--rankcheck-approve", "  "), "--rankcheck-approve needs a reason"),
        (("-o", "rankcheck_depth=0"), "rankcheck_depth = 0 is invalid; give a whole number"),
        *(
            (
                ("-o", f"rankcheck_depth={value}"),
                f"rankcheck_depth = {value} is invalid; give a whole number from 1 on",
            )
            for value in ("many", "1e3", "2.5", "-1")
        ),
        (
            ("-o", "rankcheck_retries=once"),
            "rankcheck_retries = once is invalid; give a whole number from 0 on",
        ),
        (
            ("-o", "rankcheck_timeout=soon"),
            "rankcheck_timeout = soon is invalid; give a number of seconds above 0",
        ),
        (
            ("-o", "rankcheck_scale=three"),
            "rankcheck_scale = three is invalid; give the highest grade of the scale, a number",
        ),
        (
            ("--rankcheck-repeat", "1e3"),
            "--rankcheck-repeat = 1e3 is invalid; give a whole number from 1 on",
        ),
        (("-o", "rankcheck_metrics=nDGC@10"), "unknown metric 'nDGC'; did you mean 'nDCG'?"),
        (("-o", "rankcheck_conventions=ties"), "'ties' is not of the form name=value"),
        (("-o", "rankcheck_conventions=ties=inputs"), "ties=inputs is invalid; did you mean"),
        (
            ("-o", "rankcheck_conventions=tie=input"),
            "unknown convention 'tie'; did you mean 'ties'?",
        ),
    ],
)
def test_a_wrong_configuration_is_a_usage_error(
    project: Project, arguments: tuple[str, ...], says: str
) -> None:
    project.test(FLOOR)
    result = project.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert says in text_of(result)
    assert "Traceback" not in text_of(result)
    assert "INTERNALERROR" not in text_of(result)


@pytest.mark.parametrize(
    ("line", "shows"),
    [
        ("rankcheck_ranker", ["rankcheck_ranker = ", "--rankcheck-ranker", "def ranker():"]),
        ("rankcheck_golden", ["rankcheck_golden = ", "--rankcheck-golden", "def golden_set():"]),
    ],
)
def test_a_missing_configuration_shows_every_way_to_give_it(
    project: Project, line: str, shows: list[str]
) -> None:
    kept = [text for text in CONFIGURATION.splitlines() if not text.startswith(line)]
    project.write("pyproject.toml", "\n".join(kept))
    project.test(FLOOR)
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    for text in shows:
        assert text in text_of(result)


def test_tests_that_do_not_use_the_plugin_run_with_a_wrong_configuration(project: Project) -> None:
    project.test("def test_nothing():\n    pass\n")
    result = project.run("--rankcheck-ranker", "nowhere:search", "--rankcheck-golden", "none")
    result.assert_outcomes(passed=1)


def test_an_error_in_the_rankers_module_keeps_its_traceback(project: Project) -> None:
    project.write("engine.py", "import a_library_that_is_not_there\n")
    project.test(FLOOR)
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*import a_library_that_is_not_there*", "*ModuleNotFoundError*"])


def test_a_factory_is_called_once(project: Project) -> None:
    project.write(
        "engine.py",
        "from pathlib import Path\n"
        "class Engine:\n"
        "    def __init__(self):\n"
        "        with open('made', 'a') as file: file.write('x')\n"
        "    def __call__(self, text):\n"
        "        return [f'doc of {text}']\n",
    )
    project.test(FLOOR)
    project.run("--rankcheck-ranker", "engine:Engine()").assert_outcomes(passed=1)
    assert (project.path / "made").read_text() == "x"


def test_options_override_the_configuration_file(project: Project) -> None:
    project.golden(project.queries(10), "golden/small.jsonl")
    project.write("other.py", "def search(text):\n    return ['filler-0', f'doc of {text}']\n")
    project.test(
        "def test_it(evaluation, golden_set):\n"
        "    assert len(golden_set) == 10\n"
        "    assert evaluation.mean('RR') == 0.5\n"
    )
    arguments = ("--rankcheck-golden", "golden/small.jsonl", "--rankcheck-ranker", "other:search")
    project.run(*arguments).assert_outcomes(passed=1)


def test_paths_are_relative_to_the_file_that_has_them_or_to_the_caller(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.test(FLOOR)
    monkeypatch.chdir(project.path / "tests")
    project.run().assert_outcomes(passed=1)
    project.run("--rankcheck-golden", "../golden/web.jsonl").assert_outcomes(passed=1)


def test_several_golden_sets_parametrise_the_tests(project: Project) -> None:
    project.golden(project.queries(40), "golden/mobile.jsonl")
    lines = CONFIGURATION.replace(
        'rankcheck_golden = "golden/web.jsonl"',
        'rankcheck_golden = "golden/web.jsonl golden/mobile.jsonl"',
    )
    project.write("pyproject.toml", lines)
    project.test()
    result = project.run("--snapshot-update", "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_mrr?web? PASSED*", "*test_mrr?mobile? PASSED*"])
    assert project.record()["golden_set"]["queries"] == 80
    assert project.record(golden="mobile")["golden_set"]["queries"] == 40


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

@pytest.mark.parametrize("golden_set", [3], indirect=True)
def test_wrong(golden_set):
    pass
"""
    )
    result = project.run()
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["*the parameter of golden_set is 3, not a path or a GoldenSet"])


def test_a_run_file_replaces_the_ranker(project: Project) -> None:
    lines = [f"q{index:03} Q0 doc-of 1 {2.0} tag\n" for index in range(80)]
    project.write("bm25.run", "".join(lines))
    project.write("engine.py", "raise SystemError('the model must not be loaded')\n")
    project.test("def test_it(evaluation):\n    assert evaluation.run.depth == 100\n")
    project.run("--rankcheck-run", "bm25.run").assert_outcomes(passed=1)


def test_a_run_file_and_the_ranker_it_came_from_have_comparable_baselines(project: Project) -> None:
    project.test()
    project.update()
    project.test("def test_save(ranking_run):\n    ranking_run.save('bm25.jsonl')\n", "save.py")
    project.run("save.py").assert_outcomes(passed=1)
    project.run("tests", "--rankcheck-run", "bm25.jsonl").assert_outcomes(passed=1)


def configured_run(project: Project, *, with_ranker: bool = False) -> None:
    """Configure a run beside the configuration file, instead of the ranker or with it."""
    lines = [f"q{index:03} Q0 doc-of 1 {2.0} tag\n" for index in range(80)]
    project.write("runs/bm25.run", "".join(lines))
    ini = project.path / "pyproject.toml"
    text = [
        line
        for line in ini.read_text().splitlines()
        if with_ranker or not line.startswith("rankcheck_ranker")
    ]
    ini.write_text("\n".join([*text, 'rankcheck_run = "runs/bm25.run"', ""]))
    project.test("def test_it(evaluation):\n    assert evaluation.name == 'bm25.run'\n")


def test_a_run_can_be_configured(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    configured_run(project)
    result = project.run()
    result.assert_outcomes(passed=1)
    assert "run bm25.run" in text_of(result)
    assert "the rankings were read from bm25.run" in text_of(result)
    monkeypatch.chdir(project.path / "runs")
    project.run("../tests").assert_outcomes(passed=1)
    called = project.run("--rankcheck-ranker", "engine:search")
    assert "the rankings were read from" not in text_of(called)


def test_a_configured_run_beside_a_configured_ranker_is_refused(project: Project) -> None:
    configured_run(project, with_ranker=True)
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "bm25.run and rankcheck_ranker are both set, so the ranker would never" in text_of(
        result
    )
    project.run("--rankcheck-run", "runs/bm25.run").assert_outcomes(passed=1)


def test_a_configured_run_is_one_path_that_exists(project: Project) -> None:
    configured_run(project)
    project.write("pytest.ini", "[pytest]\nrankcheck_golden = golden/web.jsonl\n")
    for line, says in (
        ("rankcheck_run=none.run", "none.run does not exist; correct rankcheck_run"),
        ("rankcheck_run=a.run b.run", "rankcheck_run takes one path, not 2"),
    ):
        result = project.run("-o", line)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert says in text_of(result)


def test_a_run_whose_ranks_give_only_the_order(project: Project) -> None:
    configured_run(project)
    project.test("def test_it(evaluation):\n    assert len(evaluation.run) == 80\n")
    rows = [f"q{index:03},doc-of,4" for index in range(80)]
    project.write("gaps.csv", "\n".join(["query_id,doc_id,rank", *rows, ""]))
    refused = project.run("--rankcheck-run", "gaps.csv")
    assert "rankcheck_incomplete_ranks = close_gaps)" in text_of(refused)
    option = "rankcheck_incomplete_ranks=close_gaps"
    project.run("--rankcheck-run", "gaps.csv", "-o", option).assert_outcomes(passed=1)
    wrong = project.run("--rankcheck-run", "gaps.csv", "-o", "rankcheck_incomplete_ranks=close")
    assert "rankcheck_incomplete_ranks: 'close' is not one of error, close_gaps" in text_of(wrong)


def test_a_timeout_for_a_plain_function_is_an_error(project: Project) -> None:
    project.test(FLOOR)
    assert "timeout=5 has no effect on ranker" in text_of(project.run("-o", "rankcheck_timeout=5"))


def test_a_cutoff_beyond_the_depth_is_an_error(project: Project) -> None:
    project.test("""
from pytest_rankcheck import assert_recall_at_least

def test_it(evaluation):
    assert_recall_at_least(evaluation, 0.1, k=500)
""")
    assert "R@500 looks at the first 500 documents of each ranking, but only 100" in text_of(
        project.run()
    )
    project.run("-o", "rankcheck_depth=500").assert_outcomes(passed=1)
    shown = text_of(project.run("-o", "rankcheck_metrics=R@500"))
    assert "INTERNALERROR" not in shown
    assert "R@500 looks at the first 500 documents" in shown


def test_the_header_says_what_is_configured(project: Project) -> None:
    project.test(FLOOR)
    result = project.run()
    result.stdout.fnmatch_lines(["rankcheck: golden web.jsonl, ranker engine:search, depth 100"])


@pytest.mark.parametrize(
    ("file", "section"),
    [
        ("pyproject.toml", "[tool.pytest.ini_options]"),
        ("pytest.ini", "[pytest]"),
        ("tox.ini", "[pytest]"),
        ("setup.cfg", "[tool:pytest]"),
    ],
)
def test_a_misspelt_name_in_any_configuration_file_is_a_usage_error(
    pytester: pytest.Pytester, file: str, section: str
) -> None:
    pytester.path.joinpath(file).write_text(f"{section}\nrankcheck_depht = 3\n", "utf-8")
    result = pytester.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "unknown configuration option 'rankcheck_depht'; did you mean 'rankcheck_depth'?" in (
        text_of(result)
    )


def test_every_row_of_the_table_of_options_is_read() -> None:
    rows = all_option_rows()
    assert Config.__annotations__.keys() - rows.keys() == {
        "update",
        "new_only",
        "inputs",
        "reports",
    }
    names = [name for row in rows.values() for name in (row.flag, row.ini) if name]
    assert len(names) == len(set(names))
    for name, row in rows.items():
        assert row.flag or row.ini, name
        assert (row.flag or "--rankcheck-").startswith("--rankcheck-")
        assert (row.ini or "rankcheck_").startswith("rankcheck_")
        assert (Path(__file__).parents[2] / "docs" / row.guide.partition("#")[0]).is_file()


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
