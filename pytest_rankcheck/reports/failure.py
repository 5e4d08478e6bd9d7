"""A failure of a gate: the text of the terminal, and the values that other reports show instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    def detail(self, evaluation: Evaluation, decisions: Iterable[Any]) -> dict[str, Any]:
        """Return it as the JSON report has it.

        Args:
            evaluation: what was measured.
            decisions: what was decided on all queries, then on each slice.
        """
        from pytest_rankcheck.reports.measurement_findings import TOP, as_json

        remarks = (line.strip() for line in self.lines[1:] if not isinstance(line, ValueLine))
        worst = [{"id": each, "below": _below(evaluation, each, TOP)} for each in self.worst]
        known = {"slice": self.slice, "decisions": [*decisions], "remarks": [*remarks]}
        detail = {"headline": self.lines[0], **known, "worst": worst}
        made: dict[str, Any] = as_json(detail)
        return made


def _below(evaluation: Evaluation, query_id: str, top: int) -> dict[str, int]:
    """Return the ranks of relevant documents that are below the top that reports show."""
    grades, ranks = evaluation.golden.grades(query_id), evaluation.ranks(query_id)
    return {doc: rank for doc, rank in ranks.items() if rank > top and grades.get(doc, 0) > 0}
