"""The report on a metric's laws: what is declared, what holds, and a counter-example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent

from pytest_rankcheck.errors import plural
from pytest_rankcheck.metrics.laws.declared_laws import LawStatus
from pytest_rankcheck.metrics.laws.law_trials import CounterExample

__all__ = ["LawReport", "LawResult"]

_STATUS = {True: "yes", False: "no", "binary": "on binary judgments", None: "-"}
_DECLARED = {
    True: "to hold",
    False: "not to hold",
    "binary": "to hold on binary judgments only",
}
_HOLDS = {True: "always does", False: "does not", "binary": "does on binary judgments only"}


@dataclass(frozen=True, slots=True)
class LawResult:
    """One law: what the metric declares, and what its trials showed."""

    law: str
    definition: str
    """The law as one sentence."""
    declared: LawStatus | None
    """None: nothing is declared."""
    holds: LawStatus | None
    """None: the law does not apply to this metric or this cutoff."""
    counter_example: CounterExample | None = None
    """Rankings that contradict the law; None if it always holds."""

    @property
    def broken(self) -> bool:
        """Whether the declaration is wrong."""
        return None not in (self.declared, self.holds) and self.declared != self.holds

    def __str__(self) -> str:
        if self.broken:
            lines = [f"{self.law}: {self._contradiction()}", f"  {self.definition}"]
        else:
            declared = "" if self.declared is not None else " (not declared)"
            lines = [f"{self.law}: {_STATUS[self.holds]}{declared}"]
        if self.counter_example is not None:
            lines.append(indent(str(self.counter_example), "  "))
        return "\n".join(lines)

    def _contradiction(self) -> str:
        if self.law in ("form", "in_range"):
            return "every metric must keep this law, but this one does not"
        assert self.declared is not None
        assert self.holds is not None
        return f"declared {_DECLARED[self.declared]}, but it {_HOLDS[self.holds]}"


@dataclass(frozen=True, slots=True)
class LawReport:
    """The laws of a metric, tried on all rankings of five documents."""

    metric: str
    """The metric that was asked for."""
    checked: str
    """The metric that was tried: its cutoff is at most 4, so that one document lies below it."""
    scale: tuple[float, ...]
    """The grades that were tried."""
    results: tuple[LawResult, ...]
    seen_binary: float
    """The share of swaps of neighbours with different grades that change the value, from 0 to 1,
    on binary judgments."""
    seen_graded: float
    """The same share on all judgments."""
    changes: tuple[float, ...]
    """The largest change by a swap at rank 1, 2, 3 and 4."""

    def __getitem__(self, law: str) -> LawResult:
        """Return the result for a law."""
        return {result.law: result for result in self.results}[law]

    def __iter__(self) -> Iterator[LawResult]:
        """Yield the result for each law."""
        return iter(self.results)

    @property
    def broken(self) -> Sequence[LawResult]:
        """The results of the laws whose declaration is wrong."""
        return tuple(result for result in self.results if result.broken)

    @property
    def ok(self) -> bool:
        """Whether every declaration is correct."""
        return not self.broken

    def raise_if_broken(self) -> LawReport:
        """Return the report if every declaration is correct.

        Raises:
            AssertionError: the metric breaks a law that it declares to keep, or keeps one that it
                declares not to keep; the message shows rankings.
        """
        if self.broken:
            raise AssertionError(self._failure())
        return self

    def _failure(self) -> str:
        count = plural(len(self.broken), "law")
        lines = [f"{self._heading()}: {count} of {len(self.results)} not as declared"]
        lines += [indent(str(result), "  ") for result in self.broken]
        if any(result.law not in ("form", "in_range") for result in self.broken):
            lines.append("  correct the metric, or what @metric declares")
        return "\n".join(lines)

    def _heading(self) -> str:
        at = f", tried as {self.checked}" if self.checked != self.metric else ""
        grades = ", ".join(f"{grade:g}" for grade in self.scale)
        return f"{self.metric} on all rankings of five documents with the grades {grades}{at}"

    def __str__(self) -> str:
        if self.broken:
            return self._failure()
        lines = [f"{self._heading()}: all laws are as declared"]
        lines += [indent(str(result), "  ") for result in self.results]
        return "\n".join(lines)
