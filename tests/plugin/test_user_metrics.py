"""A metric that a conftest registers: parsed, gated, recorded, reported and law-checked like ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

CONFTEST = '''
from pytest_rankcheck import JudgedHits, Parameter, metric
import numpy as np

PATIENCE = Parameter(
    "patience",
    default=0.8,
    check=float,
    allowed="a number between 0 and 1",
    description="the probability that a user looks at the next product",
)

@metric(
    "Revenue",
    aliases=("Takings",),
    parameters=(PATIENCE,),
    range=(0, np.inf),
    formula="sum over i <= k of euros_i * patience^(i-1)",
    use="where grades are what a sale brings in",
    monotone=True,
    optimal=True,
    identity=True,
    sensitive=True,
    stable=True,
)
def revenue(hits: JudgedHits, cutoff, *, patience):
    """What a search brings in, if users go on with a probability."""
    counted = hits.ranks <= (np.inf if cutoff is None else cutoff)
    return np.where(counted, hits.grades * patience ** (hits.ranks - 1), 0.0).sum(axis=1)
'''

TESTS = """
from pytest_rankcheck import assert_at_least, assert_not_regressed, check_metric

def test_floor(evaluation):
    assert_at_least(evaluation, "Revenue@10", 1.5)

def test_revenue(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "revenue(patience=0.5)@10", abs=0.01)

def test_laws():
    check_metric("Takings@10").raise_if_broken()
"""


@pytest.fixture
def shop(project: Project) -> Project:
    """A project with a metric of its own in tests/conftest.py."""
    project.write("tests/conftest.py", CONFTEST)
    project.test(TESTS)
    return project


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS, ids=["alone", "xdist"])
def test_a_user_metric_is_gated_recorded_and_reported(
    shop: Project, workers: tuple[str, ...]
) -> None:
    if workers:  # whose controller collects nothing, and imports no conftest below the first folder
        pytest.importorskip("xdist")
        (shop.path / "tests/conftest.py").unlink()
        (shop.path / "tests/test_ranking.py").unlink()
        shop.write("tests/deep/conftest.py", CONFTEST)
        shop.test(TESTS, "tests/deep/test_ranking.py")
    result = shop.run_apart("--snapshot-update", *workers)
    result.assert_outcomes(passed=3)
    (baseline,) = shop.path.rglob("test_revenue--web.json")
    record = json.loads(baseline.read_text("utf-8"))
    # The relevant document of grade 2 is first in every query.
    assert record["metrics"]["Revenue(patience=0.5)@10"]["mean"] == 2.0
    shop.rank(dict.fromkeys(range(40), 2))
    reports = [f"--rankcheck-{kind}={kind}" for kind in ("json", "html", "markdown")]
    result = shop.run_apart(*workers, *reports)
    result.assert_outcomes(passed=2, failed=1)  # on average 1.8 with a patience of 0.8
    result.stdout.fnmatch_lines(
        [
            "*Revenue(patience=0.5)@10 regressed on golden set 'web'*2.0000 -> 1.5000, -0.5000;*",
            '*q000 "query 0"   2.000 -> 1.000',
            "web         Revenue(            2.0000  1.5000  -0.5000    -0.5000  FAILED:",
        ]
    )
    report = json.loads((shop.path / "json").read_text("utf-8"))
    assert {gate["metric"] for gate in report["gates"]} == {
        "Revenue@10",
        "Revenue(patience=0.5)@10",
    }
    metric_entry = report["measurements"][0]["metrics"]["Revenue(patience=0.5)@10"]
    assert "What a search brings in" in json.dumps(metric_entry)
    for kind in ("html", "markdown"):
        assert "Revenue(patience=0.5)@10" in (shop.path / kind).read_text("utf-8")
    result = shop.run_apart(*workers, "--snapshot-update", "--rankcheck-approve", "a sale")
    result.assert_outcomes(passed=3)


def test_a_broken_law_fails_the_test_that_checks_it(shop: Project) -> None:
    shop.write("tests/conftest.py", CONFTEST.replace("patience ** (hits.ranks - 1)", "hits.ranks"))
    result = shop.run_apart("-k", "laws")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: Revenue@10 on all rankings*, tried as Revenue@4: 4 laws of 14 not as *",
            "E *monotone: declared to hold, but it does not",
            "E *grades by rank 0 4 0 0 0  scores 8",
            "E *grades by rank 4 0 0 0 0  scores 4",
        ]
    )


def test_a_conftest_can_be_imported_again(shop: Project) -> None:
    shop.write("tests/__init__.py", "")
    shop.test(
        "import importlib, sys\n\n"
        "def test_again(evaluation):\n"
        "    before = evaluation.mean('Revenue')\n"
        "    importlib.reload(sys.modules['tests.conftest'])\n"
        "    assert evaluation.mean('Takings') == before == 2.0\n"
    )
    shop.run_apart("-k", "again").assert_outcomes(passed=1)


def test_two_conftests_with_the_same_metric_name_are_an_error(shop: Project) -> None:
    shop.write("more/conftest.py", CONFTEST)
    shop.test(TESTS, "more/test_more.py")
    result = shop.run_apart()
    assert result.ret != 0
    text = text_of(result)
    assert "the metric name 'Revenue' is already taken by Revenue (conftest.revenue in " in text
    assert "; give another name to the metric of conftest.revenue in " in text
    for folder in ("more", "tests"):
        assert f"{shop.path}/{folder}/conftest.py, line 13" in text


def test_the_name_of_a_built_in_metric_is_taken(shop: Project) -> None:
    shop.write("tests/conftest.py", CONFTEST.replace('"Revenue"', '"RR"'))
    result = shop.run_apart()
    assert result.ret != 0
    assert "the metric name 'RR' is already taken by RR of pytest-rankcheck; give another name" in (
        text_of(result)
    )


def test_the_command_line_knows_a_user_metric_after_an_import(shop: Project) -> None:
    shop.run_apart("--snapshot-update").assert_outcomes(passed=3)

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("COV_")}
        return subprocess.run(
            [sys.executable, "-m", "pytest_rankcheck", *arguments],
            cwd=shop.path,
            env=clean,
            capture_output=True,
            text=True,
            check=False,
        )

    record = "tests/baselines/test_ranking/test_revenue--web.json"
    without = command("show", record)
    assert without.returncode == 2
    assert "for a metric of your own, add --import MODULE" in without.stderr
    shown = command("--import", "tests.conftest", "show", record)
    assert "Revenue(patience=0.5)@10  2.0000" in shown.stdout
    card = command("--import", "tests.conftest", "metrics", "Takings")
    assert card.stdout.startswith("Revenue\n  What a search brings in")
    assert "the function tests.conftest.revenue in " in card.stdout
    wrong = command("--import", "nothere", "metrics")
    assert wrong.returncode == 2
    assert "--import nothere: ModuleNotFoundError: No module named 'nothere'" in wrong.stderr


def test_a_baseline_with_an_unregistered_metric_says_what_to_do(shop: Project) -> None:
    shop.run_apart("--snapshot-update").assert_outcomes(passed=3)
    shop.write("tests/conftest.py", "")
    shop.test(TESTS.replace('"revenue(patience=0.5)@10"', '"RR"'))
    result = shop.run_apart("-k", "test_revenue")
    result.assert_outcomes(failed=1)
    assert (
        "BaselineError: tests/baselines/test_ranking/test_revenue--web.json: its metric "
        "'Revenue(patience=0.5)@10' cannot be read: unknown metric 'Revenue'. If it is one of "
        "yours, import the module that registers it with @metric, in a conftest for example. "
        "The file is left as it is"
    ) in text_of(result)
