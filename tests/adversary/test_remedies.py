"""Every command that is printed works: CI is green after it, or prints the next one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError

import pytest
from attempts import (
    FLATTERING,
    NEW_IDS,
    NO_TEST,
    RECALL,
    RENAMED,
    RENAMED_SET,
    RR,
    SMALL,
    approved_once,
    by_locale,
    cut_short,
    edit_clumsily,
    first_rank,
    gated,
    second_golden_set,
    stable,
)
from printed_commands import mend, printed_commands, type_in
from project import git
from pull_request import Main, PullRequest, Repositories, one_gate
from steps import (
    Step,
    anew,
    approve,
    configure,
    drop,
    edit,
    forget,
    golden,
    lower,
    mark,
    merge,
    new_test,
    rank,
    record,
    retire,
    set_metric,
    update,
    worse,
)

UPDATE, APPROVE, RESTORE = "--snapshot-update", "--rankcheck-approve", "git checkout main"
RETIRE, MERGE, REMOVE = "retire", "git merge main", "git rm"
DELETE = "git rm"


@dataclass(frozen=True)
class Situation:
    """What a branch did, and what its commands are."""

    text: str
    steps: tuple[Step, ...]
    commands: tuple[str, ...] = ()
    """A part of each command that is printed, one after the other."""
    main: Main = one_gate

    def __str__(self) -> str:
        return self.text


def undecided(main: PullRequest) -> None:
    """RR must not be inferior by 0.035, which equal results are not."""
    main.test(
        gated('assert_not_regressed(evaluation, baseline, "RR", gate=Gate.noninferior(0.035))')
    )
    main.configure('rankcheck_inconclusive = "fail"')


def one_rr(main: PullRequest) -> None:
    """The test gates RR, in another line than the usual one."""
    main.test(gated(RR))


def ndcg(main: PullRequest) -> None:
    """The test gates nDCG@10."""
    main.test(gated('assert_not_regressed(evaluation, baseline, "nDCG@10", abs=0.01)'))


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


def conflict(branch: PullRequest) -> None:
    """Merge main, which conflicts, and take the ranker of this branch."""
    branch.commit()
    with pytest.raises(CalledProcessError):
        git(branch.path, "merge", "main")
    git(branch.path, "checkout", "--ours", "ranks.json")


def to_main(branch: PullRequest) -> None:
    """Bring the branch to main past CI."""
    branch.commit()
    git(branch.path, "branch", "-f", "main")


def revert(branch: PullRequest) -> None:
    """Revert what was merged last."""
    git(branch.path, "revert", "--no-edit", "HEAD")


def old_version(branch: PullRequest) -> None:
    branch.edit(branch.record_path, '"version": 4', '"version": 3')


def cut_other_short(branch: PullRequest) -> None:
    """Cut the record short that main does not have, and commit it."""
    cut_new_short(branch)
    branch.commit()


def cut_new_short(branch: PullRequest) -> None:
    """Cut the record short that main does not have."""
    branch.write(new_record(branch), "{")


def new_record(branch: PullRequest) -> str:
    """Return the path of the record that main does not have."""
    return next(path for path in branch.records() if "test_new" in path)


def stage(branch: PullRequest) -> None:
    """Add everything to git's index."""
    git(branch.path, "add", "-A")


NEW_FILE = "tests/test_new.py"
ANOTHER = new_test(gated(RR, name="test_new"), NEW_FILE)
NOISY = new_test(
    gated(RR.replace("abs=0.01", "gate=Gate.tolerance(abs=0.01, noise=3)"), name="test_new"),
    NEW_FILE,
)
BETTER, APART = rank({79: 1}), rank({78: 1})
WORST = rank(dict.fromkeys(range(40), 10))
SMALLER = rank({**dict.fromkeys(range(20), 10), 21: 2})
REVERSED = edit("return ranking", "return ranking[::-1]", "engine.py")
GROWN = golden(100)
TO_5 = edit("nDCG@10", "nDCG@5")
WIDE = set_metric(gate="tolerance(abs=0.5)")
OTHER_REASON = record(lambda entry: entry["approvals"][0].update(reason="it was fine"))
NO_RELEVANT = configure('rankcheck_conventions = ["no_relevant=exclude"]')
REMOVED_TEST = (NO_TEST, lambda branch: branch.delete("tests/test_ranking.py"))


SITUATIONS = (
    # Tests.
    Situation("a new test", (new_test(gated(RR, name="test_new"), NEW_FILE),), (UPDATE,)),
    Situation("a metric is added", (edit(RR, RR + "\n    " + RECALL),), (UPDATE,), one_rr),
    Situation("a test is renamed", (RENAMED,), (UPDATE, DELETE)),
    Situation(
        "a test of rankings is renamed", (edit("test_same", "test_b"),), (UPDATE, DELETE), stable
    ),
    Situation(
        "a test is renamed after a recorded removal of a query",
        (drop([3]), update, merge, RENAMED),
        (UPDATE, DELETE),
    ),
    Situation("a test is renamed, and worse", (RENAMED, worse), (UPDATE, RETIRE)),
    Situation("a test is removed", REMOVED_TEST, (RETIRE,)),
    Situation("a test is removed with its record", (*REMOVED_TEST, forget), (RETIRE,)),
    Situation("a test is skipped", (mark("@pytest.mark.skip"),), (RETIRE,)),
    Situation("another cutoff", (TO_5,), (UPDATE, APPROVE), ndcg),
    Situation("another cutoff, updated", (TO_5, update), (APPROVE,), ndcg),
    Situation("no slices", (edit(', by="locale"', ""),), (), by_locale),
    Situation("no limits", (new_test(gated("pass", name="test_same")),), (RETIRE,), stable),
    Situation("looser limits", (edit("0.85", "0.1"), worse), (APPROVE,), stable),
    Situation("a looser gate", (edit("0.01", "0.5"), worse), (APPROVE,)),
    Situation("a looser gate that is not needed", (edit("0.01", "0.5"), update), ()),
    Situation("a new test whose gate needs noise", (NOISY,), ("--rankcheck-repeat 5",)),
    # What is worse.
    Situation("a fall", (worse,), (APPROVE,)),
    Situation("a fall of a slice", (worse,), (APPROVE,), by_locale),
    Situation("it is inconclusive", (rank({0: 10, 1: 10}),), (APPROVE,), undecided),
    Situation("rankings change", (worse,), (APPROVE,), stable),
    Situation("values are missing", (rank(dict.fromkeys(range(10, 80))),), (APPROVE,), first_rank),
    Situation("an approved fall", (worse, approve()), ()),
    Situation("an approved fall, and a further one", (worse, approve(), WORST), (APPROVE,)),
    Situation("an approved fall, merged, and a small one", (worse, approve(), merge, SMALLER), ()),
    Situation("a reason is reworded", (worse, approve(), approve("reworded")), ()),
    Situation("a fall below a record that is raised", (BETTER, update, worse), (APPROVE,)),
    Situation("a revert of an approved fall", (worse, approve(), merge, revert), ()),
    # The golden set.
    Situation("the golden set grows", (GROWN,), (UPDATE,)),
    Situation("it grows, and main is below its best", (SMALL, merge, GROWN), (UPDATE,)),
    Situation("it grows, and a fall", (GROWN, worse), (APPROVE,)),
    Situation("few queries are removed", (drop(range(2)),), (UPDATE,)),
    Situation("many queries are removed", (drop(range(10)),), (APPROVE,)),
    Situation("many queries are edited", (FLATTERING,), (APPROVE,)),
    Situation("all queries get new ids", (NEW_IDS,), (APPROVE,)),
    Situation("many queries are removed, anew", (drop(range(10)), anew), (APPROVE,)),
    Situation("a revert of 20 added queries", (GROWN, update, merge, revert), (APPROVE,)),
    Situation("a revert of 2 added queries", (golden(82), update, merge, revert), ()),
    Situation("the golden set is renamed", RENAMED_SET, (UPDATE, DELETE)),
    Situation("it is renamed and grows", (*RENAMED_SET, GROWN), (UPDATE, DELETE)),
    Situation("a second golden set", (second_golden_set,), (UPDATE,)),
    Situation("another convention", (NO_RELEVANT,), (APPROVE,)),
    Situation("another depth", (configure("rankcheck_depth = 20"),), (APPROVE,)),
    # The record.
    Situation("it is deleted", (forget,), (RESTORE,)),
    Situation("it is deleted, and a fall", (forget, worse), (APPROVE,)),
    Situation("it is recorded anew, and a fall", (worse, anew), (APPROVE,)),
    Situation("it is lowered by hand", (record(lower),), (RESTORE,)),
    Situation("it is lowered by hand, and a fall", (record(lower), worse), (APPROVE,)),
    Situation("its gate is loosened by hand", (record(WIDE),), (RESTORE,)),
    Situation("it is retired, but not its test", (retire("gone"),), (RESTORE,)),
    Situation("an approval is reworded by hand", (OTHER_REASON,), (RESTORE,), approved_once),
    Situation("it is cut short", (cut_short,), (RESTORE,)),
    Situation("it is edited clumsily", (edit_clumsily,), (RESTORE,)),
    Situation("it is cut short, and a fall", (cut_short, worse), (RESTORE, APPROVE)),
    Situation("it is cut short on main", (on_main(cut_short),), (APPROVE,)),
    Situation("it is cut short on main, a branch later", (cut_short, to_main), (APPROVE,)),
    Situation("it is of an old version", (old_version, to_main), (APPROVE,)),
    Situation("a new one is cut short", (ANOTHER, update, cut_other_short), (REMOVE,)),
    Situation("a conflict", (BETTER, update, on_main(APART, update), conflict), (RESTORE,)),
    Situation(
        "a conflict, and a fall",
        (BETTER, update, on_main(APART, update), conflict, worse),
        (RESTORE, APPROVE),
    ),
    Situation(
        "a conflict of new records",
        (ANOTHER, update, on_main(APART, ANOTHER, update), conflict),
        (RESTORE,),
    ),
    Situation("main was raised since", (on_main(BETTER, update), REVERSED), (MERGE, APPROVE)),
)


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS, ids=str)
def test_the_printed_commands_mend(situation: Situation, repositories: Repositories) -> None:
    branch = repositories.branch_of(situation.main)
    for step in situation.steps:
        step(branch)
    typed = mend(branch)
    assert len(typed) == len(situation.commands), typed
    for command, part in zip(typed, situation.commands, strict=True):
        assert part in command


ALONE = (
    Situation("a new test", (ANOTHER,), (UPDATE,)),
    Situation("a fall", (worse,), (APPROVE,)),
    Situation("a fall inside the tolerance, updated", (SMALL, update), ()),
    Situation("it is cut short", (cut_short,), ("git checkout HEAD",)),
    Situation("it is cut short and committed", (cut_short, to_main), (APPROVE,)),
    Situation("a new one is cut short", (ANOTHER, update, cut_other_short), (APPROVE,)),
    Situation("a new one is cut short, untracked", (ANOTHER, update, cut_new_short), (APPROVE,)),
    Situation(
        "a new one in the index is cut short", (ANOTHER, update, cut_new_short, stage), (REMOVE,)
    ),
    Situation(
        "two branches conflict",
        (BETTER, update, on_main(APART, update), conflict),
        ("git checkout HEAD",),
    ),
    Situation("it is of an old version", (old_version, to_main), (APPROVE,)),
    Situation("the branch is renamed golden", RENAMED_SET, (UPDATE,)),
)


@pytest.mark.parametrize("situation", ALONE, ids=str)
def test_they_mend_without_a_reference(
    situation: Situation, repositories: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PullRequest, "ci", PullRequest.run)
    test_the_printed_commands_mend(situation, repositories)


def test_they_mend_without_git(repositories: Repositories, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a repository, a record that cannot be read is recorded anew with a reason."""
    branch = repositories.branch_of(one_gate)
    branch.delete(".git")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(branch.path.parent))
    cut_short(branch)
    (command,) = printed_commands(branch.run().terminal)
    assert type_in(branch, command).passed
    assert branch.run().passed


ODD_FOLDER = """my tests at work/it's "$HOME" *a?b;&x"""
ODD_TEST = r"""
import pytest
from pytest_rankcheck import assert_mrr_not_regressed

@pytest.mark.parametrize("name", ["it's \"at\" main", "[x] ä $HOME"])
def test_mrr(evaluation, baseline, name):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)
"""


@pytest.mark.slow
def test_a_shell_understands_odd_names(
    repositories: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch = repositories.branch_of(one_gate)
    scripts = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    monkeypatch.setenv("PATH", scripts)
    branch.test(ODD_TEST, f"tests/{ODD_FOLDER}/test_odd.py")
    for step in (rank({}), forget, worse):
        step(branch)
        for command in printed_commands(branch.ci().terminal):
            subprocess.run(["sh", "-c", command], cwd=branch.path, check=False)
        outcome = branch.ci()
        assert outcome.passed, outcome.terminal
        git(branch.path, "branch", "-f", "main")
