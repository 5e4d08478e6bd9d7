"""Tests that are renamed or moved: their new baselines continue the old ones."""

import pytest
from project import MAIN, NEEDS_GIT, REGRESSION_TEST, Project, git, text_of

pytestmark = NEEDS_GIT

HEADING = "baselines that take the place of those of tests that are gone:"
FOLDER = "tests/baselines/test_ranking"
WORSE = dict.fromkeys(range(20), 10)
RENAMED = REGRESSION_TEST.replace("test_mrr", "test_first_hit")


@pytest.fixture
def branched(project: Project) -> Project:
    """A project on a branch, whose main has a baseline of 0.9375."""
    project.rank(dict.fromkeys(range(70, 80), 2))
    project.test()
    project.branch_off()
    return project


@pytest.mark.parametrize("old_file", ["stays", "is deleted"])
def test_an_equal_baseline_continues_the_old_one(branched: Project, old_file: str) -> None:
    branched.test(RENAMED)
    assert branched.run("--snapshot-update").ret == 0
    if old_file == "is deleted":
        branched.baseline_file().unlink()
    result = branched.run(*MAIN)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            HEADING,
            f"  {FOLDER}/test_first_hit--web.json takes the place of {FOLDER}/test_mrr--web.json (*",
        ]
    )
    assert "did not run" not in text_of(result)


def test_a_lower_baseline_is_blocked(branched: Project) -> None:
    branched.test(RENAMED)
    branched.rank(WORSE)
    assert branched.run("--snapshot-update").ret == 0
    for arguments in ((), ("tests/test_ranking.py",)):
        result = branched.run(*MAIN, *arguments)
        assert result.ret == 1
        assert HEADING not in text_of(result)
        result.stdout.fnmatch_lines(["  FAILED: *test_mrr--web.json (RR): its test is gone; *"])


def test_a_moved_module_continues_its_baselines(branched: Project) -> None:
    (branched.path / "tests").rename(branched.path / "search")
    assert branched.run(*MAIN).ret == 0
    (branched.path / "search/test_ranking.py").rename(branched.path / "search/test_first.py")
    folder = branched.path / "search/baselines"
    (folder / "test_ranking").rename(folder / "test_first")
    result = branched.run(*MAIN)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [HEADING, f"  search/baselines/test_first/test_mrr--web.json takes the place of {FOLDER}/*"]
    )


def test_a_new_baseline_continues_one_old_one(branched: Project) -> None:
    branched.test(REGRESSION_TEST.replace("test_mrr", "test_also"), "tests/test_more.py")
    branched.update()
    git(branched.path, "add", "tests")
    git(branched.path, "commit", "-qm", "more")
    git(branched.path, "branch", "-f", "main")
    (branched.path / "tests/test_more.py").unlink()
    branched.test(RENAMED)
    assert branched.run("--snapshot-update").ret == 0
    result = branched.run(*MAIN)
    assert result.ret == 1
    text = text_of(result)
    assert text.count("takes the place of") == 1
    assert text.count("is gone") == 2, "one is replaced, and one is missing"
