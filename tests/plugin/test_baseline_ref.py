"""Baselines of another commit, which a pull request cannot bypass."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from project import MAIN, NEEDS_GIT, REGRESSION_TEST, Project, git, text_of

from pytest_rankcheck import Record
from pytest_rankcheck.baselines.record_writer import record_text

pytestmark = NEEDS_GIT

HEADING = "baselines changed by this branch, compared with main:"
WORSE = {1: 2, 2: 2, 3: 2, 4: 2}
"""A fall of 4 / 2 / 80 = 0.025, more than the 0.01 that the test allows."""


@pytest.fixture
def branched(project: Project) -> Project:
    """A project on a branch, whose main has a baseline of 1.0."""
    project.test()
    project.branch_off()
    return project


def recorded_anew(project: Project) -> None:
    """Lower the baseline without a reason: delete it, and record another."""
    project.baseline_file().unlink()
    project.update()


def test_a_branch_that_changes_no_record_says_so(branched: Project) -> None:
    result = branched.run(*MAIN)
    result.assert_outcomes(passed=1)
    text = text_of(result)
    assert f"{HEADING}\n  none" in text
    branched.rank(WORSE)
    result = branched.run(*MAIN)
    result.assert_outcomes(failed=1)
    assert (
        "baseline: tests/baselines/test_ranking/test_mrr--web.json at main (unchanged)"
        in text_of(result)
    )


def test_a_record_that_the_branch_lowered_does_not_count(branched: Project) -> None:
    branched.rank(WORSE)
    recorded_anew(branched)
    branched.run().assert_outcomes(passed=1)
    result = branched.run(*MAIN)
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert "RR regressed on golden set 'web' (80 queries): 1.0000 -> 0.9750" in text
    assert "tests/baselines/test_ranking/test_mrr--web.json: RR 1.0000 -> 0.9750" in text


def test_a_fall_that_the_branch_approves_with_a_reason_passes_and_is_listed(
    branched: Project,
) -> None:
    branched.rank(WORSE)
    branched.update("--rankcheck-approve", "half the latency")
    for commit in (False, True):
        if commit:
            git(branched.path, "commit", "-qam", "approve")
        result = branched.run(*MAIN, "--rankcheck-markdown=r.md")
        result.assert_outcomes(passed=1)
        assert 'test_mrr--web.json: RR 1.0000 -> 0.9750; approved "half the latency"' in text_of(
            result
        )
        markdown = (branched.path / "r.md").read_text("utf-8")
        assert markdown.startswith(
            "## ⚠️ Ranking quality: 1 gate passed with warnings: 1 approved\n"
        )
        assert "| ⚠️ | web | RR | 1.0000 | 0.9750 | -0.0250 |" in markdown
        assert re.search(r"\| approved.*: \\\"half the latency\\\" \|\n", markdown)
        assert r"### baselines changed by this branch, compared with main" in markdown
        assert r"approved \"half the latency\"" in markdown
    branched.rank({**WORSE, 5: 2, 6: 2})  # more than was approved
    branched.run(*MAIN).assert_outcomes(failed=1)


def test_an_approval_of_another_fall_does_not_count(branched: Project) -> None:
    branched.rank(WORSE)
    branched.update("--rankcheck-approve", "half the latency")
    path = branched.baseline_file()
    record = Record.load(path)
    [approval] = record.approvals
    other = replace(approval, fall={"nDCG@10": {"from": 1.0, "to": 0.5}})
    path.write_text(record_text(replace(record, approvals=(other,))), "utf-8")
    branched.run(*MAIN).assert_outcomes(failed=1)


def test_approvals_of_the_target_branch_cannot_be_dropped(branched: Project) -> None:
    branched.rank({1: 2})
    branched.update("--rankcheck-approve", "the first")
    git(branched.path, "commit", "-qam", "first")
    git(branched.path, "branch", "-f", "main")
    branched.rank({1: 2, **WORSE, 7: 2})
    branched.baseline_file().unlink()
    branched.rank({})
    branched.update()
    branched.rank({1: 2, **WORSE, 7: 2})
    branched.update("--rankcheck-approve", "the second")
    record = Record.load(branched.baseline_file())
    [second] = record.approvals
    invented = replace(record, approvals=(replace(second, reason="invented"), second))
    for text in (record_text(record), record_text(invented)):
        branched.baseline_file().write_text(text, "utf-8")
        result = branched.run(*MAIN)
        result.assert_outcomes(failed=1)
        assert "the earlier approvals differ from those of that commit" in text_of(result)


def test_a_golden_set_that_the_branch_changed_counts_once_it_is_recorded(
    branched: Project,
) -> None:
    branched.golden(branched.queries(90))
    result = branched.run(*MAIN)
    result.assert_outcomes(failed=1)
    assert "RR: golden set 'web' changed, so its baseline is stale" in text_of(result)
    branched.update()
    branched.run(*MAIN).assert_outcomes(passed=1)
    for ranks in ({0: 9, 1: 9, 2: 9}, {0: 2}):  # the second inside the tolerance
        branched.rank(ranks)
        recorded_anew(branched)
        branched.run(*MAIN).assert_outcomes(failed=1)


def test_a_record_that_main_does_not_have_is_compared_and_listed(branched: Project) -> None:
    branched.test(path="tests/test_new.py")
    result = branched.run(*MAIN, "tests/test_new.py")
    result.assert_outcomes(failed=1)
    assert "RR has no baseline" in text_of(result)
    assert branched.run("--snapshot-update").ret == 0
    result = branched.run(*MAIN)
    result.assert_outcomes(passed=2)
    assert "tests/baselines/test_new/test_mrr--web.json: added: RR 1.0000" in text_of(result)


def test_a_record_that_the_branch_removed_fails_its_test_and_is_listed(branched: Project) -> None:
    branched.baseline_file().unlink()
    result = branched.run(*MAIN)
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert "RR on golden set 'web': this branch has deleted its baseline" in text
    assert (
        "to restore it: git checkout main -- tests/baselines/test_ranking/test_mrr--web.json"
        in text
    )
    assert "tests/baselines/test_ranking/test_mrr--web.json: removed (RR 1.0000)" in text
    branched.rank(WORSE)
    branched.run(*MAIN).assert_outcomes(failed=1)


def test_the_baseline_of_a_renamed_test_is_listed(branched: Project) -> None:
    branched.rank(WORSE)
    branched.test(path="tests/test_renamed.py")
    (branched.path / "tests/test_ranking.py").unlink()
    assert branched.run("--snapshot-update").ret == 0
    branched.baseline_file().unlink()
    git(branched.path, "add", "-A", "tests")
    git(branched.path, "commit", "-qm", "rename")
    text = text_of(branched.run(*MAIN))
    assert "tests/baselines/test_ranking/test_mrr--web.json: removed (RR 1.0000)" in text
    assert "tests/baselines/test_renamed/test_mrr--web.json: added: RR 0.9750" in text


def test_a_record_that_the_branch_broke_fails_its_test_and_is_listed(branched: Project) -> None:
    text = branched.baseline_file().read_text("utf-8")
    branched.baseline_file().write_text(text.replace('"depth": 100', '"depth": 10'), "utf-8")
    result = branched.run(*MAIN)
    result.assert_outcomes(failed=1)
    assert (
        "test_mrr--web.json: changed, but cannot be read: test_mrr--web.json: this baseline was edited"
        in (text_of(result))
    )


@pytest.mark.slow
def test_workers_compare_with_the_commit(branched: Project) -> None:
    pytest.importorskip("xdist")
    branched.rank(WORSE)
    recorded_anew(branched)
    result = branched.run(*MAIN, "-n", "2")
    result.assert_outcomes(failed=1)
    assert HEADING in text_of(result)


@pytest.mark.parametrize("ref", ["origin/nowhere", "--output=x", "main:tests", ""])
def test_an_unknown_commit_is_a_usage_error(branched: Project, ref: str) -> None:
    result = branched.run(f"--rankcheck-baseline-ref={ref}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = text_of(result)
    assert f"--rankcheck-baseline-ref {ref}: git does not find it" in text
    assert not (branched.path / "x").exists()
    if "/" in ref:
        assert "fetch it first, with git fetch origin nowhere" in text


def test_a_shallow_clone_says_so(branched: Project, tmp_path: Path) -> None:
    git(branched.path, "commit", "-qam", "more", "--allow-empty")
    clone = tmp_path / "clone"
    git(branched.path, "clone", "-q", "--depth=1", f"file://{branched.path}", str(clone))
    result = branched.pytester.runpytest_inprocess(
        "--rootdir", str(clone), str(clone), "--rankcheck-baseline-ref", "origin/main"
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "this is a shallow clone without that commit" in text_of(result)
    assert "actions/checkout: fetch-depth: 0" in text_of(result)


def test_a_missing_repository_or_git_is_reported(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.test()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.path.parent))
    text = text_of(project.run(*MAIN))
    assert "is not in a git repository; run pytest in a clone" in text
    monkeypatch.setenv("PATH", "")
    text = text_of(project.run(*MAIN))
    assert "git cannot be run: git is not installed; install git" in text


def test_a_reference_commit_and_an_update_exclude_each_other(branched: Project) -> None:
    result = branched.run(*MAIN, "--snapshot-update")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--rankcheck-baseline-ref compares with what another commit has approved" in text_of(
        result
    )


RANKINGS_TEST = """
from pytest_rankcheck import assert_ranking_stable

def test_mrr(ranking_run, baseline):
    assert_ranking_stable(ranking_run, baseline)
"""


@pytest.fixture
def branched_rankings(project: Project) -> Project:
    """A project on a branch, whose main has a baseline of rankings."""
    project.test(RANKINGS_TEST)
    project.update()
    git(project.path, "init", "-q", "-b", "main")
    git(project.path, "add", "golden", "tests", "engine.py", "pyproject.toml")
    git(project.path, "commit", "-q", "-m", "main")
    return project


def test_approved_rankings_are_compared_with_those_of_the_reference(
    branched_rankings: Project,
) -> None:
    branched_rankings.rank({3: 9})
    branched_rankings.run(*MAIN).assert_outcomes(failed=1)
    recorded_anew(branched_rankings)
    branched_rankings.run(*MAIN).assert_outcomes(failed=1)
    git(branched_rankings.path, "checkout", "-q", "--", "tests")
    branched_rankings.update("--rankcheck-approve", "a new index")
    result = branched_rankings.run(*MAIN)
    result.assert_outcomes(passed=1)
    text = text_of(result)
    assert "(80 queries): 1 of 80 rankings changed; RBO of the top 10: " in text
    assert re.search(r'; approved.*: "a new index"\n', text)


def test_rankings_of_a_changed_golden_set_need_no_reason(branched_rankings: Project) -> None:
    branched_rankings.golden(branched_rankings.queries(84))
    branched_rankings.run(*MAIN).assert_outcomes(failed=1)
    branched_rankings.update()
    branched_rankings.run(*MAIN).assert_outcomes(passed=1)
    branched_rankings.rank({3: 9})
    branched_rankings.run(*MAIN).assert_outcomes(failed=1)


def test_changed_limits_of_rankings_are_listed(branched_rankings: Project) -> None:
    branched_rankings.test(RANKINGS_TEST.replace("baseline)\n", "baseline, min_rbo=0.95)\n"))
    branched_rankings.update()
    result = branched_rankings.run(*MAIN)
    result.assert_outcomes(passed=1)
    text = "rankings limited by min_rbo=0.9, p=0.9, k=10 -> rankings limited by min_rbo=0.95, p=0.9, k=10"
    assert text in text_of(result)


def test_a_deleted_baseline_of_rankings_is_restored_or_retired(branched_rankings: Project) -> None:
    branched_rankings.baseline_file().unlink()
    result = branched_rankings.run(*MAIN)
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert "the rankings on golden set 'web' (80 queries): this branch has deleted their" in text
    assert "to restore it: git checkout main -- tests/baselines/test_ranking/test_mrr--web" in text


def main_moves_on(branched: Project, *arguments: str) -> None:
    """Let main record another result after the branch has left it; the branch stays as it is."""
    git(branched.path, "stash", "-q", "-u")
    git(branched.path, "checkout", "-q", "main")
    branched.update(*arguments)
    git(branched.path, "commit", "-qam", "main moves on")
    git(branched.path, "checkout", "-q", "feature")
    git(branched.path, "stash", "pop", "-q")


def test_a_branch_that_main_has_overtaken_is_told_to_merge_main(branched: Project) -> None:
    """Main has approved a fall; the branch knows nothing of it and has changed no baseline."""
    branched.rank(WORSE)
    branched.write(".gitignore", "ranks.json\nrankcheck*\n.hypothesis\n")
    main_moves_on(branched, "--rankcheck-approve", "half the latency")
    branched.rank(WORSE)
    result = branched.run(*MAIN)
    result.assert_outcomes(passed=1)
    assert f"{HEADING}\n  none" in text_of(result)
    branched.rank({**WORSE, 5: 2, 6: 2})
    result = branched.run(*MAIN)
    result.assert_outcomes(failed=1)
    assert (
        "baseline of this branch: older than that of the reference, which has changed since: "
        "merge that first" in text_of(result)
    )


def test_a_gate_that_main_has_added_since_is_listed(branched: Project) -> None:
    """It comes with the merge, so the branch need not run it, but people should know."""
    branched.write(".gitignore", "ranks.json\nrankcheck*\n.hypothesis\n")
    git(branched.path, "stash", "-q", "-u")
    git(branched.path, "checkout", "-q", "main")
    branched.test(REGRESSION_TEST.replace("test_mrr", "test_new"), "tests/test_new.py")
    branched.update()
    git(branched.path, "add", "tests")
    git(branched.path, "commit", "-qm", "gate more")
    git(branched.path, "checkout", "-q", "feature")
    git(branched.path, "stash", "pop", "-q")
    result = branched.run(*MAIN)
    assert result.ret == 0, text_of(result)
    result.stdout.fnmatch_lines(
        [
            "baselines whose gates did not run*",
            "  tests/baselines/test_new/test_new--web.json (RR): *added it since*, so merge *",
        ]
    )
