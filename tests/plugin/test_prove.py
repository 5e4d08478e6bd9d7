"""What --rankcheck-prove says: which harms the tests of a session would block, and in which test."""

import json
import re

import pytest
from project import Project, text_of

TESTS = """
from pytest_rankcheck import assert_at_least, assert_expectations, assert_not_regressed

def test_floor(evaluation):
    assert_at_least(evaluation, "RR", 0.6)

def test_slices(evaluation):
    assert_at_least(evaluation, "P@1", 0.9, by="locale")

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, ["RR", "P@1"])

def test_expectations(ranking_run, golden_set):
    assert_expectations(ranking_run, golden_set)
"""
GATE = 'rankcheck_gate = ["significant()"]'
PROVE = ("--rankcheck-prove", "--no-header")
HEADING = "what the gates would block: "


@pytest.fixture
def shop(project: Project) -> Project:
    """A project whose queries expect their document at the top."""
    expected = [
        {**line, "expect": [{"in_top": 1, "documents": [f"doc of {line['query']}"]}]}
        for line in project.queries()
    ]
    project.golden(expected)
    project.configure(GATE)
    project.test(TESTS)
    return project


def table(result: pytest.RunResult) -> dict[str, list[str]]:
    """Return the rows under the heading, by harm: the outcome, and what is said of it."""
    lines = text_of(result).partition(HEADING)[2].splitlines()[1:]
    rows = [[part.strip() for part in line.split("  ") if part.strip()] for line in lines]
    found = (row for row in rows if row and row[0] in ("SURVIVES", "blocked", "harmless"))
    return {row[1].partition(" (")[0]: [row[0], *row[2:]] for row in found}


def test_every_gate_floor_and_expectation_is_asked(shop: Project) -> None:
    shop.update()
    result = shop.run(*PROVE)
    assert result.ret == 0
    rows = table(result)
    text = text_of(result)
    assert f"{HEADING}" in text
    assert " harms on golden set 'web', and " in text
    assert "% of innocent changes of the same size, not counting expectations:" in text
    assert rows["2 of 80 queries lose all their answers"] == [
        "blocked",
        "test_expectations: expectations, in 12 of 12 draws",
    ]
    shop.test(TESTS.partition("def test_expectations")[0])
    rows = table(shop.run(*PROVE))
    assert rows["2 of 80 queries lose all their answers"][0] == "SURVIVES"
    assert rows["4 of 80 queries find nothing"] == [
        "blocked",
        "test_mrr: lost answers, in 12 of 12 draws",
    ]
    assert rows["the first two places swapped"] == ["blocked", "test_floor: RR"]
    assert rows["one of 8 shards lost"][1] == "test_slices: P@1, in 12 of 12 draws"


def test_the_ranker_is_not_called_again(shop: Project) -> None:
    engine = (shop.path / "engine.py").read_text("utf-8")
    counting = "def search(text):\n    with open('calls', 'a') as calls:\n        print(file=calls)"
    shop.write("engine.py", engine.replace("def search(text):", counting))
    assert shop.run(*PROVE, "--snapshot-update").ret == 0
    assert len((shop.path / "calls").read_text("utf-8").splitlines()) == 80


def test_the_exit_status_is_that_of_the_tests(shop: Project) -> None:
    shop.update()
    shop.rank(dict.fromkeys(range(30), 12))
    result = shop.run(*PROVE)
    assert result.ret == 1
    assert table(result)
    shop.rank({})
    shop.test("def test_nothing(evaluation):\n    assert evaluation.mean('RR')\n")
    result = shop.run(*PROVE)
    assert result.ret == 0
    assert f"{HEADING}nothing:\n  no test gates whole rankings" in text_of(result)


def test_a_gate_that_is_expected_to_fail_blocks_nothing(shop: Project) -> None:
    gate = "def test_floor(evaluation):\n    assert_at_least(evaluation, 'RR', 0.6)\n"
    for before, after in (
        ("@pytest.mark.xfail(reason='known')\n", ""),
        ("", "    pytest.xfail()\n"),
    ):
        shop.test(
            f"import pytest\nfrom pytest_rankcheck import assert_at_least\n\n{before}{gate}{after}"
        )
        assert "no test gates whole rankings" in text_of(shop.run(*PROVE))
        assert "test_floor: RR" in text_of(shop.run(*PROVE, "--runxfail"))


FRAGILE = """
from pytest_rankcheck import metric

@metric("First", range=(0, 1))
def first(hits, cutoff):
    if (hits.retrieved == 0).any():
        raise ValueError("q007 has no answer")
    return hits.ranks[:, 0] == 1
"""


@pytest.mark.parametrize(
    ("fails", "sealed", "said"),
    [
        ('raise ValueError("q007 has no answer")', False, "ValueError: q007 has no answer"),
        ('raise ValueError("q007 has no answer")', True, "such as an empty one: ValueError\n"),
        ("return 1 - 2.0 * (hits.retrieved == 0)", True, "unknown:\n  MetricError\n"),
    ],
)
def test_code_that_cannot_bear_a_harmed_ranking_is_said(
    shop: Project, fails: str, sealed: bool, said: str
) -> None:
    """The test session goes on, and names no query of a sealed golden set."""
    shop.write("conftest.py", FRAGILE.replace('raise ValueError("q007 has no answer")', fails))
    shop.configure(GATE, *(['rankcheck_sealed = ["web"]'] if sealed else []))
    shop.test(TESTS.replace('["RR", "P@1"]', '["RR", "First"]'))
    result = shop.run_apart(*PROVE, "--snapshot-update")  # its metric is registered there only
    assert result.ret == 0
    text = text_of(result)
    assert said in text
    assert ("q0" in text) is not sealed


def test_what_blocks_most_innocent_changes_is_named(shop: Project) -> None:
    shop.test(TESTS.replace('"P@1"])', '"P@1"], abs=0.001)'))
    text = text_of(shop.run(*PROVE, "--snapshot-update"))
    assert re.search(r"innocent changes +test_mrr blocks most of them, \d\d%", text)


def test_reports_have_the_table(shop: Project) -> None:
    options = ("json", "markdown", "html")
    shop.run(*PROVE, "--snapshot-update", *(f"--rankcheck-{each}=r.{each}" for each in options))
    notes = json.loads((shop.path / "r.json").read_text("utf-8"))["notes"]
    rows = [note for note in notes if note["topic"] == "proof"]
    assert len(rows) > 12
    assert rows[0]["heading"].startswith(HEADING)
    for each in options[1:]:
        text = (shop.path / f"r.{each}").read_text("utf-8")
        assert "what the gates would block: " in text
        assert "the first two places swapped" in text
