"""The table of states in docs/baselines.md: a test walks through every cell of it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import compress, takewhile
from pathlib import Path
from typing import Any

import pytest
from attempts import LOOSENED, NO_GATE, RENAMED, cut_short
from gated_test import MRR, GatedTest, MainBranch
from manual_tables import DOCS
from project import Project
from pull_request import PullRequest, Repositories, one_gate
from steps import (
    Step,
    anew,
    approve,
    commit_to_main,
    configure,
    edit,
    forget,
    main_moves_on,
    mark,
    rank,
    retire,
    update,
    worse,
)

from pytest_rankcheck import Conventions, Gate, assert_not_regressed

Change = Callable[[GatedTest], object]


@dataclass(frozen=True)
class State:
    """A state of the table, and what becomes of a test in it by each of the four columns."""

    change: Change
    """Brings about the state, after ``start`` was recorded."""
    plain: bool
    """Whether a plain run passes."""
    update: str
    """What an update does: ``writes``, ``keeps`` the file, or ``fails``."""
    keys: set[str] | None
    """What an approval allows; None: it adds none, and the record stays."""
    ci: tuple[bool, bool]
    """Whether CI passes with the record of the reference, and with one that is recorded anew."""
    start: Change = lambda gated: None
    says: tuple[str, ...] = ()
    """What the plain run says."""


def ranks(by_query: dict[int, int | None]) -> Change:
    return lambda gated: gated.rank(by_query)


def asserts(*assertions: Callable[..., object]) -> Change:
    return lambda gated: setattr(gated, "assertions", assertions)


def sets(**values: Any) -> Change:
    return lambda gated: [setattr(gated, name, value) for name, value in values.items()]


def queries(count: int, first: int = 0) -> Change:
    return lambda gated: gated.golden(Project.queries(count)[first:])


def both(*changes: Change) -> Change:
    return lambda gated: [change(gated) for change in changes]


def relabelled(count: int) -> Change:
    """Call some German queries English."""

    def change(gated: GatedTest) -> None:
        lines = Project.queries()
        for line in lines[40 : 40 + count]:
            line["locale"] = "en"
        gated.golden(lines)

    return change


def broken(gated: GatedTest) -> None:
    gated.path.write_text(gated.path.read_text("utf-8")[:300], "utf-8")


SAME, LOWER, REGRESSED = ranks({}), ranks({0: 2}), ranks({0: 2, 1: 2})
WAS_WORSE = ranks({5: 4})
P5 = partial(assert_not_regressed, metric="P@5", abs=0.1)
SIGNIFICANT = partial(assert_not_regressed, metric="RR", gate=Gate.significant())
MARGIN = partial(assert_not_regressed, metric="RR", gate=Gate.noninferior(0.05))
LOOSE = partial(MRR, abs=0.5)
BY_LOCALE = partial(MRR, by="locale")
LOCALES = ("[locale=de]", "[locale=en]")
INCONCLUSIVE = ranks({0: None, 1: None, 2: None})

STATES = {
    "no record": [State(lambda gated: gated.path.unlink(), False, "writes", None, (False, True))],
    "equal": [State(SAME, True, "keeps", None, (True, True))],
    "better": [State(SAME, True, "writes", None, (True, True), WAS_WORSE, ("passed, better",))],
    "better within noise": [
        State(SAME, True, "keeps", {"rise:RR"}, (True, True), both(WAS_WORSE, asserts(SIGNIFICANT)))
    ],
    "lower, inside the gate": [
        State(LOWER, True, "keeps", {"fall:RR"}, (True, False)),
        State(both(LOWER, asserts(MRR, P5)), False, "writes", {"fall:RR"}, (False, False)),
    ],
    "regressed": [State(REGRESSED, False, "fails", {"fall:RR"}, (False, False))],
    "golden set grown": [
        State(
            queries(90),
            False,
            "writes",
            set(),
            (False, True),
            says=("on the 80 unchanged queries",),
        ),
        State(both(queries(90), REGRESSED), False, "fails", {"fall:RR"}, (False, False)),
    ],
    "up to 5% (at least one) of the queries gone, edited or without a value": [
        State(
            queries(80, 3),
            False,
            "writes",
            set(),
            (False, True),
            says=("on the 77 unchanged queries", "3 queries removed", "q000, q001, q002"),
        ),
        State(both(queries(80, 3), ranks({4: 3})), False, "writes", {"fall:RR"}, (False, False)),
    ],
    "more than 5%": [
        State(queries(80, 5), False, "fails", {"queries-lost"}, (False, False)),
        State(
            both(queries(80, 5), ranks({6: 2, 7: 2})),
            False,
            "fails",
            {"queries-lost", "fall:RR"},
            (False, False),
        ),
    ],
    "a metric added": [State(asserts(MRR, P5), False, "writes", set(), (False, True))],
    "a metric dropped": [
        State(
            asserts(MRR),
            True,
            "writes",
            {"metric-gone:P@5"},
            (False, False),
            asserts(MRR, P5),
            ("P@5 is no longer gated",),
        )
    ],
    "a looser gate, or one of another kind": [
        State(
            asserts(gate),
            True,
            "keeps",
            {"gate-looser:RR"},
            (True, False),
            says=("the gate of RR was tolerance(abs=0.01",),
        )
        for gate in (LOOSE, SIGNIFICANT)
    ]
    + [
        State(
            both(REGRESSED, asserts(LOOSE)),
            False,
            "fails",
            {"gate-looser:RR", "fall:RR"},
            (False, False),
            says=("this passes only with a looser gate",),
        )
    ],
    "inconclusive": [
        State(
            both(INCONCLUSIVE, sets(inconclusive=word)),
            passes,
            update,
            {"fall:RR"},
            (passes, False),
            asserts(MARGIN),
        )
        for word, passes, update in (("warn", True, "keeps"), ("fail", False, "fails"))
    ],
    "fewer replicates than in the record": [
        State(
            both(SAME, sets(others=())),
            True,
            "keeps",
            {"replicates", "rise:RR"},
            (True, False),
            both(WAS_WORSE, sets(others=({5: 3}, {5: 2}))),
        ),
        State(
            both(ranks({0: 2, 1: 2, 2: 2}), sets(others=())),
            False,
            "fails",
            {"replicates", "fall:RR"},
            (False, False),
            sets(others=({5: 2}, {6: 2})),
        ),
    ],
    "another convention, gain, scale, depth, direction or limits": [
        State(change, False, "fails", {key}, (False, False), says=says)
        for change, key, says in (
            (
                sets(conventions={"conventions": Conventions(no_relevant="exclude")}),
                "convention:no_relevant",
                ("no_relevant: 'zero' in the baseline, 'exclude' now",),
            ),
            (
                sets(conventions={"conventions": Conventions(own_document="drop")}),
                "convention:own_document",
                ("own_document: 'keep' in the baseline, 'drop' now",),
            ),
            (sets(depth=50), "depth", ("depth: 100 in the baseline, 50 now",)),
        )
    ],
    "labels of queries moved": [
        State(
            relabelled(3),
            True,
            "writes",
            set(),
            (True, True),
            asserts(BY_LOCALE),
            ("3 of 80 queries moved in locale: de -> en (3)",),
        ),
        State(
            relabelled(30),
            False,
            "fails",
            {"slice-gone:locale"},
            (False, False),
            asserts(BY_LOCALE),
        ),
        State(
            both(relabelled(30), ranks(dict.fromkeys(range(40, 70), 2))),
            False,
            "fails",
            {"slice-gone:locale", *(f"fall:RR{part}" for part in ("", *LOCALES))},
            (False, False),
            asserts(BY_LOCALE),
        ),
    ],
    "an attribute newly gated": [
        State(
            asserts(BY_LOCALE),
            True,
            "writes",
            set(),
            (True, True),
            says=("newly gated, from the next update on: the slices of locale",),
        )
    ],
    "the record is unreadable here": [
        State(broken, False, "fails", {"unreadable"}, (False, True), says=("was cut short",))
    ],
}


@dataclass(frozen=True)
class Case:
    """What a command makes of a branch, in a state that only pytest and git can bring about."""

    steps: tuple[Step, ...]
    command: str
    """``run``, ``update``, ``approve`` or ``ci``, with arguments."""
    passes: bool
    says: str


def behind(branch: PullRequest) -> None:
    """Let main raise its record after the branch has left it, whose ranker stays worse."""
    main_moves_on(branch)
    branch.rank({})
    rank({0: 3})(branch)


def fails_once(branch: PullRequest) -> None:
    """Let the ranker fail on one query, and allow that."""
    configure('rankcheck_failures = "2%"')(branch)
    edit(
        "    rank = ranks.get(text, 1)",
        "    rank = ranks.get(text, 1)\n    if text == 'query 3':\n        raise TimeoutError",
        "engine.py",
    )(branch)


FILE = "tests/baselines/test_ranking/test_mrr--web.json"
RETIRED = retire("unused", "--baseline-ref=main", path=FILE)
UNREADABLE = (cut_short, commit_to_main)
SKIPPED = mark('@pytest.mark.skip(reason="flaky")')
STATES_OF_PROJECTS = {
    "inconclusive verdicts or failed queries count less": (
        Case((fails_once,), "run", False, "the ranker failed on 1 of 80 queries"),
        Case((fails_once,), "update", False, "the baseline allows 0"),
        Case((fails_once,), "approve", True, "approved"),
        Case((fails_once,), "ci", False, "the ranker failed on 1 of 80 queries"),
        Case((fails_once, LOOSENED), "ci", True, "1 query failed"),
    ),
    "the reference changed the record, the branch did not": (
        Case((behind,), "ci", False, "git merge main"),
        Case((main_moves_on,), "ci", True, "passed"),
    ),
    "unreadable at the reference": (
        Case(UNREADABLE, "approve", True, "approved"),
        Case(UNREADABLE, "ci", False, "was cut short"),
        Case((*UNREADABLE, anew), "ci", False, "was cut short"),
        Case((*UNREADABLE, approve()), "ci", True, "passed"),
    ),
    "test renamed or moved": (
        Case((RENAMED,), "run", False, "RR has no baseline"),
        Case((RENAMED,), "update", True, "created"),
        Case((RENAMED,), "approve", True, "created"),
        Case((RENAMED, update), "ci", True, "takes the place of"),
        Case((RENAMED, worse, update), "ci", False, "its test is gone"),
    ),
    "test removed": (
        Case((NO_GATE,), "run", True, "its test is gone"),
        Case((NO_GATE,), "update", True, "its test is gone"),
        Case((NO_GATE,), "approve", True, "its test is gone"),
        Case((NO_GATE,), "ci", False, "its test is gone"),
        Case((NO_GATE, forget, RETIRED), "ci", True, "unused"),
        Case((NO_GATE, retire("unused"), commit_to_main, forget), "ci", True, "1 passed"),
    ),
    "skipped, xfail, failed, rerun and failed": (
        Case((SKIPPED,), "run", True, "its test was skipped: flaky"),
        Case((SKIPPED, worse), "update", True, "its test was skipped: flaky"),
        Case((SKIPPED, worse), "approve", True, "its test was skipped: flaky"),
        Case((SKIPPED,), "ci", False, "its test was skipped: flaky"),
    ),
}
PROJECT_CASES = [
    pytest.param(case, id=f"{name} {number}")
    for name, cases in STATES_OF_PROJECTS.items()
    for number, case in enumerate(cases)
]


@pytest.mark.slow
@pytest.mark.parametrize("case", PROJECT_CASES)
def test_a_branch(repositories: Repositories, case: Case) -> None:
    branch = repositories.branch_of(one_gate)
    for step in case.steps:
        step(branch)
    before = {path: file.read_bytes() for path, file in branch.records().items()}
    command, *arguments = case.command.split()
    if command == "approve":
        outcome = branch.run("--rankcheck-approve", "why")
    else:
        outcome = getattr(branch, command)(*arguments)
    assert outcome.passed == case.passes, outcome.terminal
    assert case.says in outcome.terminal
    after = {path: file.read_bytes() for path, file in branch.records().items()}
    if case.says != "approved":
        assert before.items() <= after.items(), "no record is changed or deleted"
        assert before == after or case.says == "created"


def test_every_cell_of_the_manuals_table_has_a_case_and_the_page_is_short() -> None:
    lines = (DOCS / "baselines.md").read_text("utf-8").splitlines()
    assert len(lines) <= 200
    start = next(number for number, line in enumerate(lines) if line.startswith("| state |"))
    rows = [line.strip("| ").split(" | ") for line in lines[start + 2 :]]
    cells = {name: cells for name, *cells in takewhile(lambda row: len(row) == 5, rows)}
    assert cells.keys() == STATES.keys() | STATES_OF_PROJECTS.keys()
    for name, cases in STATES_OF_PROJECTS.items():
        walked = {case.command.partition(" ")[0] for case in cases}
        said = compress(("run", "update", "approve", "ci"), (c != "-" for c in cells[name]))
        assert walked >= {*said}, name


CASES = [
    pytest.param(state, id=f"{name} {number}" if number else name)
    for name, states in STATES.items()
    for number, state in enumerate(states)
]


def in_state(folder: Path, state: State) -> tuple[GatedTest, MainBranch]:
    """Return a test in a state, and main, which has the record from before."""
    gated = GatedTest(folder)
    state.start(gated)
    main = MainBranch(gated.update().decode())
    state.change(gated)
    return gated, main


def content(gated: GatedTest) -> str | None:
    return gated.path.read_text("utf-8") if gated.path.exists() else None


@pytest.mark.parametrize("state", CASES)
def test_a_plain_run(tmp_path: Path, state: State) -> None:
    gated, _ = in_state(tmp_path, state)
    before = content(gated)
    outcome = gated.run()
    assert outcome.passed == state.plain, outcome.text
    for text in state.says:
        assert text in outcome.text
    assert content(gated) == before


@pytest.mark.parametrize("state", CASES)
def test_an_update(tmp_path: Path, state: State) -> None:
    gated, _ = in_state(tmp_path, state)
    before = content(gated)
    outcome = gated.run(update=True)
    assert outcome.passed == (state.update != "fails"), outcome.text
    assert (content(gated) != before) == (state.update == "writes")


@pytest.mark.parametrize("state", CASES)
def test_an_approval(tmp_path: Path, state: State) -> None:
    gated, _ = in_state(tmp_path, state)
    outcome = gated.run(approve="why")
    assert outcome.passed, outcome.text
    approvals = gated.record["approvals"]
    assert {*(approvals[0]["keys"] if approvals else ())} == (state.keys or set())
    assert bool(approvals) == bool(state.keys)
    assert gated.run().passed, "what is recorded passes"


@pytest.mark.parametrize("state", CASES)
def test_against_a_reference(tmp_path: Path, state: State) -> None:
    gated, main = in_state(tmp_path, state)
    outcome = gated.run(main=main)
    assert outcome.passed == state.ci[0], outcome.text
    gated.path.unlink(missing_ok=True)
    gated.update()
    outcome = gated.run(main=main)
    assert outcome.passed == state.ci[1], outcome.text
    gated.path.write_text(str(main.content), "utf-8")
    assert gated.run(approve="why", main=main).passed
    assert gated.run(main=main).passed, "what is approved passes"
