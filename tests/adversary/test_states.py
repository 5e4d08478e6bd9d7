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
    keys: set[str]
    """What an approval allows; empty: it adds none."""
    ci: tuple[bool, bool]
    """Whether CI passes with the record of the reference, and with one that is recorded anew."""
    start: Change = lambda gated: None
    says: tuple[str, ...] = ()
    """What the plain run says."""
    updated: tuple[str, ...] = ()
    """What the update says."""
    approved: str = ""
    """What the approval says."""


def refused(change: Change, *keys: str, **more: Any) -> State:
    """Return a state that only a reason lets pass."""
    return State(change, False, "fails", {*keys}, (False, False), **more)


def kept(change: Change, *keys: str, **more: Any) -> State:
    """Return a state that passes, and that is recorded with a reason only."""
    return State(change, True, "keeps", {*keys}, (True, False), **more)


def recorded(change: Change, *keys: str, **more: Any) -> State:
    """Return a state that passes once it is recorded."""
    return State(change, False, "writes", {*keys}, (False, not keys), **more)


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


def edited(gated: GatedTest) -> None:
    """Edit a query, and rename another one."""
    lines = Project.queries()
    lines[3]["relevance"] = {"doc of query 3": 1}
    lines[4]["query_id"] = "renamed"
    gated.golden(lines)


def replaced(gated: GatedTest) -> None:
    gated.golden([{**line, "query_id": f"new-{line['query_id']}"} for line in Project.queries()])


def unlabelled(gated: GatedTest) -> None:
    """Take the attribute out of the golden set, and the test."""
    gated.golden([{k: v for k, v in line.items() if k != "locale"} for line in Project.queries()])
    gated.assertions = (MRR,)


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

REGRESSION = (
    "RR regressed on golden set 'web' (80 queries): 1.0000 -> 0.9875, -0.0125; allowed ",
    "2 queries worse, 0 better, 78 equal",
    'q000 "query 0"   1.000 -> 0.500',
    "doc of query 0 (grade 2)  1 -> 2      filler-0 (grade 0)  2 -> 1",
    "to approve: pytest tests/test_ranking.py::test_mrr --rankcheck-approve",
)
STALE = (
    "RR: golden set 'web' changed, so its baseline is stale",
    "1 query changed since the baseline: q003",
    "1 query added since the baseline: renamed",
    "1 query removed since the baseline: q004",
    "on the 78 unchanged queries: RR 1.0000 -> 1.0000",
    "to record the new golden set: pytest",
)
FOREIGN = ("cannot be compared with its baseline", "golden set: 'web'", "without an unchanged")
BOTH = asserts(MRR, P5)
ANEW = 'approved "why": values unchanged'

STATES = {
    "no record": [recorded(lambda gated: gated.path.unlink())],
    "equal": [State(SAME, True, "keeps", set(), (True, True), approved="nothing to approve")],
    "better": [
        State(
            *(SAME, True, "writes", set(), (True, True), WAS_WORSE),
            says=("passed, better", "test_mrr: RR 0.9906 -> 1.0000"),
            updated=("test_mrr: raised: RR 0.9906 -> 1.0000",),
        )
    ],
    "better within noise": [
        State(SAME, True, "keeps", {"rise:RR"}, (True, True), both(WAS_WORSE, asserts(SIGNIFICANT)))
    ],
    "lower, inside the gate": [
        kept(
            *(LOWER, "fall:RR"),
            says=("passed, lower",),
            updated=("baselines kept", "RR 1.0000 -> 0.9938; lower or changed"),
        ),
        recorded(both(LOWER, BOTH), "fall:RR", updated=("RR 1.0000 -> 0.9938; lower or changed",)),
        kept(  # P@5 rises, as q000 is in the top 5 again; RR falls
            *(ranks({1: 3, 2: 3}), "fall:RR", "rise:P@5"),
            start=both(BOTH, ranks({0: 6})),
            updated=("baselines kept",),
        ),
        kept(  # better over all queries and in English, lower in German
            *(ranks({50: 2}), "fall:RR[locale=de]", "rise:RR", "rise:RR[locale=en]"),
            start=both(asserts(partial(BY_LOCALE, abs=0.05)), ranks({0: 4})),
            updated=("baselines kept",),
        ),
    ],
    "regressed": [
        refused(
            *(REGRESSED, "fall:RR"),
            says=REGRESSION,
            updated=("update refused: RR regressed",),
            approved='approved "why": RR 1.0000 -> 0.9875',
        )
    ],
    "golden set grown": [
        recorded(
            queries(90),
            says=("on the 80 unchanged queries",),
            updated=("test_mrr: updated: values unchanged",),
        ),
        refused(both(queries(90), REGRESSED), "fall:RR"),
    ],
    "up to 5% (at least one) of the queries gone, edited or without a value": [
        recorded(
            queries(80, 3),
            says=("on the 77 unchanged queries", "3 queries removed", "q000, q001, q002"),
        ),
        recorded(both(queries(80, 3), ranks({4: 3})), "fall:RR"),
        recorded(
            edited, says=STALE, updated=("removed or edited: q004 (RR 1.0000), q003 (RR 1.0000)",)
        ),
        refused(
            *(both(queries(79), REGRESSED), "fall:RR"),
            updated=("update refused: RR", "1 query removed"),
        ),
    ],
    "more than 5%": [
        refused(queries(80, 5), "queries-lost"),
        refused(both(queries(80, 5), ranks({6: 2, 7: 2})), "queries-lost", "fall:RR"),
        refused(replaced, "golden-set", "queries-lost", says=FOREIGN),
    ],
    "a metric added": [
        recorded(BOTH, says=("P@5 is not in the baseline, which has RR; it is 0.2000 now",))
    ],
    "a metric dropped": [
        State(
            *(asserts(MRR), True, "writes", {"metric-gone:P@5"}, (False, False), BOTH),
            says=("P@5 is no longer gated",),
        )
    ],
    "a looser gate, or one of another kind": [
        *(
            kept(asserts(gate), "gate-looser:RR", says=("the gate of RR was tolerance(abs=0.01",))
            for gate in (LOOSE, SIGNIFICANT)
        ),
        refused(
            *(both(REGRESSED, asserts(LOOSE)), "gate-looser:RR", "fall:RR"),
            says=("this passes only with a looser gate",),
        ),
    ],
    "inconclusive": [
        kept(both(INCONCLUSIVE, sets(inconclusive="warn")), "fall:RR", start=asserts(MARGIN)),
        refused(both(INCONCLUSIVE, sets(inconclusive="fail")), "fall:RR", start=asserts(MARGIN)),
    ],
    "fewer replicates than in the record": [
        kept(
            *(both(SAME, sets(others=())), "replicates", "rise:RR"),
            start=both(WAS_WORSE, sets(others=({5: 3}, {5: 2}))),
        ),
        refused(
            *(both(ranks({0: 2, 1: 2, 2: 2}), sets(others=())), "replicates", "fall:RR"),
            start=sets(others=({5: 2}, {6: 2})),
        ),
    ],
    "another convention, gain, scale, depth, direction or limits": [
        refused(
            sets(conventions={"conventions": Conventions(no_relevant="exclude")}),
            "convention:no_relevant",
            says=("no_relevant: 'zero' in the baseline, 'exclude' now",),
            approved=ANEW,
        ),
        refused(
            sets(conventions={"conventions": Conventions(own_document="drop")}),
            "convention:own_document",
            says=("own_document: 'keep' in the baseline, 'drop' now",),
        ),
        refused(
            *(sets(depth=50), "depth"), says=("depth: 100 in the baseline, 50 now",), approved=ANEW
        ),
    ],
    "labels of queries moved": [
        State(
            *(relabelled(3), True, "writes", set(), (True, True), asserts(BY_LOCALE)),
            says=("3 of 80 queries moved in locale: de -> en (3)",),
        ),
        refused(relabelled(30), "slice-gone:locale", start=asserts(BY_LOCALE)),
        kept(
            *(unlabelled, "slice-gone:locale"),
            start=asserts(BY_LOCALE),
            says=("the slices of locale are no longer gated",),
        ),
        refused(
            both(relabelled(30), ranks(dict.fromkeys(range(40, 70), 2))),
            *("slice-gone:locale", *(f"fall:RR{part}" for part in ("", *LOCALES))),
            start=asserts(BY_LOCALE),
        ),
    ],
    "an attribute newly gated": [
        State(
            *(asserts(BY_LOCALE), True, "writes", set(), (True, True)),
            says=("newly gated, and recorded by the next update: the slices of locale",),
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
    for text in state.updated:
        assert text in outcome.text


@pytest.mark.parametrize("state", CASES)
def test_an_approval(tmp_path: Path, state: State) -> None:
    gated, _ = in_state(tmp_path, state)
    outcome = gated.run(approve="why")
    assert outcome.passed, outcome.text
    assert state.approved in outcome.text
    approvals = gated.record["approvals"]
    assert {*(approvals[0]["keys"] if approvals else ())} == state.keys
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
