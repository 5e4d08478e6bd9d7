"""Rank files in test sessions: the equal of a Python test, for all that pytest does with it."""

import json
import stat
import sys

import pytest
from project import MAIN, NEEDS_GIT, WITHOUT_AND_WITH_WORKERS, Project, text_of

FILE = "tests/test_web.rank.toml"
GOLDEN = 'golden = "../golden/web.jsonl"\n'
PYTHON = '[ranker]\npython = "engine:search"\n'
TESTS = """
[test.floor]
at_least = { "nDCG@10" = 0.5, RR = 0.5 }
at_most = { "nDCG@10" = 1.0 }
by = ["locale"]

[test.no_regression]
not_regressed = ["nDCG@10", "RR"]
gate = "tolerance(abs=0.01)"
by = "locale"
"""
EQUAL = """
from pytest_rankcheck import Gate, assert_not_regressed

def test_no_regression(evaluation, baseline):
    gate = Gate.tolerance(abs=0.01)
    assert_not_regressed(evaluation, baseline, ["nDCG@10", "RR"], gate=gate, by="locale")
"""
PROGRAM = """#!{python}
import json, pathlib, sys
pathlib.Path("started").touch()
for line in sys.stdin:
    query = json.loads(line)
    print(json.dumps({{"query_id": query["query_id"], "ranking": ["doc of " + query["query"]]}}))
"""


@pytest.fixture
def files(project: Project) -> Project:
    """A project with nothing configured: its golden set and ranker are named in rank files."""
    project.write("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\n')
    project.write(FILE, GOLDEN + PYTHON + TESTS)
    return project


def record(project: Project, name: str = "test_no_regression", golden: str = "web") -> str:
    return project.baseline_file(name, "test_web.rank", golden).read_text("utf-8")


def program(project: Project) -> str:
    """Write a ranker that is a program, and return its table."""
    file = project.write("tests/rank", PROGRAM.format(python=sys.executable))
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return '[ranker]\ncommand = ["./rank", "{depth}"]\n'


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_a_record_has_the_content_of_that_of_the_equal_python_test(
    files: Project, workers: tuple[str, ...]
) -> None:
    files.rank({5: 2, 70: 3})
    assert files.run("--snapshot-update", *workers).ret == 0
    written = record(files)
    reordered = GOLDEN + TESTS.replace('by = "locale"\n', "") + 'by = ["locale"]\n' + PYTHON
    files.write(FILE, reordered)
    files.run("--snapshot-update", *workers).assert_outcomes(passed=2)
    assert record(files) == written
    files.write("tests/test_equal.py", EQUAL)
    options = ("--rankcheck-golden", "golden/web.jsonl", "--rankcheck-ranker", "engine:search")
    assert files.run("--snapshot-update", "tests/test_equal.py", *options, *workers).ret == 0
    equal = files.baseline_file("test_no_regression", "test_equal").read_text("utf-8")
    assert equal == written


@pytest.mark.parametrize("line", ["abs = 0.3", "rel = 0.3", 'gate = "tolerance(abs=0.3)"'])
def test_a_fall_within_what_is_allowed_passes(files: Project, line: str) -> None:
    test = '[test.no_regression]\nnot_regressed = "RR"\n'
    files.write(FILE, GOLDEN + PYTHON + test + line + "\n")
    assert files.run("--snapshot-update").ret == 0
    files.rank(dict.fromkeys(range(40), 2))
    files.run().assert_outcomes(passed=1)
    files.rank(dict.fromkeys(range(40), None))
    files.run().assert_outcomes(failed=1)


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_a_failure_quotes_the_file_and_prints_what_to_do(
    files: Project, workers: tuple[str, ...]
) -> None:
    files.run("--snapshot-update")
    files.rank(dict.fromkeys(range(40), 2))
    result = files.run(*workers)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "    [[]test.no_regression[]]",
            '>   not_regressed = [[]"nDCG@10", "RR"[]]',
            "E   AssertionError: 2 of 2 metrics regressed on golden set 'web'*",
            "E     nDCG@10   1.0000 -> 0.8155*",
            f"{FILE}:11: AssertionError",
        ]
    )
    command = f"pytest {FILE}::test_no_regression --rankcheck-approve"
    assert command in text_of(result)
    files.run(f"{FILE}::test_no_regression", "--rankcheck-approve", "known").assert_outcomes(
        passed=1
    )
    files.run(*workers).assert_outcomes(passed=2)


def test_marks_and_choices_are_those_of_pytest(files: Project) -> None:
    marked = TESTS.replace('by = ["locale"]', 'by = ["locale"]\nmarks = ["nightly"]')
    files.write(FILE, GOLDEN + PYTHON + marked)
    files.configure('markers = ["nightly: at night"]')
    files.run("-m", "nightly").assert_outcomes(passed=1, deselected=1)
    files.run("-k", "no_regression", "--snapshot-update").assert_outcomes(passed=1, deselected=1)
    files.run(f"{FILE}::test_floor").assert_outcomes(passed=1)


def test_as_many_queries_may_fail_as_the_file_says(files: Project) -> None:
    broken = (
        "def search(text):\n    if text in ('query 3', 'query 5'):\n        raise KeyError(text)\n"
    )
    files.write("broken.py", broken + "    return [f'doc of {text}']\n")
    floor = '[ranker]\npython = "broken:search"\n[test.floor]\nat_least = { RR = 0.5 }\n'
    for failures, outcome in (("2", "passed"), ('"2.5%"', "passed"), ("1", "errors")):
        files.write(FILE, f"failures = {failures}\n" + GOLDEN + floor)
        files.run().assert_outcomes(**{outcome: 1})


def test_a_program_is_given_as_much_time_as_the_file_says(files: Project) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    ranker = f"[ranker]\ncommand = {json.dumps(command)}\ntimeout = 0.5\n"
    files.write(FILE, GOLDEN + ranker + "[test.floor]\nat_least = { RR = 0.5 }\n")
    assert "no answer within 0.5 s" in text_of(files.run())


def test_collecting_starts_nothing_and_a_program_is_asked_in_its_folder(files: Project) -> None:
    files.write(FILE, GOLDEN + program(files) + TESTS)
    collected = files.run("--collect-only")
    collected.stdout.re_match_lines(
        [r" +<Function test_floor>", r" +<Function test_no_regression>"]
    )
    assert not (files.path / "tests/started").exists()
    files.run("--snapshot-update").assert_outcomes(passed=2)
    assert (files.path / "tests/started").exists()


def test_the_file_overrides_the_configuration_and_options_override_the_file(files: Project) -> None:
    files.write("other.py", "def search(text):\n    raise RuntimeError('asked')\n")
    other = 'rankcheck_ranker = "other:search"\nrankcheck_depth = "5"\nrankcheck_metrics = ["AP"]\n'
    files.write("pyproject.toml", (files.path / "pyproject.toml").read_text("utf-8") + other)
    files.golden(files.queries(30), "golden/small.jsonl")
    files.write(FILE, 'depth = 10\nmetrics = ["P@10"]\n' + GOLDEN + PYTHON + TESTS)
    text = text_of(files.run("--rankcheck-save-run", "runs", "-k", "floor"))
    assert "1 passed" in text
    assert "P@10" in text
    assert "AP " not in text
    ranked = (files.path / "runs/web.jsonl").read_text("utf-8").splitlines()
    assert {len(json.loads(line)["ranking"]) for line in ranked} == {10}
    files.run("--rankcheck-golden", "golden/small.jsonl", "-k", "floor").stdout.re_match_lines(
        [r"small +nDCG@10 +- +1.0000"]
    )
    assert "RuntimeError: asked" in text_of(
        files.run("--rankcheck-ranker", "other:search", "-k", "floor")
    )
    files.write(FILE, "depth = 10\n" + GOLDEN + program(files) + TESTS)
    files.run("--rankcheck-run", "runs", "-k", "floor").assert_outcomes(passed=1, deselected=1)
    assert not (files.path / "tests/started").exists()


def test_several_golden_sets_and_one_of_a_test(files: Project) -> None:
    files.golden(files.queries(40), "golden/mobile.jsonl")
    golden = 'golden = ["../golden/web.jsonl", "../golden/mobile.jsonl"]\n'
    alone = '[test.alone]\nat_least = { RR = 0.5 }\ngolden = "../golden/mobile.jsonl"\n'
    files.write(FILE, golden + PYTHON + TESTS + alone)
    result = files.run("--snapshot-update")
    result.assert_outcomes(passed=5)
    assert "test_alone[mobile]" in text_of(result)
    assert json.loads(record(files, golden="mobile"))["golden_set"]["queries"] == 40


def test_fixtures_of_a_conftest_are_used_and_each_file_ranks_to_its_depth(files: Project) -> None:
    conftest = """
import pytest
from engine import search
from pytest_rankcheck import GoldenSet

@pytest.fixture(scope="session")
def ranker():
    return search

@pytest.fixture(scope="session")
def golden_set():
    return GoldenSet.load("golden/web.jsonl")
"""
    files.write("tests/conftest.py", conftest)
    floor = "[test.floor]\nat_least = { RR = 0.5 }\n"
    files.write(FILE, "depth = 5\n" + floor)
    files.write("tests/test_deep.rank.toml", "depth = 20\n" + floor.replace("RR", '"R@20"'))
    files.run().assert_outcomes(passed=2)


def test_expectations(files: Project) -> None:
    lines = files.queries()
    lines[0]["expect"] = [{"in_top": 1, "documents": ["doc of query 0"]}]
    files.golden(lines)
    files.write(FILE, GOLDEN + PYTHON + "[test.expected]\nexpectations = true\n")
    files.run().assert_outcomes(passed=1)
    files.rank({0: 4})
    result = files.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([">   expectations = true", f"{FILE}:5: AssertionError"])


def test_what_cannot_work_is_refused_before_the_first_test(
    files: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, said in (
        ("golden = '../golden/wbe.jsonl'\n" + TESTS, ":1: golden set golden/wbe.jsonl does not ex"),
        (GOLDEN + TESTS + "golden = 'x.jsonl'\n", ":12: golden set tests/x.jsonl does not exist"),
        (GOLDEN + "\n[test.a]\nat_least = { nDCH = 1 }\n", ":4: unknown metric 'nDCH'"),
        (GOLDEN + "\n[test.a]\nnot_regressed = 'RR'\ngate = 'x'\n", ":4: 'x' is not a gate"),
        (GOLDEN + "\n[test.a]\nat_lest = { RR = 1 }\n", ":4: unknown key 'at_lest' in [test.a]; d"),
        (
            GOLDEN + "[ranker]\nhttp = { url = 'http://x/{quer}', ids = 'x' }\n" + TESTS,
            ":3: http: unknown placeholder {quer}; did you mean 'query'?",
        ),
        (GOLDEN + "[ranker]\nrun = 'gone/a.run'\n" + TESTS, "run: *gone/a.run does not exist"),
    ):
        monkeypatch.delenv("SEARCH_URL", raising=False)
        files.write(FILE, text)
        result = files.run()
        assert result.ret in (2, 4)
        result_text = text_of(result)
        for part in said.split("*"):
            assert part in result_text
        assert "Traceback" not in result_text


def test_without_its_variable_only_the_tests_of_the_file_fail(
    files: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SEARCH_URL", raising=False)
    http = '[ranker]\nhttp = { url = "${SEARCH_URL}/a/_search", engine = "solr" }\n'
    files.write(FILE, GOLDEN + http + TESTS)
    files.write("tests/test_unit.py", "def test_unit():\n    pass\n")
    result = files.run()
    result.assert_outcomes(passed=1, errors=2)
    said = (
        f"{FILE}:3: the environment variable SEARCH_URL is not set; start pytest with it: SEARCH_"
    )
    assert said in text_of(result)


def test_the_value_of_a_variable_in_the_url_appears_in_no_message(
    files: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_URL", "http://user:s3cret@127.0.0.1:9")
    http = '[ranker]\nhttp = { url = "${SEARCH_URL}/a/_search", engine = "solr" }\n'
    files.write(FILE, GOLDEN + http + TESTS)
    text = text_of(files.run("--log-level=INFO"))
    assert "is the server running?" in text
    assert "GET ${SEARCH_URL}/a/_search" in text
    assert "s3cret" not in text
    assert "127.0.0.1" not in text
    monkeypatch.setenv("SEARCH_URL", "s3cret")
    text = text_of(files.run())
    assert "${SEARCH_URL}/a/_search is not a request: give a URL such as" in text
    assert "s3cret" not in text


def test_candidates_are_on_the_leaderboard(files: Project) -> None:
    candidates = (
        '[candidate.program]\ncommand = ["./rank"]\n[candidate.same]\npython = "engine:search"\n'
    )
    _ = program(files)
    files.write(FILE, GOLDEN + PYTHON + candidates + TESTS)
    text = text_of(files.run("--rankcheck-leaderboard", "-k", "floor"))
    assert "leaderboard, golden set 'web'" in text
    for name in ("engine:search", "program", "same"):
        assert any(line.split()[:1] == [name] for line in text.splitlines()), name


def test_golden_sets_of_rank_files_are_linted(files: Project) -> None:
    files.run("--rankcheck-lint", "-k", "floor or lint").assert_outcomes(passed=2, deselected=1)


@NEEDS_GIT
def test_against_a_reference_more_failures_need_a_reason(files: Project) -> None:
    assert files.run("--snapshot-update").ret == 0
    files.commit()
    files.write(FILE, 'failures = "5%"\n' + GOLDEN + PYTHON + TESTS)
    assert files.run(*MAIN).ret == 0
    assert files.run(*MAIN, "--rankcheck-approve", "flaky staging").ret == 0
    assert "option-looser:failures" in record(files)
    assert files.run(*MAIN).ret == 0


@NEEDS_GIT
def test_a_removed_test_is_missed(files: Project) -> None:
    assert files.run("--snapshot-update").ret == 0
    files.commit()
    files.write(FILE, GOLDEN + PYTHON + TESTS.partition("[test.no_regression]")[0])
    result = files.run(*MAIN)
    assert result.ret == 1
    assert "its test is gone" in text_of(result)


def test_conventions_of_the_file_are_recorded(files: Project) -> None:
    files.write(FILE, 'conventions = "lightgbm"\n' + GOLDEN + PYTHON + TESTS)
    files.run("--snapshot-update", "-k", "regression").assert_outcomes(passed=1, deselected=1)
    assert json.loads(record(files))["conventions"]["no_relevant"] == "one"
