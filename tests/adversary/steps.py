"""What a branch does, as values: the steps of the attempts' table."""

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from operator import methodcaller
from subprocess import CalledProcessError
from typing import Any

import pytest
from project import git
from pull_request import FALLEN, MAIN_RANKS, WORSE_RANKS, PullRequest, Ranks
from record_entries import Entry

Step = Callable[[PullRequest], object]

TEST = "tests/test_ranking.py"
OTHER_TEST = "\ndef test_other():\n    pass\n"


worse: Step = methodcaller("rank", WORSE_RANKS)
anew: Step = methodcaller("record_anew")
merge: Step = methodcaller("merge")
forget: Step = methodcaller("forget_records")
tag_main: Step = methodcaller("tag", "main")

write = partial(methodcaller, "write")
configure = partial(methodcaller, "configure")
move = partial(methodcaller, "move")
drop = partial(methodcaller, "drop")
queries = partial(methodcaller, "edit_queries")
record = partial(methodcaller, "edit_record")
retire = partial(methodcaller, "retire")


def update(branch: PullRequest) -> None:
    """Update the baselines, which must pass."""
    outcome = branch.update()
    assert outcome.passed, outcome.terminal


def rank(ranks: Ranks) -> Step:
    """Set the rank of some documents; the others are as on main."""
    return lambda branch: branch.rank({**branch.main_ranks, **ranks})


def approve(reason: str = "a faster index", *arguments: str) -> Step:
    return lambda branch: branch.approve(reason, *arguments)


def edit(old: str, new: str, path: str = TEST) -> Step:
    return lambda branch: branch.edit(path, old, new)


def new_test(text: str, path: str = TEST) -> Step:
    return lambda branch: branch.test(text, path)


def addopts(*words: str) -> Step:
    """Add another test and options to ``addopts``."""
    return lambda branch: (
        branch.test(OTHER_TEST, "tests/test_other.py"),
        branch.configure(f"addopts = {list(words)}"),
    )


def delete(*paths: str) -> Step:
    return lambda branch: [branch.delete(path) for path in paths]


def link(path: str, target: str) -> Step:
    """Move a folder, and leave a symbolic link to it."""

    def move_and_link(branch: PullRequest) -> None:
        branch.move(path, target)
        relative = os.path.relpath(branch.path / target, (branch.path / path).parent)
        (branch.path / path).symlink_to(relative, target_is_directory=True)

    return move_and_link


def step_wise(branch: PullRequest) -> None:
    """Commit a cache with which ``--sw`` starts at the second test, and put that in ``addopts``."""
    branch.test("def test_other():\n    assert False\n", "tests/test_z.py")
    branch.rank(MAIN_RANKS)
    branch.ci_arguments = ("-p", "cacheprovider", "-p", "stepwise")
    branch.run("--sw", *branch.ci_arguments)
    branch.rank(WORSE_RANKS)
    branch.test("def test_other():\n    pass\n", "tests/test_z.py")
    branch.delete(".pytest_cache/.gitignore")
    branch.configure('addopts = ["--sw"]')


def golden(queries: int) -> Step:
    """Write a golden set of another size."""
    return lambda branch: branch.golden(branch.project.queries(queries))


def mark(*lines: str) -> Step:
    """Put lines before the test."""
    return edit("\ndef test_mrr", "\n".join(["", "import pytest", *lines, "def test_mrr"]))


def lower(entry: Entry) -> None:
    """Write the values of the worse ranker into a record."""
    for line in entry["queries"][: len(FALLEN)]:
        line["values"]["RR"] = 0.1


def set_metric(**values: object) -> Callable[[Entry], object]:
    return lambda entry: entry["metrics"]["RR"].update(values)


def set_keys(keys: Mapping[str, object]) -> Callable[[Entry], object]:
    return lambda entry: entry["approvals"][0].update(keys=keys)


def log(*ranks: int | None, week: int = 2, **more: Any) -> Step:
    """Write a session log, in which users selected these ranks."""

    def write_log(branch: PullRequest) -> None:
        rows = [
            {
                "session_id": f"week{week}-{number}",
                "event": 0,
                "time": 1_700_000_000 + number,
                "query": f"query {number}",
                "results": [f"d{place}" for place in range(30)],
                "selected_rank": selected,
                **{name: values[number % len(values)] for name, values in more.items()},
            }
            for number, selected in enumerate(ranks)
        ]
        branch.write("logs/week.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    return write_log


def commit_to_main(branch: PullRequest) -> None:
    """Commit what the branch has to main, whatever CI says."""
    branch.commit()
    git(branch.path, "branch", "-f", "main")


def ci_runs(*arguments: str) -> Step:
    """Let CI give more to pytest than the reference."""
    return lambda branch: setattr(branch, "ci_arguments", arguments)


def on_main(*steps: Step) -> Step:
    """Let main do something after the branch has left it, and commit it."""

    def commit(branch: PullRequest) -> None:
        branch.commit()
        git(branch.path, "checkout", "-q", "main")
        for step in steps:
            step(branch)
        branch.commit()
        git(branch.path, "checkout", "-q", "feature")

    return commit


def squash(branch: PullRequest) -> None:
    """Merge the branch into main as one commit, and go on with it."""
    branch.commit()
    git(branch.path, "checkout", "-q", "main")
    git(branch.path, "merge", "-q", "--squash", "feature")
    git(branch.path, "commit", "-qm", "squash")
    git(branch.path, "checkout", "-q", "feature")


def cherry_pick(branch: PullRequest) -> None:
    """Take the last commit of main over, as it is there."""
    git(branch.path, "cherry-pick", "main")


def criss_cross(branch: PullRequest) -> None:
    """Merge main and the branch into each other, each as it was before: two merge bases."""
    branch.commit()
    ours = git(branch.path, "rev-parse", "HEAD").strip()
    git(branch.path, "merge", "-q", "--no-ff", "-m", "main", "main")
    git(branch.path, "checkout", "-q", "main")
    git(branch.path, "merge", "-q", "--no-ff", "-m", "branch", ours)
    git(branch.path, "checkout", "-q", "feature")


def checkout_of_the_merge(branch: PullRequest) -> None:
    """Check out what merging would make, as CI does."""
    branch.commit()
    git(branch.path, "checkout", "-q", "--detach", "main")
    git(branch.path, "merge", "-q", "--no-ff", "-m", "merge", "feature")


def cut_history(branch: PullRequest) -> None:
    """Make the repository a shallow clone of the last commits of both branches."""
    branch.commit()
    git(branch.path, "remote", "add", "origin", "elsewhere")
    commits = git(branch.path, "rev-parse", "main", "HEAD")
    branch.write(".git/shallow", commits)


def remote_main(branch: PullRequest) -> None:
    """Know main as that of a remote, and make a branch of the same name."""
    git(branch.path, "update-ref", "refs/remotes/origin/main", "main")
    branch.commit()
    git(branch.path, "branch", "origin/main")


def submodule(branch: PullRequest) -> None:
    """Turn the folder of baselines into a submodule."""
    folder = branch.path / "tests/baselines"
    git(folder, "init", "-q", "-b", "main", "--template=")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "records")
    git(branch.path, "rm", "-rq", "--cached", "tests/baselines")
    git(branch.path, "add", "tests/baselines")


def large_files(branch: PullRequest) -> None:
    """Keep a pointer of Git LFS in git, in place of the record."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    branch.write(branch.record_path, pointer)


def byte_order_mark(branch: PullRequest) -> None:
    """Save the record with an editor that marks UTF-8."""
    file = branch.path / branch.record_path
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())


def windows_line_ends(branch: PullRequest) -> None:
    """Let git check out text with CR and LF."""
    branch.commit()
    git(branch.path, "config", "core.autocrlf", "true")
    git(branch.path, "rm", "-rq", "--cached", ".")
    git(branch.path, "reset", "-q", "--hard")
    assert b"\r\n" in (branch.path / branch.record_path).read_bytes()


def revert(branch: PullRequest) -> None:
    """Revert what was merged last."""
    git(branch.path, "revert", "--no-edit", "HEAD")


def conflict(branch: PullRequest) -> None:
    """Merge main, which conflicts, and take the ranker of this branch."""
    branch.commit()
    with pytest.raises(CalledProcessError):
        git(branch.path, "merge", "main")
    git(branch.path, "checkout", "--ours", "ranks.json")


def main_moves_on(branch: PullRequest) -> None:
    """Let main raise its baseline after the branch has left it; both rankers are as good."""
    git(branch.path, "checkout", "-q", "main")
    rank(dict.fromkeys(range(70, 79), 1))(branch)
    update(branch)
    git(branch.path, "commit", "-qam", "better")
    git(branch.path, "checkout", "-q", "feature")
    rank(dict.fromkeys(range(70, 79), 1))(branch)
