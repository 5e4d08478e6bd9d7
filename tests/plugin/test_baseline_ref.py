"""Baselines of another commit, which a pull request cannot bypass."""

import re
import shlex
from pathlib import Path

import pytest
from project import MAIN, NEEDS_GIT, Project, git, text_of

from pytest_rankcheck.baselines.reference_commit import Reference

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
        assert "| RR | web | 1.0000 | 0.9750 | -0.0250 | approved" in markdown
        assert re.search(r"\| approved.*: \"half the latency\" \| tests/", markdown)
        assert r"### baselines changed by this branch, compared with main" in markdown
        assert '; approved "half the latency" (' in markdown
    branched.rank({**WORSE, 5: 2, 6: 2})  # more than was approved
    branched.run(*MAIN).assert_outcomes(failed=1)


def test_an_unknown_commit_is_a_usage_error(branched: Project) -> None:
    for ref in ("origin/nowhere", "--output=x", "main:tests"):
        result = branched.run(f"--rankcheck-baseline-ref={ref}")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        text = text_of(result)
        assert f"baseline-ref {ref}: git does not find it" in text
        assert not (branched.path / "x").exists()
        assert "git fetch" not in text, "there is nowhere to fetch from"


def test_a_reference_without_a_branch_is_a_usage_error(branched: Project) -> None:
    git(branched.path, "remote", "add", "origin", "elsewhere")
    for ref in ("origin/", ""):
        result = branched.run(f"--rankcheck-baseline-ref={ref}")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert f"baseline-ref {ref}: it names no branch; variables such as" in text_of(result)
        assert "git fetch" not in text_of(result), "that would be refused"


@pytest.mark.parametrize("name", ["origin/main", "main"])
@pytest.mark.parametrize("depth", [(), ("--depth=1",)], ids=["whole", "shallow"])
def test_a_clone_without_the_branch_prints_how_to_fetch_it(
    branched: Project,
    tmp_path: Path,
    name: str,
    depth: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clone, source = tmp_path / "clone", f"file://{branched.path}"
    git(branched.path, "clone", "-q", "--single-branch", *depth, source, str(clone))
    (clone / "ranks.json").write_text("{}")
    command = ["--rootdir", str(clone), str(clone), "--rankcheck-baseline-ref", name]
    monkeypatch.chdir(clone)
    result = branched.pytester.runpytest_inprocess(*command)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = text_of(result)
    assert ("shallow clone" in text) == bool(depth)
    fetch = next(line for line in text.splitlines() if "to fetch it: " in line)
    git(clone, *shlex.split(fetch.partition(": ")[2])[1:])
    assert branched.pytester.runpytest_inprocess(*command).ret == 0


def test_a_missing_repository_or_git_is_reported(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.test()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.path.parent))
    text = text_of(project.run(*MAIN))
    assert "not a git repository" in text
    monkeypatch.setenv("PATH", "")
    text = text_of(project.run(*MAIN))
    assert "git is not installed; install git and run pytest in a clone" in text


def test_an_approval_with_a_reference_has_the_keys_that_the_reference_needs(
    branched: Project,
) -> None:
    """The branch has raised its record in the meantime, and falls below that of main."""
    branched.rank({})
    branched.update()
    branched.rank(WORSE)
    branched.run(*MAIN, "--rankcheck-approve", "half the latency").assert_outcomes(passed=1)
    branched.run(*MAIN).assert_outcomes(passed=1)


def test_line_ends_of_the_checkout_are_no_change(branched: Project) -> None:
    file = branched.baseline_file()
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    before = file.read_bytes()
    result = branched.run(*MAIN)
    assert "1 snapshot passed" in text_of(result)
    assert f"{HEADING}\n  none" in text_of(result)
    text = text_of(branched.run("--snapshot-update"))
    assert "baselines written" not in text
    assert "1 snapshot passed" in text
    assert file.read_bytes() == before


def test_foreign_files_in_a_folder_of_this_name_are_not_ours(branched: Project) -> None:
    branched.write("tests/baselines/load/by--web.json", '{"requests": 3}')
    branched.write("tests/baselines/load/requests.json", "3 a second")
    result = branched.run(*MAIN)
    assert result.ret == 0
    assert f"{HEADING}\n  none" in text_of(result)
    git(branched.path, "add", "tests")
    git(branched.path, "commit", "-qam", "load")
    git(branched.path, "branch", "-f", "main")
    result = branched.run(*MAIN)
    assert result.ret == 0
    assert "did not run" not in text_of(result)


def test_a_test_outside_of_the_repository_is_an_error(branched: Project, tmp_path: Path) -> None:
    file = tmp_path / "test_elsewhere.py"
    file.write_text((branched.path / "tests/test_ranking.py").read_text("utf-8"), "utf-8")
    result = branched.run(*MAIN, str(file), "-c", "pyproject.toml")
    result.assert_outcomes(failed=1)
    assert "test_mrr--web.json is not in" in text_of(result)


def test_a_name_of_two_refs_is_an_error(branched: Project) -> None:
    path = branched.path
    git(path, "tag", "main")
    git(path, "update-ref", "refs/remotes/origin/main", "main")
    git(path, "tag", "origin/main")
    for name, refs in (
        ("main", "refs/tags/main or refs/heads/main"),
        ("origin/main", "refs/tags/origin/main or refs/remotes/origin/main"),
    ):
        result = branched.run("--rankcheck-baseline-ref", name)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert f"{name}: the repository has 2 refs of this name; write {refs}" in text_of(result)
    assert branched.run("--rankcheck-baseline-ref=refs/heads/main").ret == 0


def test_a_shallow_clone_of_a_merge_knows_what_was_merged(
    branched: Project, tmp_path: Path
) -> None:
    """That is what CI checks out; the parents are named there, but have no history."""
    path, clone = branched.path, tmp_path / "clone"
    git(path, "commit", "-q", "--allow-empty", "-m", "a change")
    git(path, "checkout", "-q", "-b", "merged", "main")
    git(path, "merge", "-q", "--no-ff", "-m", "merge", "feature")
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=merged", f"file://{path}", str(clone))
    git(clone, "fetch", "-q", "--depth=1", "origin", "main:refs/remotes/origin/main")
    reference = Reference.of("origin/main", clone)
    assert reference.bases == (reference.commit,)
    git(clone, "checkout", "-q", "--orphan", "other")
    git(clone, "commit", "-qm", "no parent")
    reference = Reference.of("origin/main", clone)
    assert reference.bases == ()
    assert str(reference.missing_history) == (
        "to fetch the history (in CI: fetch-depth: 0): git fetch --unshallow origin"
    )
