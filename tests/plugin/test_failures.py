"""``rankcheck_failures``: a ranker that fails now and then, in bounds, comparisons and updates."""

import json

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

FLAKY = """

FAILS = json.loads((Path(__file__).parent / "fails.json").read_text())
TRIES = {}

def flaky(text):
    TRIES[text] = TRIES.get(text, 0) + 1
    if TRIES[text] <= FAILS.get(text, 0):
        raise TimeoutError(f"no answer to {text}")
    return search(text)
"""
TEST = """
from pytest_rankcheck import assert_at_least, assert_not_regressed

def test_bound(evaluation):
    assert_at_least(evaluation, "RR", 0.5)

def test_rr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", by="locale")
"""
RECORD = "tests/baselines/test_ranking/test_rr--web.json"


class FlakyProject(Project):
    def fail(self, *queries: int, tries: int = 99) -> None:
        """Let the ranker fail on some queries, at the first tries."""
        fails = {f"query {number}": tries for number in queries}
        self.write("fails.json", json.dumps(fails))

    def allow(self, failures: object, *lines: str) -> None:
        self.configure(
            'rankcheck_ranker = "engine:flaky"', f'rankcheck_failures = "{failures}"', *lines
        )
        text = (self.path / "pyproject.toml").read_text("utf-8")
        self.write("pyproject.toml", text.replace('rankcheck_ranker = "engine:search"\n', ""))

    def line(self, query: int) -> dict[str, object]:
        """Return the line of a query in the record."""
        lines = json.loads((self.path / RECORD).read_text("utf-8"))["queries"]
        return next(line for line in lines if line["id"] == f"q{query:03}")


@pytest.fixture
def flaky(project: Project) -> FlakyProject:
    """A project with a recorded baseline, whose ranker may fail on two queries."""
    project.__class__ = FlakyProject
    assert isinstance(project, FlakyProject)
    project.write("engine.py", (project.path / "engine.py").read_text("utf-8") + FLAKY)
    project.fail()
    project.allow(2)
    project.test(TEST)
    project.rank({5: 2})
    project.run("--snapshot-update").assert_outcomes(passed=2)
    return project


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_a_failed_query_scores_0_in_bounds_and_is_left_out_of_comparisons(
    flaky: FlakyProject, workers: tuple[str, ...]
) -> None:
    flaky.fail(3, 5)
    result = flaky.run(*workers)
    result.assert_outcomes(passed=2)
    text = " ".join(text_of(result).split())
    # 78 of 80 queries have RR 1; in the comparison both sides have 1, also on query 5.
    assert "RR - 0.9750 - at least 0.5000; 2 queries failed" in text
    assert "RR 1.0000 1.0000 +0.0000 passed; 2 queries failed" in text
    assert "RR[locale=en] 1.0000 1.0000 +0.0000 passed" in text
    words = "q003 (failed: TimeoutError: no answer to query 3), q005 (failed: TimeoutError"
    assert f"2 of 80 queries have an empty answer: {words}" in text


def test_one_failure_too_many_is_an_error(flaky: FlakyProject) -> None:
    flaky.fail(3, 5, 7)
    result = flaky.run()
    result.assert_outcomes(errors=2)
    assert "the ranker failed on 3 of 80 queries (2 may fail), first on 'q003'" in text_of(result)


def test_a_share_is_of_all_queries_and_rounded_down(flaky: FlakyProject) -> None:
    flaky.fail(3, 5)
    flaky.allow("2.5%")
    flaky.run().assert_outcomes(passed=2)
    flaky.allow("2.4%")
    assert "failed on 2 of 80 queries (1 may fail)" in text_of(flaky.run())


def test_retries_come_first(flaky: FlakyProject, monkeypatch: pytest.MonkeyPatch) -> None:
    flaky.fail(3, 5, 7, tries=1)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    flaky.allow(0, "rankcheck_retries = 1", 'rankcheck_retry_on = ["TimeoutError"]')
    result = flaky.run()
    result.assert_outcomes(passed=2)
    assert "query failed" not in text_of(result)


ASYNC = """
import asyncio
BUSY = []
MOST = []

async def patient(text):
    BUSY.append(text)
    MOST.append(len(BUSY))
    await asyncio.sleep(0.001)
    BUSY.remove(text)
    return search(text)

async def stuck(text):
    await asyncio.sleep(1)
"""


def test_an_async_ranker_is_asked_as_configured(project: Project) -> None:
    project.write("engine.py", (project.path / "engine.py").read_text("utf-8") + ASYNC)
    project.configure("rankcheck_concurrency = 3")
    project.test("import engine\n\ndef test_most(evaluation):\n    assert max(engine.MOST) == 3\n")
    project.run("--rankcheck-ranker=engine:patient").assert_outcomes(passed=1)
    result = project.run("--rankcheck-ranker=engine:stuck", "-o", "rankcheck_timeout=0.05")
    result.assert_outcomes(errors=1)
    assert "no answer within 0.05 s" in text_of(result)


def test_an_update_keeps_the_recorded_lines(flaky: FlakyProject) -> None:
    """Whether it raises, keeps, or an approval writes everything anew."""
    before = flaky.line(4), flaky.line(5)
    flaky.fail(4)
    flaky.rank({})
    flaky.run("--snapshot-update").assert_outcomes(passed=2)
    assert flaky.line(4) == before[0]
    assert flaky.line(5) != before[1]
    flaky.fail(4, 5)
    flaky.rank({6: 3})
    flaky.run("--rankcheck-approve", "faster").assert_outcomes(passed=2)
    assert (flaky.line(4), flaky.line(5)["values"]) == (before[0], {"RR": 1.0})
    assert flaky.line(6)["values"] == {"RR": 0.333333}
    flaky.fail()
    flaky.run().assert_outcomes(passed=2)


@pytest.mark.parametrize("option", [("--snapshot-update",), ("--rankcheck-approve", "why")])
def test_an_update_is_refused_where_there_is_no_line(
    flaky: FlakyProject, option: tuple[str, ...]
) -> None:
    text = (flaky.path / RECORD).read_text("utf-8")
    flaky.golden(flaky.queries(81))
    flaky.fail(3, 80)
    result = flaky.run(*option)
    result.assert_outcomes(passed=1, failed=1)
    assert "baseline cannot be written: the ranker failed on q080" in text_of(result)
    assert (flaky.path / RECORD).read_text("utf-8") == text
    flaky.golden(flaky.queries())
    (flaky.path / RECORD).unlink()
    assert "failed on q003, for which there are no earlier values" in text_of(flaky.run(*option))
    assert not (flaky.path / RECORD).exists()


def test_seconds_are_shown_but_never_recorded(flaky: FlakyProject) -> None:
    flaky.allow(2, 'rankcheck_metrics = ["Seconds(q=0.95)", "R@10"]')
    flaky.test(
        TEST + "\ndef test_fast(evaluation):\n"
        "    from pytest_rankcheck import assert_at_most\n"
        '    assert_at_most(evaluation, "Seconds(q=0.95)", 2)\n'
    )
    flaky.fail()
    result = flaky.run("--snapshot-update")
    result.assert_outcomes(passed=3)
    assert "Seconds(q=0.95)" in text_of(result)
    assert flaky.line(3)["values"] == {"RR": 1.0, "R@10": 1.0}
