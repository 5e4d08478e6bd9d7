"""A failure of a gate: the text of the terminal, and the values that other reports show instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.remedies import Remedy

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.evaluation import Evaluation


class ValueLine(str):
    """A line of a text whose values reports show in another form: a slice, a query, a command."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a gate failed, and what to do."""

    lines: Sequence[str]
    """The text, line by line; the first is the headline."""
    slice: str = ""
    """What it is about, as ``attribute=value``; empty for all queries."""
    worst: Sequence[str] = ()
    """The queries that the text shows, the worst first."""
    remedy: Remedy | None = None

    @property
    def text(self) -> str:
        """What the terminal shows."""
        return "\n".join(self.lines)

    def detail(self, evaluation: Evaluation, whole: Mapping[str, Any]) -> dict[str, Any]:
        """Return it as fields of a gate in the JSON report.

        Args:
            evaluation: what was measured.
            whole: the gate on all queries, with its slices.
        """
        from pytest_rankcheck.reports.measurement_findings import TOP, as_json

        remarks = (line.strip() for line in self.lines[1:] if not isinstance(line, ValueLine))
        worst = [{"id": each, "below": _below(evaluation, each, TOP)} for each in self.worst]
        sign = 1 if whole["higher_is_better"] else -1
        slices = sorted(
            whole["slices"], key=lambda part: sign * (part["difference"] or part["now"])
        )
        known = {"slice": self.slice, "remarks": [*remarks], "worst": worst}
        failure = {"headline": self.lines[0], "decisions": [whole["overall"], *slices], **known}
        return {"text": self.text, "failure": as_json(failure)}


def _below(evaluation: Evaluation, query_id: str, top: int) -> dict[str, int]:
    """Return the ranks of relevant documents that are below the top that reports show."""
    grades, ranks = evaluation.golden.grades(query_id), evaluation.ranks(query_id)
    return {doc: rank for doc, rank in ranks.items() if rank > top and grades.get(doc, 0) > 0}
