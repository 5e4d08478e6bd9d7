"""Gates in a test session: configuration, inconclusive verdicts, plans, noise, and what is shown."""

import re
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from gated_test import MRR, GatedTest
from project import REGRESSION_TEST, WITHOUT_AND_WITH_WORKERS, Project, text_of

from pytest_rankcheck import (
    ConfigurationError,
    Gate,
    GoldenSet,
    Run,
    assert_at_least,
    assert_at_most,
    assert_not_regressed,
    evaluate,
)
from pytest_rankcheck.reports.text.measurement_notes import evaluation_notes

TEST = """
from pytest_rankcheck import assert_not_regressed

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", by="locale")
"""


@pytest.fixture
def recorded(project: Project) -> Project:
    project.test(TEST)
    project.update()
    return project


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_an_inconclusive_verdict_warns_fails_or_passes(
    project: Project, workers: tuple[str, ...]
) -> None:
    gate = 'rankcheck_gate = ["noninferior(margin=0.01)"]'
    project.configure(gate)
    project.test(TEST)
    before = project.update()
    project.rank({1: 9, 50: 9})
    result = project.run(*workers)
    result.assert_outcomes(passed=1)
    text = text_of(result)
    assert "inconclusive: not enough evidence to say whether it got worse:" in text
    assert "RR is inconclusive on golden set 'web' (80 queries)" in text
    assert "a fall of 0.0100 is neither ruled out nor shown" in text
    assert "baselines kept" in text_of(project.run("--snapshot-update"))
    project.configure(gate, 'rankcheck_inconclusive = "fail"')
    for arguments in ((), ("--snapshot-update",)):
        result = project.run(*workers, *arguments)
        result.assert_outcomes(failed=1)
        assert "judge more queries, widen the margin" in text_of(result)
        assert project.baseline_file().read_bytes() == before
    project.configure(gate, 'rankcheck_inconclusive = "pass"')
    result = project.run(*workers)
    result.assert_outcomes(passed=1)
    assert "inconclusive on" not in text_of(result)


def test_bounds_that_no_value_meets_are_refused() -> None:
    golden = GoldenSet.from_dict({"a": {"x": 1}})
    evaluation = evaluate(Run.from_dict({"a": ["x"]}), golden)
    with pytest.raises(
        ConfigurationError, match=r"RR ranges from 0 to 1, so it is never at least 80.0000"
    ):
        assert_at_least(evaluation, "RR", 80)
    with pytest.raises(ConfigurationError, match=r"it is never at most -0.1000"):
        assert_at_most(evaluation, "RR", -0.1)


def test_a_plan_says_how_many_queries_each_margin_needs(recorded: Project) -> None:
    name = "tests/test_ranking.py::test_mrr: RR"
    text = text_of(recorded.run("--rankcheck-plan", "-q"))
    assert f"{name}: no margin to rule out; --rankcheck-prove shows what" in text
    recorded.configure('rankcheck_gate = ["noninferior(margin=0.01)"]')
    text = text_of(recorded.run("--rankcheck-plan", "-q"))
    assert "queries needed to detect a fall with a power of 80% (paired t-test, one-sided" in text
    assert f"{name}: margin 0.01 needs any number, since its values do not vary, has 80" in text
    recorded.rank({1: 9, 50: 9})
    text = text_of(recorded.run("--rankcheck-plan", "-q"))
    all_queries = rf"  {name}: margin 0.01 needs 1,208 \([\d,]+ to [\d,]+\), has 80; "
    assert re.search(all_queries + "standard deviation 0.1397, the differences of the two", text)
    assert re.search(r"RR\[locale=de\]: margin 0.01 needs [\d,]+.*, has 40$", text, re.MULTILINE)
    assert re.search(r"RR\[locale=en\]: margin 0.01 needs [\d,]+.*, has 40$", text, re.MULTILINE)


def test_a_tolerance_below_the_recorded_noise_is_reported(tmp_path: Path) -> None:
    """Of 80 queries 8 are at 2, 3, 4, 1, 6 in five runs: 1 - (1/2, 2/3, 3/4, 0, 5/6) / 10."""
    gated = GatedTest(tmp_path)
    first, *others = (dict.fromkeys(range(0, 80, 10), rank) for rank in (2, 3, 4, 1, 6))
    gated.rank(first)
    gated.others = others
    gated.assertions = (partial(MRR, abs=0.002),)
    gated.update()
    means = gated.record["metrics"]["RR"]["replicates"][""]
    assert statistics.stdev(means) == pytest.approx(0.033124, abs=1e-6)
    gated.others = ()
    text = gated.run().text
    assert "tolerances below the noise of replicates" in text
    # 0.033124 sqrt(1/5 + 1)
    assert (
        "RR may get worse by 0.0020, but its difference varies by 0.0363 (standard error)" in text
    )
    assert "use Gate.tolerance(noise=3)" in text
    gated.assertions = (partial(assert_not_regressed, metric="RR", gate=Gate.tolerance(noise=3)),)
    assert gated.run(approve="the ranker is unsteady").passed
    gated.rank(others[0])
    outcome = gated.run()
    assert outcome.passed
    assert "below the noise" not in outcome.text


OWN_SET = """
import pytest
from pytest_rankcheck import GoldenSet

@pytest.fixture(scope="session")
def golden_set():
    return GoldenSet.load("golden/web.jsonl", name="shop")
"""


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_lines_for_a_set_that_no_test_measured_are_listed(
    project: Project, workers: tuple[str, ...]
) -> None:
    """A golden set of the project's own fixture is only known when a test has used it."""
    project.test(REGRESSION_TEST)
    project.write("conftest.py", OWN_SET)
    project.configure(
        'rankcheck_gate = ["shop: tolerance", "shpo: tolerance(abs=0.1)"]',
        'rankcheck_doc_id = ["wbe: lower"]',
        'rankcheck_columns = ["app: query=text"]',
    )
    project.run("--snapshot-update")
    result = project.run(*workers)
    result.assert_outcomes(passed=1)
    heading = "the configuration has lines for golden sets that no test measured"
    text = text_of(result)
    assert f"{heading}:\n  golden set 'shpo'; did you mean 'shop'?\n  golden set 'app'\n" in text
    assert "  golden set 'wbe'" in text
    assert "golden set 'shop'\n" not in text


def test_a_test_that_ends_before_its_first_gate_shows_all_recorded_values(
    recorded: Project,
) -> None:
    for line in ("1 / 0", "__import__('pytest').skip('today')"):
        recorded.test(TEST.replace("baseline):", f"baseline):\n    {line}"))
        text = " ".join(text_of(recorded.run()).split())
        assert "web RR 1.0000 1.0000 +0.0000 not reached" in text


@pytest.mark.slow
def test_assertions_survive_optimised_python(recorded: Project) -> None:
    recorded.rank({0: 4, 1: 4})
    command = [sys.executable, "-O", "-m", "pytest", "--assert=plain", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=recorded.path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "RR regressed on golden set 'web'" in done.stdout
    assert "tests/test_ranking.py:5: AssertionError" in done.stdout, "the traceback ends there"
    assert "pytest_rankcheck/assertions" not in done.stdout


@pytest.mark.filterwarnings("ignore")
def test_missing_extra_and_hopeless_queries_are_noted() -> None:
    golden = GoldenSet.from_dict({"a": {"x": 1}, "b": {"x": 0}, "c": {"x": 1}})
    run = Run.from_dict({"a": ["x"], "b": ["x"], "another": ["x"]})
    texts = "\n".join(note.text for note in evaluation_notes(evaluate(run, golden)))
    for says in (
        "1 query of the run without judgments, not measured: another",
        "1 query without a relevant document: b",
        "1 judged query is not in the run and counted as empty rankings: c",
    ):
        assert says in texts
