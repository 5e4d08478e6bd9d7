"""Candidates beside the ranker: ranked only with --rankcheck-leaderboard, and never a gate."""

import json
import re

import pytest
from project import Project
from schemas import report_schema
from scipy import stats

CANDIDATES = """
from engine import search

calls = []


def second(text):
    "Is right in every second query, and answers the others as the ranker does, one place later."
    number = int(text.split()[-1])
    return search(text) if number % 2 else ["extra", *search(text)]


def same(text):
    calls.append(text)
    return search(text)


def broken(text):
    raise RuntimeError("no index")


class Engine:
    def __call__(self, text):
        return search(text)[:1]
"""
TESTS = """
from pytest_rankcheck import assert_mrr_at_least, assert_not_regressed

def test_floor(evaluation):
    assert_mrr_at_least(evaluation, 0.1)

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, ["RR", "P@1"], abs=0.01)
"""


def configured(project: Project, *candidates: str) -> Project:
    """Return a project whose ranker has every fourth document in the second place."""
    project.rank(dict.fromkeys(range(0, 80, 4), 2))
    project.write("candidates.py", CANDIDATES)
    project.test(TESTS)
    project.configure('rankcheck_metrics = ["R@5"]', f"rankcheck_candidates = {list(candidates)}")
    return project


def board(result: pytest.RunResult) -> list[str]:
    """Return the lines of the leaderboard, without spaces at the ends."""
    lines = [line.strip() for line in result.outlines]
    start = next(place for place, line in enumerate(lines) if line.startswith("leaderboard"))
    end = next(
        (
            place
            for place, line in enumerate(lines)
            if place > start and line.count(":") > line.count(":search")
        ),
        len(lines),
    )
    return [re.sub(" +", " ", line) for line in lines[start:end]]


def test_a_leaderboard_ranks_the_candidates_beside_the_ranker(project: Project) -> None:
    configured(
        project,
        "second = candidates:second",
        "same = candidates:same",
        "Engine 1 = candidates:Engine()",
    )
    project.update()
    record = project.baseline_file().read_bytes()
    result = project.run("--rankcheck-leaderboard", "--rankcheck-json=out/report.json")
    result.assert_outcomes(passed=2)
    assert result.ret == 0
    # RR: the ranker's is 1 in 60 queries and 1/2 in 20. Of the 40 even queries, second has 1/2 in
    # 20 (which the ranker has right) and 1/3 in 20. Engine 1 has 1 in 60, and 0 in 20.
    assert board(result)[1:6] == [
        "ranker RR P@1 R@5 judged",
        "engine:search (ships) 0.8750 0.7500 1.0000 0.2000",
        "same 0.8750 0.7500 1.0000 0.2000",
        "Engine 1 0.7500 -0.1250* 0.7500 0.7500 -0.2500* 1.0000",
        "second 0.7083 -0.1667* 0.5000 -0.2500* 1.0000 0.2000",
    ]
    assert project.baseline_file().read_bytes() == record
    report = json.loads((project.path / "out/report.json").read_text("utf-8"))
    report_schema().validate(report)
    assert report["outcome"] == "passed"
    (found,) = report["leaderboards"]
    assert (found["golden_set"], found["ranker"]) == ("web", "engine:search")
    assert [row["run"] for row in found["rows"][::3]] == [
        "engine:search",
        "same",
        "Engine 1",
        "second",
    ]
    row = next(row for row in found["rows"] if (row["run"], row["metric"]) == ("second", "RR"))
    falls = [0.5 if index % 4 else 1 / 6 for index in range(0, 80, 2)] + [0.0] * 40
    p = stats.ttest_1samp(falls, 0).pvalue
    smaller = sum(each["p"] is not None and each["p"] < row["p"] for each in found["rows"])
    assert row["p"] == pytest.approx((9 - smaller) * p, abs=1e-6)
    assert (row["wins"], row["ties"], row["losses"]) == (0, 40, 40)


OF_FOLDER = """
import pytest

@pytest.fixture(scope="session")
def ranker():
    return rank


def rank(text):
    return ["extra", f"doc of {text}"]


rank.__qualname__ = "{name}"
"""
LOOK = "def test_look(evaluation):\n    assert evaluation.mean('RR')\n"


@pytest.mark.parametrize("is_configured", [True, False])
def test_the_ranker_that_ships_is_the_configured_one_or_that_of_the_gates(
    project: Project, *, is_configured: bool
) -> None:
    """Though a folder with a ranker of its own runs first."""
    configured(project, "same = candidates:same")
    project.write("early/conftest.py", OF_FOLDER.replace("{name}", "trial"))
    project.write("early/test_early.py", LOOK)
    ships = "engine:search"
    if not is_configured:
        project.write("tests/conftest.py", OF_FOLDER.replace("{name}", "released"))
        ships = "released"
    project.run("--snapshot-update")
    result = project.run("--rankcheck-leaderboard", "early", "tests")
    assert result.ret == 0
    rows = [line.split(" (ships)")[0] for line in board(result) if "(ships)" in line]
    assert rows == [ships]
    assert any(line.startswith("trial ") for line in board(result))


def test_candidates_are_not_ranked_without_the_flag(project: Project) -> None:
    configured(project, "missing = nowhere:rank", "broken = candidates:broken")
    project.update()
    result = project.run("--rankcheck-json=report.json")
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*leaderboard*")
    report = json.loads((project.path / "report.json").read_text("utf-8"))
    assert report["leaderboards"] == []


def test_a_candidate_that_raises_has_a_line_and_fails_nothing(project: Project) -> None:
    project.write("leaves.py", "raise SystemExit('no licence')\n")
    configured(
        project,
        "missing = nowhere:rank",
        "broken = candidates:broken",
        "leaves = leaves:rank",
        "engine:search = candidates:same",
    )
    project.update()
    result = project.run("--rankcheck-leaderboard", "--rankcheck-markdown=r.md")
    assert result.ret == 0
    lines = [
        "*leaderboard, golden set 'web'*",
        "*engine:search (ships)  0.8750*",
        "  missing: ConfigurationError: ranker module 'nowhere' cannot be imported*",
        "  broken: RankerError: the ranker failed on 80 of 80 queries*RuntimeError: no index",
        "  leaves: SystemExit: no licence",
        "  engine:search: ConfigurationError: the ranker has this name; choose another",
    ]
    result.stdout.fnmatch_lines(lines)
    assert "- leaves: SystemExit: no licence" in (project.path / "r.md").read_text("utf-8")


def test_without_an_evaluation_there_is_no_leaderboard(project: Project) -> None:
    configured(project, "same = candidates:same")
    project.test("def test_nothing():\n    pass\n")
    result = project.run("--rankcheck-leaderboard")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "leaderboard:",
            "  there is none, because no test with candidates (rankcheck_candidates) measured*",
        ]
    )


def test_a_test_that_gates_nothing_is_compared_on_the_usual_metrics(project: Project) -> None:
    configured(project, "second = candidates:second")
    project.configure('rankcheck_candidates = ["second = candidates:second"]')
    project.test("def test_run(evaluation):\n    assert evaluation.mean('RR')\n")
    result = project.run("--rankcheck-leaderboard")
    assert board(result)[1] == "ranker nDCG@10 RR judged"


def test_several_processes_are_refused_at_the_start(project: Project) -> None:
    configured(project, "same = candidates:same")
    result = project.run("--rankcheck-leaderboard", "-n", "2")
    assert result.ret == 4
    assert "--rankcheck-leaderboard needs one process: add -n 0" in "\n".join(result.errlines)
