"""What the check of a metric found: law by law, what is declared, what holds, and why not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent

from pytest_rankcheck.errors import plural
from pytest_rankcheck.metrics.laws.declared_laws import Holds
from pytest_rankcheck.metrics.laws.law_cases import CounterExample

__all__ = ["LawReport", "LawResult", "told"]

_WORDS = {True: "yes", False: "no", "binary": "on binary judgments", None: "-"}
_DECLARED = {
    True: "to hold",
    False: "not to hold",
    "binary": "to hold on binary judgments only",
}
_HOLDS = {True: "always does", False: "does not", "binary": "does on binary judgments only"}


def told(holds: Holds | None) -> str:
    """Return in a word where a law holds."""
    return _WORDS[holds]


@dataclass(frozen=True, slots=True)
class LawResult:
    """One law: what is declared of it, and what its trials found."""

    law: str
    definition: str
    """The law as one sentence."""
    declared: Holds | None
    """None: nothing is declared."""
    holds: Holds | None
    """None: the law says nothing of this metric, or of this cutoff."""
    counter_example: CounterExample | None = None
    """Rankings that contradict the law, where it does not hold everywhere."""

    @property
    def broken(self) -> bool:
        """Whether something else is declared than holds."""
        return None not in (self.declared, self.holds) and self.declared != self.holds

    def __str__(self) -> str:
        if self.broken:
            lines = [f"{self.law}: {self._contradiction()}", f"  {self.definition}"]
        else:
            declared = "" if self.declared is not None else " (not declared)"
            lines = [f"{self.law}: {told(self.holds)}{declared}"]
        if self.counter_example is not None:
            lines.append(indent(str(self.counter_example), "  "))
        return "\n".join(lines)

    def _contradiction(self) -> str:
        if self.law in ("form", "in_range"):
            return "every metric must keep this law, and this one does not"
        assert self.declared is not None
        assert self.holds is not None
        return f"declared {_DECLARED[self.declared]}, but it {_HOLDS[self.holds]}"


@dataclass(frozen=True, slots=True)
class LawReport:
    """The laws of a metric, tried on all rankings of five documents."""

    metric: str
    """The metric that was asked for."""
    checked: str
    """The metric that was tried: five documents reach beyond its cutoff."""
    scale: tuple[float, ...]
    """The grades that were tried."""
    results: tuple[LawResult, ...]
    seen_binary: float
    """The share of swaps of neighbours with different grades that it sees, binary judgments."""
    seen_graded: float
    """The same on all judgments."""
    changes: tuple[float, ...]
    """The most that a swap at rank 1, 2, 3 and 4 changes."""

    def __getitem__(self, law: str) -> LawResult:
        """Return what was found of a law."""
        return {result.law: result for result in self.results}[law]

    def __iter__(self) -> Iterator[LawResult]:
        """Yield what was found of each law."""
        return iter(self.results)

    @property
    def broken(self) -> Sequence[LawResult]:
        """The laws of which something else is declared than holds."""
        return tuple(result for result in self.results if result.broken)

    @property
    def ok(self) -> bool:
        """Whether all that is declared holds, and nothing that is declared not to."""
        return not self.broken

    def raise_if_broken(self) -> LawReport:
        """Return the report, if all is as it is declared.

        Raises:
            AssertionError: a law is not kept that is declared to be, or is kept that is declared
                not to be; with rankings that show it.
        """
        if self.broken:
            raise AssertionError(self._failure())
        return self

    def _failure(self) -> str:
        count = plural(len(self.broken), "law")
        are = "is" if len(self.broken) == 1 else "are"
        lines = [f"{self._heading()}: {count} of {len(self.results)} {are} not as declared"]
        lines += [indent(str(result), "  ") for result in self.broken]
        if any(result.law not in ("form", "in_range") for result in self.broken):
            lines.append("  mend the metric, or what @metric declares of it")
        return "\n".join(lines)

    def _heading(self) -> str:
        at = f", tried as {self.checked}" if self.checked != self.metric else ""
        grades = ", ".join(f"{grade:g}" for grade in self.scale)
        return f"{self.metric} on all rankings of five documents with the grades {grades}{at}"

    def __str__(self) -> str:
        if self.broken:
            return self._failure()
        lines = [f"{self._heading()}: all is as declared"]
        lines += [indent(str(result), "  ") for result in self.results]
        return "\n".join(lines)
