"""One row is one gate of one test, golden set, ranker and slice, whatever is parametrised."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

RANKERS = """
import pytest
from engine import search

@pytest.fixture(scope="session", params=[False, True], ids=["bm25", "dense"])
def ranker(request):
    def asked(text):
        with open("calls", "a") as file:
            file.write(f"{request.param}\\n")
        ranking = search(text)
        return ranking[1:] + ranking[:1] if request.param and text < "query 2" else ranking
    return asked
"""
TESTS = """
from pytest_rankcheck import assert_at_least, assert_not_regressed

def test_floor(evaluation):
    assert_at_least(evaluation, "RR", 0.9)

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", by="locale")
"""


def rows(text: str) -> list[str]:
    """Return the rows of the summary's table, and the tests above them."""
    table = text.partition("= rankcheck =")[2]
    lines = (line for line in table.splitlines() if re.match(r"web |tests/\S+$", line))
    return [" ".join(line.split()) for line in lines]


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_two_rankers_have_rows_files_and_names_of_their_own(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.write("tests/conftest.py", RANKERS)
    project.test(TESTS)
    files = ("--rankcheck-save-run=runs", "--rankcheck-markdown=r.md", "--rankcheck-json=r.json")
    result = project.run(*workers, *files, "--snapshot-update", "--junitxml=j.xml")
    result.assert_outcomes(passed=3, failed=1)
    text = text_of(result)
    assert sorted(rows(text)) == [
        "tests/test_ranking.py::test_floor[bm25]",
        "tests/test_ranking.py::test_floor[dense]",
        "tests/test_ranking.py::test_mrr[bm25]",
        "tests/test_ranking.py::test_mrr[dense]",
        "web bm25 RR - 1.0000 - at least 0.9000",
        "web bm25 RR - 1.0000 - new",
        "web dense RR - 0.8615 - FAILED: below 0.9000",
        "web dense RR - 0.8615 - new",
    ]
    assert {file.name for file in (project.path / "runs").iterdir()} == {
        "web-bm25.jsonl",
        "web-dense.jsonl",
    }
    assert len((project.path / "calls").read_text().splitlines()) == 160
    folder = project.baseline_file().parent
    assert sorted(file.name for file in folder.iterdir()) == [
        "test_mrr-bm25--web.json",
        "test_mrr-dense--web.json",
    ]
    markdown = (project.path / "r.md").read_text("utf-8").replace("\\", "")
    assert "| ❌ | RR | web | dense | - | 0.8615 |  | below 0.9000 | tests/test_rank" in markdown
    assert "  - tests/test_ranking.py::test_floor[dense]" in markdown
    report = json.loads((project.path / "r.json").read_text("utf-8"))
    assert {each["run"]["name"] for each in report["measurements"]} == {"bm25", "dense"}
    [case] = [
        case
        for case in ElementTree.parse(project.path / "j.xml").getroot().iter("testcase")
        if case.get("name") == "test_floor[dense]"
    ]
    names = [each.get("name") for each in case.iterfind("properties/property")]
    assert "rankcheck.web.RR" in names
    assert len(set(names)) == len(names)


FIXTURES = """
import pytest
from pytest_rankcheck import GoldenSet, Run, assert_at_least, evaluate

SETS = [GoldenSet.from_dict({"q": {"a": 1}}, name="web") for _ in range(2)]
RUNS = [Run.from_dict({"q": ["a"]}), Run.from_dict({"q": ["b", "a"]})]

class TestSets:
    @pytest.fixture(scope="session", params=SETS, ids=["old", "new"])
    @staticmethod
    def golden_set(request): return request.param

    @pytest.fixture(scope="session")
    @staticmethod
    def ranking_run(): return RUNS[0]

    def test_x(self, evaluation): assert_at_least(evaluation, "RR", 0.1)

class TestRuns:
    @pytest.fixture(scope="session")
    @staticmethod
    def golden_set(): return SETS[0]

    @pytest.fixture(scope="session", params=RUNS, ids=["first", "second"])
    @staticmethod
    def ranking_run(request): return request.param

    def test_y(self, evaluation): assert_at_least(evaluation, "RR", 0.1)

@pytest.mark.parametrize("evaluation", [evaluate(run, SETS[0]) for run in RUNS], ids=["a", "b"])
def test_z(evaluation):
    assert_at_least(evaluation, "RR", 0.1)

def test_two():
    for run in RUNS:
        assert_at_least(evaluate(run, SETS[0]), "RR", 0.1)
"""


def test_parametrised_fixtures_give_their_ids_to_rows(project: Project) -> None:
    project.test(FIXTURES)
    found = rows(text_of(project.run()))
    rankers = [row.split()[1] for row in found if row.startswith("web ")]
    assert rankers[:6] == ["old", "new", "first", "second", "a", "b"]
    assert rankers[6:] == ["run", "run"]  # which fixtures have named, but not changed


def test_a_golden_set_that_tests_are_parametrised_with_is_ranked_once(project: Project) -> None:
    """Also where each test loads its own copy."""
    project.write(
        "tests/conftest.py",
        RANKERS.replace(', params=[False, True], ids=["bm25", "dense"]', "").replace(
            "request.param", "False"
        ),
    )
    own = "GoldenSet.load('golden/web.jsonl')"
    tests = [
        f"@pytest.mark.parametrize('golden_set', [{given}], indirect=True)\n"
        f"def test_{number}(evaluation): assert_at_least(evaluation, 'RR', 0.9)\n"
        for number, given in enumerate(["'golden/web.jsonl'", own, own])
    ]
    head = "import pytest\nfrom pytest_rankcheck import GoldenSet, assert_at_least\n"
    project.test("\n".join([head, *tests]))
    project.run("--rankcheck-save-run=runs").assert_outcomes(passed=3)
    assert len((project.path / "calls").read_text().splitlines()) == 80
    assert [file.name for file in (project.path / "runs").iterdir()] == ["web.jsonl"]
