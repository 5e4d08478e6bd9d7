"""A test with a baseline, run on values instead of by pytest: what it says and what it writes."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from project import Project

from pytest_rankcheck import Evaluation, GoldenSet, Run, assert_mrr_not_regressed, evaluate
from pytest_rankcheck.assertions.regression_assertion import enter_unreached_gates
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.check import Mode
from pytest_rankcheck.baselines.register import Defaults
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.files.whole_files import locked_folder, write_whole
from pytest_rankcheck.plugin.item_findings import refuse_dropped_gates
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.html_report import html_of
from pytest_rankcheck.reports.json_report import json_of
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.markdown_report import markdown_of
from pytest_rankcheck.reports.report_data import report_of
from pytest_rankcheck.reports.text.baseline_notes import baseline_notes, watched_findings
from pytest_rankcheck.reports.text.summary_table import summary_lines

Assertion = Callable[[Evaluation, Baseline], object]
MRR: Assertion = partial(assert_mrr_not_regressed, abs=0.01)


class PlainStore:
    """A baseline file without syrupy."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shown_path = path.name

    def submit(self, text: str, refusal: str | None = None) -> None:
        is_new = not self.path.exists() or self.path.read_text("utf-8") != text
        if refusal is None and is_new:
            write_whole(self.path, text)

    def locked(self) -> AbstractContextManager[None]:
        return locked_folder(self.path.parent)


@dataclass
class MainBranch:
    """The reference: the text of the file on main."""

    content: str | None
    name: str = "main"
    is_ahead: bool = False
    """Whether it has changed the file since the branch left it, and the branch has not."""

    def text(self, path: Path) -> str | None:
        return self.content

    def refuse_elsewhere(self, path: Path) -> None:
        """The file is in the repository."""

    def obstacle(self, path: Path) -> None:
        """Nothing stands in place of the file."""

    def has_moved(self, path: Path) -> bool:
        return self.is_ahead

    def is_behind(self, path: Path, text: str | None) -> bool:
        return self.is_ahead


class Outcome(NamedTuple):
    """How a run of the test ended."""

    failure: str
    """The text of the failure; empty if it passed."""
    findings: Sequence[ReportedFinding]

    @property
    def passed(self) -> bool:
        return not self.failure

    @property
    def text(self) -> str:
        """What the terminal shows: the failure and the summary."""
        lines = [line.text for line in summary_lines(self.findings, 100)]
        return "\n".join([self.failure, *lines])

    @property
    def table(self) -> dict[str, str]:
        """The rows of the summary's table by metric."""
        rows = [line for line in self.text.splitlines() if line.startswith("web ")]
        return {line.split()[1]: " ".join(line.split()) for line in rows}

    @property
    def outputs(self) -> dict[str, str]:
        """What each output shows, with white space collapsed."""
        report = report_of(self.findings, "pytest")
        texts = {
            "terminal": self.text,
            "markdown": markdown_of(report).replace("\\", ""),  # it escapes punctuation
            "html": html_of(report).replace("&gt;", ">"),
            "json": json_of(report),
        }
        return {name: " ".join(text.split()) for name, text in texts.items()}


def searching(ranks: Mapping[int, int | None], fillers: int = 12) -> Callable[[str], list[str]]:
    """Return a ranker with the relevant document of some queries there, and first in all others."""
    by_text = {f"query {index}": rank for index, rank in ranks.items()}

    def search(text: str) -> list[str]:
        ranking = [f"filler-{index}" for index in range(fillers)]
        rank = by_text.get(text, 1)
        if rank is not None:
            ranking.insert(rank - 1, f"doc of {text}")
        return ranking

    return search


class GatedTest:
    """A test of the ranker of `Project` in a folder, with its record."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "test_mrr--web.json"
        self.assertions: tuple[Assertion, ...] = (MRR,)
        self.conventions: dict[str, Any] = {}
        self.depth = 100
        self.fillers = 12
        self.others: Sequence[Mapping[int, int | None]] = ()
        """The ranks of further replicates."""
        self.inconclusive = "warn"
        self.evidence = False
        """Whether failure texts have the evidence, as with -v."""
        self.defaults = Defaults()
        self.golden(Project.queries())
        self.rank({})

    def golden(self, lines: list[dict[str, Any]]) -> None:
        """Set the golden set."""
        self.golden_file("\n".join(map(json.dumps, lines)))

    def golden_file(self, text: str) -> None:
        """Set the golden set to the one in a text."""
        self.path.with_name("web.jsonl").write_text(text, "utf-8")
        self.golden_set = GoldenSet.load(self.path.with_name("web.jsonl"))

    def rank(self, ranks: Mapping[int, int | None]) -> None:
        """Set the rank of the relevant document of some queries; for all others it is first."""
        self.search: Callable[[str], list[str]] = searching(ranks, self.fillers)

    def evaluation(self) -> Evaluation:
        """Return what is measured now."""
        searches = (self.search, *map(searching, self.others))
        runs = [
            Run.from_dict(
                {each.id: search(each.text) for each in self.golden_set}, depth=self.depth
            )
            for search in searches
        ]
        return evaluate(runs, self.golden_set, **self.conventions)

    def run(
        self, *, update: bool = False, approve: str | None = None, main: MainBranch | None = None
    ) -> Outcome:
        """Make the assertions, against a reference if given, and write the record if they pass."""
        given = approve is not None
        mode = Mode(update or given, approval=approve)
        test = "tests/test_ranking.py::test_mrr"
        baseline = Baseline(
            lambda _: PlainStore(self.path),
            test,
            mode,
            replace(self.defaults, inconclusive=self.inconclusive),
            main,  # type: ignore[arg-type]
            key="test_mrr",
            expected_golden=lambda: "web",
        )
        evaluation, failure = self.evaluation(), ""
        with collecting(detail=True, evidence=self.evidence) as ledger:
            try:
                for assertion in self.assertions:
                    assertion(evaluation, baseline)
                refuse_dropped_gates(baseline)
            except AssertionError as error:
                failure = str(error)
                enter_unreached_gates(baseline, evaluation)
            except BaselineError as error:
                failure = str(error)
        findings = [*ledger, *watched_findings(baseline)]
        settlement = None if failure else baseline.write_or_keep()
        if settlement is not None:
            findings += baseline_notes(baseline, settlement)
        return Outcome(failure, [finding.with_test(test) for finding in findings])

    def update(self) -> bytes:
        """Record what is measured now, and return the bytes of the record."""
        outcome = self.run(update=True)
        assert outcome.passed, outcome.failure
        return self.path.read_bytes()

    @property
    def record(self) -> dict[str, Any]:
        """The entries of the record."""
        record: dict[str, Any] = json.loads(self.path.read_text("utf-8"))
        return record
