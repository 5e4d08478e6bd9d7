"""Three months of a team: its pull requests, with the commands that are printed and no others."""

import json
from collections.abc import Callable

import pytest
from attempts import RR, cut_short, gated
from printed_commands import mend, printed_commands, type_in
from project import ENGINE, git
from pull_request import PullRequest, Ranks, Repositories
from record_entries import Entry
from steps import (
    TEST,
    Step,
    configure,
    conflict,
    delete,
    drop,
    edit,
    move,
    new_test,
    queries,
    revert,
    write,
)

UPDATE, APPROVE, RESTORE = "--snapshot-update", "--rankcheck-approve", "git checkout"
RETIRE, MERGE = "--reason", "git merge"


class Pull:
    """A pull request: what it does, and a part of each command until CI is green.

    Args:
        steps: what it does.
        commands: a part of each command that is printed.
        needs_reason: whether it lowers or drops something, or changes more than 5% of the queries.
    """

    def __init__(self, steps: tuple[Step, ...], *commands: str, needs_reason: bool = False) -> None:
        self.steps, self.commands, self.needs_reason = steps, commands, needs_reason


def rank(ranks: Ranks) -> Step:
    """Set the rank of some documents from now on."""
    return lambda branch: branch.rank({**ranks_of(branch), **ranks})


def ranks_of(branch: PullRequest) -> Ranks:
    by_text = json.loads((branch.path / "ranks.json").read_text("utf-8"))
    return {int(text.removeprefix("query ")): rank for text, rank in by_text.items()}


def add(first: int, count: int) -> Step:
    """Add queries to the golden set."""

    def step(branch: PullRequest) -> None:
        branch.golden([*branch.lines, *branch.project.queries(first + count)[first:]])

    return step


def judge(documents: int) -> Callable[[Entry], Entry]:
    """Judge more documents of a query."""
    more = {f"filler-{number}": 0 for number in range(1, documents + 1)}
    return lambda line: {"relevance": {**line["relevance"], **more}}


def refuse(branch: PullRequest) -> None:
    """Let CI block the pull request, and give it up."""
    outcome = branch.ci()
    assert not outcome.passed
    assert len(printed_commands(outcome.terminal)) <= outcome.terminal.count("\nFAILED ")
    git(branch.path, "reset", "-q", "--hard", "main")


def merge_main(branch: PullRequest) -> None:
    """Type what CI prints where main has changed the records since."""
    outcome = branch.ci()
    assert printed_commands(outcome.terminal) == ["git merge main"], outcome.terminal
    type_in(branch, "git merge main")


def reword(branch: PullRequest) -> None:
    """Type the approval that was printed with another reason."""
    (command,) = mend(branch)
    assert type_in(branch, command.replace("why this is acceptable", "half the latency")).passed
    text = branch.ci().terminal
    assert 'approved "half the latency" (RR 0.9634 -> ' in text
    assert "why this" not in text


def main_improves(query: int) -> Step:
    """Let main raise its records after the branch has left it."""

    def step(branch: PullRequest) -> None:
        branch.commit()
        git(branch.path, "checkout", "-q", "main")
        rank({query: 1})(branch)
        assert mend(branch) == ["pytest --snapshot-update"]
        git(branch.path, "checkout", "-q", "feature")

    return step


def both_improve(branch: PullRequest) -> None:
    """Merge main, where the record and the ranker became better, as they did here."""
    rank({77: 1})(branch)
    assert mend(branch) == ["pytest --snapshot-update"]
    main_improves(76)(branch)
    conflict(branch)
    rank({76: 1})(branch)


def squash(branch: PullRequest) -> None:
    """Merge the pull request as one commit."""
    git(branch.path, "reset", "-q", "--soft", "main")
    branch.commit()
    git(branch.path, "branch", "-f", "main")


FALL = rank(dict.fromkeys(range(4), 4))
SHOP = ("golden/shop.jsonl", "golden/store.jsonl")
FASTER = ENGINE.replace("import json", "import functools\nimport json")
REVERSED = edit("return ranking", "return ranking[::-1]", "engine.py")
SECOND_SET = (
    lambda branch: branch.project.golden(branch.lines[40:], SHOP[0]),
    configure(f'rankcheck_golden = ["golden/web.jsonl", "{SHOP[0]}"]'),
)

PULLS = {
    "the ranker improves": Pull((rank({79: 1}),), UPDATE),
    "a refactoring": Pull((write("engine.py", FASTER),)),
    "a small fall, inside the tolerance": Pull((rank({0: 2}),)),
    "4 queries are added, and main is below its best": Pull((add(80, 4),), UPDATE),
    "the small fall is mended": Pull((rank({0: 1}),)),
    "the ranking collapses": Pull((rank(dict.fromkeys(range(40), 9)), refuse)),
    "the ranker breaks": Pull((edit("ranking = [", "raise OSError; [", "engine.py"), refuse)),
    "a fall is approved": Pull((FALL,), APPROVE, needs_reason=True),
    "it is reverted": Pull((revert,)),
    "2 queries are removed": Pull((drop([20, 21]),), UPDATE),
    "the test is renamed": Pull((edit("test_mrr", "test_first_hit"),), UPDATE, "git rm"),
    "3 queries are edited": Pull((queries([1, 2, 3], judge(2)),), UPDATE),
    "20 documents are judged": Pull((queries(range(30, 34), judge(5)),), UPDATE),
    "20 documents are judged, of 20 queries": Pull(
        (queries(range(40, 60), judge(1)),), APPROVE, needs_reason=True
    ),
    "a metric is added": Pull((edit('"RR", abs=0.01', '["RR", "nDCG@10"], abs=0.01'),), UPDATE),
    "another cutoff": Pull((edit("nDCG@10", "nDCG@5"),), UPDATE, APPROVE, needs_reason=True),
    "another depth": Pull((configure("rankcheck_depth = 50"),), APPROVE, needs_reason=True),
    "a second golden set": Pull(SECOND_SET, UPDATE),
    "it is renamed": Pull(
        (move(*SHOP), configure(f'rankcheck_golden = ["golden/web.jsonl", "{SHOP[1]}"]')),
        UPDATE,
        "git rm",
    ),
    "the test file is moved": Pull(
        (move(TEST, "tests/search/test_quality.py"),), *[UPDATE] * 2, *["git rm"] * 2
    ),
    "two branches improve": Pull((both_improve,), RESTORE, RESTORE),
    "a record is cut short": Pull((cut_short,), RESTORE),
    "main improves in the meantime": Pull((main_improves(75), REVERSED, merge_main, refuse)),
    "20 queries are added": Pull((add(84, 20),), UPDATE),
    "they are taken back": Pull((revert,), APPROVE, needs_reason=True),
    "a fall is approved, and its reason reworded": Pull((FALL, reword), needs_reason=True),
    "a test is added": Pull(
        (new_test(gated(RR, name="test_new"), "tests/test_new.py"),), *((UPDATE,) * 2)
    ),
    "it is removed": Pull((delete("tests/test_new.py"),), *((RETIRE,) * 2), needs_reason=True),
    "its retired record is deleted": Pull((delete("tests/baselines/test_new"),)),
}


def begin(main: PullRequest) -> None:
    """RR is gated with a tolerance of 0.01."""
    main.test(gated(RR))


@pytest.mark.nightly
def test_three_months_of_a_team(repositories: Repositories) -> None:
    branch = repositories.branch_of(begin)
    for text, pull in PULLS.items():
        print(f"=== {text}")
        git(branch.path, "checkout", "-q", "-B", "feature", "main")
        golden = (branch.path / "golden/web.jsonl").read_text("utf-8")
        branch.lines = [json.loads(line) for line in golden.splitlines()]
        for step in pull.steps:
            step(branch)
        typed = mend(branch)
        assert len(typed) == len(pull.commands), (text, typed)
        for command, part in zip(typed, pull.commands, strict=True):
            assert part in command, text
            assert pull.needs_reason or not {APPROVE, RETIRE} & {*command.split()}, text
        squash(branch)
    assert len(PULLS) >= 28
