"""What a first update and approvals write, besides what the table of states says."""

from functools import partial
from pathlib import Path

import pytest
from gated_test import GatedTest
from project import Project, git

from pytest_rankcheck import assert_ndcg_not_regressed

REGRESSED = {0: 2, 1: 2}
"""Two queries of 80 fall to rank 2: the mean reciprocal rank by 0.0125."""


@pytest.fixture
def gated(tmp_path: Path) -> GatedTest:
    return GatedTest(tmp_path)


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
