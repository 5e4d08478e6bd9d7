"""A metric that a conftest registers: parsed, gated, recorded, reported and law-checked like ours."""

import json

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

@metric("Revenue", aliases=("Takings",), parameters=(PATIENCE,), range=(0, np.inf))
def revenue(hits: JudgedHits, cutoff, *, patience):
    """What a search brings in, if users go on with a probability.

    Formula: sum over i <= k of euros_i * patience^(i-1)

    Use: where grades are what a sale brings in
    """
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


@pytest.mark.usefixtures("own_metrics")
@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS, ids=["alone", "xdist"])
def test_a_user_metric_is_gated_recorded_and_reported(
    shop: Project, workers: tuple[str, ...]
) -> None:
    if workers:  # whose controller collects nothing, and imports no conftest below the first folder
        (shop.path / "tests/conftest.py").unlink()
        (shop.path / "tests/test_ranking.py").unlink()
        shop.write("tests/deep/conftest.py", CONFTEST)
        shop.test(TESTS, "tests/deep/test_ranking.py")
    result = shop.run("--snapshot-update", *workers)
    result.assert_outcomes(passed=3)
    (baseline,) = shop.path.rglob("test_revenue--web.json")
    record = json.loads(baseline.read_text("utf-8"))
    # The relevant document of grade 2 is first in every query.
    assert record["metrics"]["Revenue(patience=0.5)@10"]["mean"] == 2.0
    shop.rank(dict.fromkeys(range(40), 2))
    result = shop.run(*workers, "--rankcheck-json=json", "-k", "not laws")
    result.assert_outcomes(passed=1, failed=1)  # on average 1.8 with a patience of 0.8
    result.stdout.fnmatch_lines(
        [
            "*Revenue(patience=0.5)@10 regressed on golden set 'web'*2.0000 -> 1.5000, -0.5000;*",
            '*q000 "query 0"   2.000 -> 1.000',
            "web         Revenue(patience=0.5)@10    2.0000  1.5000  -0.5000*",
            "*FAILED: regressed*",
        ]
    )
    report = json.loads((shop.path / "json").read_text("utf-8"))
    assert {gate["metric"] for gate in report["gates"]} == {
        "Revenue@10",
        "Revenue(patience=0.5)@10",
    }
    metric_entry = report["measurements"][0]["metrics"]["Revenue(patience=0.5)@10"]
    assert "What a search brings in" in json.dumps(metric_entry)
    approved = ("--snapshot-update", "--rankcheck-approve", "a sale", "-k", "not laws")
    shop.run(*workers, *approved).assert_outcomes(passed=2)


@pytest.mark.slow
def test_a_metric_that_is_no_longer_registered_hides_no_other(shop: Project) -> None:
    both = TESTS.replace('"revenue(patience=0.5)@10"', '["RR", "revenue(patience=0.5)@10"]')
    shop.test(both)
    shop.run_apart("--snapshot-update").assert_outcomes(passed=3)
    record = "tests/baselines/test_ranking/test_revenue--web.json"
    before = json.loads((shop.path / record).read_text("utf-8"))
    shop.write("tests/conftest.py", "")
    shop.test(TESTS.replace('"revenue(patience=0.5)@10"', '"RR"'))
    result = shop.run_apart("-k", "test_revenue")
    result.assert_outcomes(passed=1)
    says = "Revenue(patience=0.5)@10 is in the baseline (2.0000) and not known here"
    assert says in text_of(result)
    shop.run_apart("-k", "test_revenue", "--snapshot-update").assert_outcomes(passed=1)
    after = json.loads((shop.path / record).read_text("utf-8"))
    assert (after["metrics"], after["queries"]) == (before["metrics"], before["queries"])
    shop.rank({0: 2, 1: 2, 2: 2})
    result = shop.run_apart("-k", "test_revenue")
    result.assert_outcomes(failed=1)
    assert "RR regressed" in text_of(result)
    approve = ("-k", "test_revenue", "--rankcheck-approve", "sold to somebody else")
    shop.run_apart(*approve).assert_outcomes(passed=1)
    assert '"metric-gone:Revenue(patience=0.5)@10"' in (shop.path / record).read_text("utf-8")
