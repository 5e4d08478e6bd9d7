"""What a first update and approvals write, besides what the table of states says."""

from functools import partial
from pathlib import Path

import pytest
from gated_test import GatedTest
from project import Project, git

from pytest_rankcheck import Conventions, assert_ndcg_not_regressed

REGRESSED = {0: 2, 1: 2}
"""Two queries of 80 fall to rank 2: the mean reciprocal rank by 0.0125."""


@pytest.fixture
def gated(tmp_path: Path) -> GatedTest:
    return GatedTest(tmp_path)


def test_no_record_fails_and_an_update_writes_it(gated: GatedTest) -> None:
    outcome = gated.run()
    assert not outcome.passed
    assert "RR has no baseline on golden set 'web'; it is 1.0000 now" in outcome.text
    assert "test_mrr--web.json (if you have it, commit it)" in outcome.text
    assert "to create it: pytest tests/test_ranking.py::test_mrr --snapshot-update" in outcome.text
    assert not gated.path.exists()
    assert "test_mrr: created" in gated.run(update=True).text
    gate = {"mean": 1.0, "counted": 80, "gated": True, "gate": "tolerance(abs=0.01, rel=0)"}
    assert gated.record["metrics"] == {"RR": gate}
    assert gated.record["golden_set"]["queries"] == len(gated.record["queries"]) == 80


def test_an_approval_adds_its_keys_and_reason(gated: GatedTest) -> None:
    gated.update()
    for fallen, reason in ((REGRESSED, "new tokenizer"), ({0: 3, 1: 2}, "and a smaller index")):
        gated.rank(fallen)
        outcome = gated.run(approve=reason)
        assert f'test_mrr: approved "{reason}": RR' in outcome.text
    first, second = gated.record["approvals"]
    assert (first["reason"], second["reason"]) == ("new tokenizer", "and a smaller index")
    assert first["keys"] == {"fall:RR": {"from": 1.0, "to": 0.9875}}
    assert second["keys"] == {"fall:RR": {"from": 0.9875, "to": 0.985416662}}
    assert set(first) == {"reason", "date", "commit", "author", "keys"}
    gated.run(approve="half the latency")
    assert [entry["reason"] for entry in gated.record["approvals"]] == [
        *("new tokenizer", "half the latency")
    ], "not merged, so the reason is replaced"


def test_an_approval_says_what_it_allows(gated: GatedTest) -> None:
    gated.update()
    gated.depth = 50
    gated.conventions = {"conventions": Conventions(no_relevant="exclude")}
    gated.run(approve="shallow")
    keys = gated.record["approvals"][-1]["keys"]
    assert keys["depth"] == {"from": 100, "to": 50}
    assert keys["convention:no_relevant"] == {"from": "zero", "to": "exclude"}


def test_the_command_line_approves_and_names_commit_and_author(project: Project) -> None:
    project.test()
    project.branch_off()
    git(project.path, "config", "user.name", "Ada")
    git(project.path, "config", "user.email", "ada@example.org")
    project.rank(REGRESSED)
    result = project.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*update refused: RR regressed*", "*1 snapshot failed*"])
    project.run("--rankcheck-approve", "why").assert_outcomes(passed=1)
    (approval,) = project.record()["approvals"]
    commit = git(project.path, "rev-parse", "HEAD").strip()
    assert (approval["commit"], approval["author"]) == (commit, "Ada <ada@example.org>")


def test_the_approved_lines_stay_where_a_golden_set_grows(gated: GatedTest) -> None:
    gated.update()
    approved = gated.record["queries"]
    gated.golden(Project.queries(81)[1:])
    gated.rank({0: 2})
    gated.update()
    assert gated.record["queries"][:-1] == approved[1:]


@pytest.mark.filterwarnings("ignore::pytest_rankcheck.MetricWarning")
def test_another_gain_is_another_metric_and_the_lines_of_the_first_stay(gated: GatedTest) -> None:
    for gain in ("linear", "exponential"):
        gated.assertions = (partial(assert_ndcg_not_regressed, k=10, gain=gain),)
        assert not gated.run().passed
        gated.update()
    assert [(name, metric["gated"]) for name, metric in gated.record["metrics"].items()] == [
        ("nDCG(gain=exponential)@10", True),
        ("nDCG@10", False),
    ]
