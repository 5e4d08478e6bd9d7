"""The leaderboard: the ranker that ships and its candidates on a golden set, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.measurement_findings import as_json
from pytest_rankcheck.reports.text.wording import change, number_text

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.runs_comparison import RunRow, RunsComparison


@dataclass(frozen=True, slots=True)
class LeaderboardFinding(ReportedFinding):
    """The rankers that were compared on a golden set, and those that could not be."""

    comparison: RunsComparison
    failures: Mapping[str, str]
    """For each candidate that could not be compared, the reason."""

    @property
    def title(self) -> str:
        """What it compares, and what its marks mean."""
        return (
            f"golden set '{quoted(self.comparison.golden.name)}', compared with the ranker that "
            "ships (* more than chance: p <= 0.05, paired t-test, Holm)"
        )

    @property
    def cells(self) -> Sequence[Sequence[str]]:
        """The header and a row for each ranker, as text; the last cell is Judged@k."""
        rows = self.comparison.best_first
        table = [["ranker", *dict.fromkeys(each.metric for each in rows), "judged"]]
        for name in dict.fromkeys(each.run for each in rows):
            of_run = [each for each in rows if each.run == name]
            ships = " (ships)" if name == self.comparison.against else ""
            judged = number_text(of_run[0].judged)
            table.append([quoted(name, 40) + ships, *map(_cell, of_run), judged])
        return table

    @property
    def failure_lines(self) -> Sequence[str]:
        """A line for each candidate that could not be compared."""
        return [f"{quoted(name, 40)}: {text}" for name, text in self.failures.items()]

    def to_json(self) -> dict[str, Any]:
        """Return it in built-in types, as ``report.schema.json`` describes it."""
        return {
            "golden_set": self.comparison.golden.name,
            "ranker": self.comparison.against,
            "rows": as_json(self.comparison.best_first),
            "failures": dict(self.failures),
        }


def _cell(row: RunRow) -> str:
    """Return a mean, and its difference from the ranker's if there is one."""
    mark = "*" if row.p <= 0.05 else ""
    return number_text(row.mean) + (f" {change(row.difference)}{mark}" if row.difference else "")
