"""Every row of the table of what a plain run and an update do (DESIGN section 5)."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from gated_test import MRR, GatedTest
from project import Project, git

from pytest_rankcheck import Conventions, assert_ndcg_not_regressed, assert_not_regressed

LOWER = {0: 2}
"""One query of 80 falls to rank 2: the mean reciprocal rank by 0.00625, inside 0.01."""
REGRESSED = {0: 2, 1: 2}
"""Two do: by 0.0125, outside."""
WORSE_START = {5: 4}
"""A baseline that can still be raised: one query is at rank 4."""
BOTH = (MRR, partial(assert_not_regressed, metric="P@5", abs=0.1))
BY_LOCALE = partial(MRR, abs=0.05, by="locale")


@pytest.fixture
def gated(tmp_path: Path) -> GatedTest:
    return GatedTest(tmp_path)


class Row(NamedTuple):
    """What changes after a record was made, and what a run, an update or an approval says."""

    change: Callable[[GatedTest], object]
    mode: str
    passed: bool
    says: Sequence[str] = ()
    written: bool = False
    start: Callable[[GatedTest], object] = lambda gated: None


def ranks(by_query: dict[int, int | None]) -> Callable[[GatedTest], None]:
    return lambda gated: gated.rank(by_query)


def asserts(*assertions: Callable[..., object]) -> Callable[[GatedTest], None]:
    return lambda gated: setattr(gated, "assertions", assertions)


def both(*steps: Callable[[GatedTest], object]) -> Callable[[GatedTest], object]:
    return lambda gated: [step(gated) for step in steps]


def edited(gated: GatedTest) -> None:
    lines = Project.queries()
    lines[3]["relevance"] = {"doc of query 3": 1}
    lines[4]["query_id"] = "renamed"
    gated.golden(lines)


def replaced(gated: GatedTest) -> None:
    gated.golden([{**line, "query_id": f"new-{line['query_id']}"} for line in Project.queries()])


def grown(gated: GatedTest) -> None:
    gated.golden(Project.queries(81)[1:])


def smaller(gated: GatedTest) -> None:
    gated.golden(Project.queries()[:79])


def otherwise(gated: GatedTest) -> None:
    gated.depth = 50
    gated.conventions = {"conventions": Conventions(no_relevant="exclude")}


BETTER, WAS_WORSE = ranks({}), ranks(WORSE_START)
STALE = (
    "RR: golden set 'web' changed, so its baseline is stale",
    "1 query changed since the baseline: q003",
    "1 query added since the baseline: renamed",
    "1 query removed since the baseline: q004",
    "on the 78 unchanged queries: RR 1.0000 -> 1.0000",
    "to record the new golden set: pytest",
)
REGRESSION = (
    "RR regressed on golden set 'web' (80 queries): 1.0000 -> 0.9875, -0.0125; allowed ",
    "2 queries worse, 0 better, 78 equal",
    'q000 "query 0"   1.000 -> 0.500',
    "doc of query 0 (grade 2)  1 -> 2      filler-0 (grade 0)  2 -> 1",
    "to approve: pytest tests/test_ranking.py::test_mrr --rankcheck-approve",
)
DIFFERENT = (
    "no_relevant: 'zero' in the baseline, 'exclude' now",
    "depth: 100 in the baseline, 50 now",
)
FOREIGN = ("cannot be compared with its baseline", "golden set: 'web'", "without an unchanged")
ROWS = {
    "equal, approved": Row(BETTER, "approve", True, ["nothing to approve"]),
    "better": Row(BETTER, "run", True, ["test_mrr: RR 0.9906 -> 1.0000"], start=WAS_WORSE),
    "better, updated": Row(
        BETTER, "update", True, ["test_mrr: raised: RR 0.9906 -> 1.0000"], True, WAS_WORSE
    ),
    "lower": Row(ranks(LOWER), "run", True, ["passed, lower"]),
    "lower, updated": Row(
        ranks(LOWER), "update", True, ["kept, because something is lower", "RR 1.0000 -> 0.9938"]
    ),
    "regressed": Row(ranks(REGRESSED), "run", False, REGRESSION),
    "regressed, updated": Row(ranks(REGRESSED), "update", False, ["update refused: RR regressed"]),
    "regressed, approved": Row(
        ranks(REGRESSED), "approve", True, ['approved "why": RR 1.0000 -> 0.9875'], True
    ),
    "a metric added": Row(
        asserts(*BOTH), "run", False, ["P@5 is not in the baseline, which has RR; it is 0.2000 now"]
    ),
    "a metric added while another is lower": Row(
        both(asserts(*BOTH), ranks(LOWER)), "update", True, ["RR 1.0000 -> 0.9938; to lower"], True
    ),
    "another convention, approved": Row(
        otherwise, "approve", True, ['approved "why": values unchanged'], True
    ),
    "one metric traded for another": Row(  # P@5 rises, as 0 is in the top 5 again; RR falls
        ranks({1: 3, 2: 3}), "update", True, ["baselines kept"], start=both(asserts(*BOTH), ranks({0: 6}))
    ),
    "a slice lower": Row(  # better over all queries and in English, lower in German
        ranks({50: 2}), "update", True, ["baselines kept"], start=both(asserts(BY_LOCALE), ranks({0: 4}))
    ),
    "another golden set of the same name": Row(edited, "run", False, STALE),
    "another golden set, updated": Row(
        edited, "update", True, ["removed or edited: q004 (RR 1.0000), q003 (RR 1.0000)"], True
    ),
    "a query gone and a fall": Row(
        both(smaller, ranks(REGRESSED)), "update", False, ["update refused: RR", "1 query removed"]
    ),
    "a query added while another is lower": Row(
        both(grown, ranks(LOWER)), "update", True, ["test_mrr: extended: values unchanged"], True
    ),
    "no query unchanged": Row(replaced, "run", False, FOREIGN),
    "another depth and convention": Row(otherwise, "run", False, DIFFERENT),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_row(gated: GatedTest, row: Row) -> None:
    row.start(gated)
    before = gated.update()
    row.change(gated)
    outcome = gated.run(
        update=row.mode == "update", approve="why" if row.mode == "approve" else None
    )
    assert outcome.passed == row.passed, outcome.text
    for text in row.says:
        assert text in outcome.text
    assert (gated.path.read_bytes() != before) == row.written
    if row.written:
        assert gated.run().passed, "what is recorded passes"


def test_no_record_fails_and_an_update_writes_it(gated: GatedTest) -> None:
    outcome = gated.run()
    assert not outcome.passed
    assert "RR has no baseline on golden set 'web'; it is 1.0000 now" in outcome.text
    assert "to create it: pytest tests/test_ranking.py::test_mrr --snapshot-update" in outcome.text
    assert not gated.path.exists()
    assert "test_mrr: created" in gated.run(update=True).text
    gate = {"mean": 1.0, "counted": 80, "gated": True, "gate": "tolerance(abs=0.01, rel=0)"}
    assert gated.record["metrics"] == {"RR": gate}
    assert gated.record["golden_set"]["queries"] == len(gated.record["queries"]) == 80


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


def test_an_approval_says_what_it_allows(gated: GatedTest) -> None:
    gated.update()
    replaced(gated)
    gated.run(approve="why")
    assert {"golden-set", "queries-lost"} <= {*gated.record["approvals"][0]["keys"]}
    replaced(gated)
    otherwise(gated)
    gated.run(approve="shallow")
    keys = gated.record["approvals"][-1]["keys"]
    assert keys["depth"] == {"from": 100, "to": 50}
    assert keys["convention:no_relevant"] == {"from": "zero", "to": "exclude"}


def test_an_approval_of_a_gain_has_no_key(gated: GatedTest) -> None:
    WAS_WORSE(gated)
    gated.update()
    BETTER(gated)
    assert gated.run(approve="why").passed
    assert gated.record["approvals"] == []


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


def test_the_approved_lines_stay_where_a_golden_set_grows(gated: GatedTest) -> None:
    gated.update()
    approved = gated.record["queries"]
    grown(gated)
    gated.rank(LOWER)
    gated.update()
    assert gated.record["queries"][:-1] == approved[1:]


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
