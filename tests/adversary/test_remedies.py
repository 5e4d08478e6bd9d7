"""Every command that is printed works: CI is green after it, or prints the next one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from attempts import (
    BETTER,
    FLATTERING,
    LINKED,
    NEW_IDS,
    NO_TEST,
    OF_CI,
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
from printed_commands import mend, printed_commands, type_in, with_reason
from project import git
from pull_request import Main, PullRequest, Repositories, one_gate
from steps import (
    Step,
    anew,
    approve,
    commit_to_main,
    configure,
    conflict,
    drop,
    edit,
    forget,
    golden,
    lower,
    mark,
    merge,
    new_test,
    on_main,
    rank,
    record,
    retire,
    revert,
    set_metric,
    update,
    worse,
)

UPDATE, APPROVE, RESTORE = "--snapshot-update", "--rankcheck-approve", "git checkout main"
RETIRE, MERGE, REMOVE = "retire", "git merge main", "git rm"


class Situation:
    """What a branch did, and a part of each command that is printed, one after the other."""

    def __init__(self, steps: tuple[Step, ...], *commands: str, main: Main = one_gate) -> None:
        self.steps, self.commands, self.main = steps, commands, main


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


def old_version(branch: PullRequest) -> None:
    branch.edit(branch.record_path, '"version": 4', '"version": 3')


def cut_other_short(branch: PullRequest) -> None:
    """Cut the record short that main does not have, and commit it."""
    cut_new_short(branch)
    branch.commit()


def cut_new_short(branch: PullRequest) -> None:
    """Cut the record short that main does not have."""
    branch.write(next(path for path in branch.records() if "test_new" in path), "{")


def stage(branch: PullRequest) -> None:
    """Add everything to git's index."""
    git(branch.path, "add", "-A")


NEW_FILE = "tests/test_new.py"
ANOTHER = new_test(gated(RR, name="test_new"), NEW_FILE)
NOISY = new_test(
    gated(RR.replace("abs=0.01", "gate=Gate.tolerance(abs=0.01, noise=3)"), name="test_new"),
    NEW_FILE,
)
APART = rank({78: 1})
WORST = rank(dict.fromkeys(range(40), 10))
SMALLER = rank({**dict.fromkeys(range(20), 10), 21: 2})
REVERSED = edit("return ranking", "return ranking[::-1]", "engine.py")
GROWN = golden(100)
TO_5 = edit("nDCG@10", "nDCG@5")
WIDE = set_metric(gate="tolerance(abs=0.5)")
OTHER_REASON = record(lambda entry: entry["approvals"][0].update(reason="it was fine"))
NO_RELEVANT = configure('rankcheck_conventions = ["no_relevant=exclude"]')
REMOVED_TEST = (NO_TEST, lambda branch: branch.delete("tests/test_ranking.py"))


SITUATIONS = {
    # Tests.
    "a new test": Situation((new_test(gated(RR, name="test_new"), NEW_FILE),), UPDATE),
    "a metric is added": Situation((edit(RR, RR + "\n    " + RECALL),), UPDATE, main=one_rr),
    "a test is renamed": Situation((RENAMED,), UPDATE, REMOVE),
    "a test of rankings is renamed": Situation(
        (edit("test_same", "test_b"),), UPDATE, REMOVE, main=stable
    ),
    "a test is renamed after a recorded removal of a query": Situation(
        (drop([3]), update, merge, RENAMED), UPDATE, REMOVE
    ),
    "a test is renamed, and worse": Situation((RENAMED, worse), UPDATE, RETIRE),
    "a test is removed": Situation(REMOVED_TEST, RETIRE),
    "a test is removed with its record": Situation((*REMOVED_TEST, forget), RETIRE),
    "a test is skipped": Situation((mark("@pytest.mark.skip"),), RETIRE),
    "another cutoff": Situation((TO_5,), UPDATE, APPROVE, main=ndcg),
    "another cutoff, updated": Situation((TO_5, update), APPROVE, main=ndcg),
    "no slices": Situation((edit(', by="locale"', ""),), main=by_locale),
    "no limits": Situation((new_test(gated("pass", name="test_same")),), RETIRE, main=stable),
    "looser limits": Situation((edit("0.85", "0.1"), worse), APPROVE, main=stable),
    "a looser gate": Situation((edit("0.01", "0.5"), worse), APPROVE),
    "a looser gate that is not needed": Situation((edit("0.01", "0.5"), update)),
    "a new test whose gate needs noise": Situation((NOISY,), "--rankcheck-replicates 5"),
    # What is worse.
    "a fall": Situation((worse,), APPROVE),
    "a fall of a slice": Situation((worse,), APPROVE, main=by_locale),
    "it is inconclusive": Situation((rank({0: 10, 1: 10}),), APPROVE, main=undecided),
    "rankings change": Situation((worse,), APPROVE, main=stable),
    "values are missing": Situation(
        (rank(dict.fromkeys(range(10, 80))),), APPROVE, main=first_rank
    ),
    "an approved fall": Situation((worse, approve())),
    "an approved fall, and a further one": Situation((worse, approve(), WORST), APPROVE),
    "an approved fall, merged, and a small one": Situation((worse, approve(), merge, SMALLER)),
    "a reason is reworded": Situation((worse, approve(), approve("reworded"))),
    "a fall below a record that is raised": Situation((BETTER, update, worse), APPROVE),
    "a revert of an approved fall": Situation((worse, approve(), merge, revert)),
    # The golden set.
    "the golden set grows": Situation((GROWN,), UPDATE),
    "it grows, and main is below its best": Situation((SMALL, merge, GROWN), UPDATE),
    "it grows, and a fall": Situation((GROWN, worse), APPROVE),
    "few queries are removed": Situation((drop(range(2)),), UPDATE),
    "many queries are removed": Situation((drop(range(10)),), APPROVE),
    "many queries are edited": Situation((FLATTERING,), APPROVE),
    "all queries get new ids": Situation((NEW_IDS,), APPROVE),
    "many queries are removed, anew": Situation((drop(range(10)), anew), APPROVE),
    "a revert of 20 added queries": Situation((GROWN, update, merge, revert), APPROVE),
    "a revert of 2 added queries": Situation((golden(82), update, merge, revert)),
    "the golden set is renamed": Situation(RENAMED_SET, UPDATE, REMOVE),
    "it is renamed and grows": Situation((*RENAMED_SET, GROWN), UPDATE, REMOVE),
    "a second golden set": Situation((second_golden_set,), UPDATE),
    "another convention": Situation((NO_RELEVANT,), APPROVE),
    "another depth": Situation((configure("rankcheck_depth = 20"),), APPROVE),
    # The record.
    "it is deleted": Situation((forget,), RESTORE),
    "it is deleted, and a fall": Situation((forget, worse), APPROVE),
    "it is recorded anew, and a fall": Situation((worse, anew), APPROVE),
    "it is lowered by hand": Situation((record(lower),), RESTORE),
    "it is lowered by hand, and a fall": Situation((record(lower), worse), APPROVE),
    "its gate is loosened by hand": Situation((record(WIDE),), RESTORE),
    "it is retired, but not its test": Situation((retire("gone"),), RESTORE),
    "it is retired on main, and its test comes back": Situation(
        (retire("gone"), commit_to_main), UPDATE
    ),
    "it comes back, and a fall": Situation((retire("gone"), commit_to_main, worse), APPROVE),
    "an approval is reworded by hand": Situation((OTHER_REASON,), RESTORE, main=approved_once),
    "it is cut short": Situation((cut_short,), RESTORE),
    "it is edited clumsily": Situation((edit_clumsily,), RESTORE),
    "it is cut short, and a fall": Situation((cut_short, worse), RESTORE, APPROVE),
    "it is cut short on main": Situation((on_main(cut_short),), APPROVE),
    "it is cut short on main, a branch later": Situation((cut_short, commit_to_main), APPROVE),
    "it is of an old version": Situation((old_version, commit_to_main), APPROVE),
    "a new one is cut short": Situation((ANOTHER, update, cut_other_short), REMOVE),
    "a conflict": Situation((BETTER, update, on_main(APART, update), conflict), RESTORE),
    "a conflict, and a fall": Situation(
        (BETTER, update, on_main(APART, update), conflict, worse), RESTORE, APPROVE
    ),
    "a conflict of new records": Situation(
        (ANOTHER, update, on_main(APART, ANOTHER, update), conflict), RESTORE
    ),
    "the folder of baselines is a link": Situation((LINKED,), "git checkout main -- tests"),
    "CI has another configuration, and a fall": Situation((*OF_CI, worse), APPROVE),
    "CI has another configuration, and the test is renamed": Situation(
        (*OF_CI, RENAMED), UPDATE, REMOVE
    ),
    "CI has another configuration, and the test is removed": Situation(
        (*OF_CI, *REMOVED_TEST), RETIRE
    ),
    "main was raised since": Situation((on_main(BETTER, update), REVERSED), MERGE, APPROVE),
}


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=list(SITUATIONS))
def test_the_printed_commands_mend(situation: Situation, repositories: Repositories) -> None:
    branch = repositories.branch_of(situation.main)
    for step in situation.steps:
        step(branch)
    typed = mend(branch)
    assert len(typed) == len(situation.commands), typed
    for command, part in zip(typed, situation.commands, strict=True):
        assert part in command


ALONE = {
    "a new test": Situation((ANOTHER,), UPDATE),
    "a fall": Situation((worse,), APPROVE),
    "a fall inside the tolerance, updated": Situation((SMALL, update)),
    "it is cut short": Situation((cut_short,), "git checkout HEAD"),
    "it is cut short and committed": Situation((cut_short, commit_to_main), APPROVE),
    "a new one is cut short": Situation((ANOTHER, update, cut_other_short), APPROVE),
    "a new one is cut short, untracked": Situation((ANOTHER, update, cut_new_short), APPROVE),
    "a new one in the index is cut short": Situation(
        (ANOTHER, update, cut_new_short, stage), REMOVE
    ),
    "two branches conflict": Situation(
        (BETTER, update, on_main(APART, update), conflict), "git checkout MERGE_HEAD"
    ),
    "it is of an old version": Situation((old_version, commit_to_main), APPROVE),
    "the branch is renamed golden": Situation(RENAMED_SET, UPDATE),
}


@pytest.mark.parametrize("situation", ALONE.values(), ids=list(ALONE))
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
            subprocess.run(["sh", "-c", with_reason(command)], cwd=branch.path, check=False)
        outcome = branch.ci()
        assert outcome.passed, outcome.terminal
        git(branch.path, "branch", "-f", "main")
