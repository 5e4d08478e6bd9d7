"""The card of a metric: what is declared of it, and what its laws were found to be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill

from pytest_rankcheck.metrics.laws.law_check import DOCUMENTS, LAWS, check_metric
from pytest_rankcheck.metrics.laws.law_report import LawReport, LawResult
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.metric_parameters import spelled
from pytest_rankcheck.metrics.metric_registry import Definition

__all__ = ["Card", "card_of"]

_TRIED_CUTOFF = DOCUMENTS - 1
_SHORT = {True: "yes", False: "no", "binary": "binary", None: "-"}


@dataclass(frozen=True, slots=True)
class Card:
    """A metric and the check of it: of the whole ranking, and at a cutoff where it may have one."""

    definition: Definition
    reports: tuple[LawReport, ...]

    @property
    def tried(self) -> Sequence[str]:
        """What the columns of the laws are of."""
        return [report.checked for report in self.reports]

    def laws(self) -> Iterator[tuple[LawResult, ...]]:
        """Yield each law, as it was found in each report."""
        for law in LAWS:
            yield tuple(report[law.__name__] for report in self.reports)

    def lines(self) -> Iterator[str]:
        """Yield the card as it is printed."""
        found = self.definition
        low, high = found.range
        facts = {
            "formula": found.formula,
            "use it": found.use,
            "also called": ", ".join(found.aliases),
            "better": "higher" if found.higher_is_better else "lower",
            "range": f"{low:g} to {high:g}",
            "after the @": found.at or "nothing",
            "unit": found.unit,
            "mean": "" if found.is_mean_of_values else found.aggregate,
            "unjudged": ""
            if found.unjudged == "-"
            else f"an unjudged document is {found.unjudged}",
            "source": found.reference,
        }
        yield found.name
        yield from _wrapped("", found.summary)
        for label, fact in facts.items():
            if fact:
                yield from _wrapped(label, fact)
        yield "  parameters"
        for parameter in found.parameters.values():
            default = "" if parameter.default is None else spelled(parameter.default)
            yield f"    {parameter.name}={default}"
            yield from _wrapped("", f"{parameter.description}; takes {parameter.allowed}", 8)
        if self.reports:
            yield from self._seen_lines()
            yield from self._law_lines()
        else:
            what = "sessions" if found.unit == "session" else "a whole run"
            yield from _wrapped("laws", f"those of rankings say nothing of {what}")

    def _seen_lines(self) -> Iterator[str]:
        yield f"  swaps of two neighbours with different grades, of all rankings of {DOCUMENTS}"
        for report in self.reports:
            changes = ", ".join(f"{change:.3g}" for change in report.changes)
            yield (
                f"    {report.checked} sees {share(report.seen_binary)} on binary judgments, "
                f"{share(report.seen_graded)} on graded ones"
            )
            yield f"        one at rank 1, 2, ... changes it by at most {changes}"

    def _law_lines(self) -> Iterator[str]:
        widths = [max(6, len(name)) for name in self.tried]
        yield f"  laws, tried on all rankings of {DOCUMENTS} documents"
        yield f"    {_columns(self.tried, widths)}".rstrip()
        indent = " " * (4 + sum(widths) + 2 * len(widths) + 15)
        for results in self.laws():
            told = [_SHORT[result.holds] for result in results]
            first = results[0]
            yield f"    {_columns(told, widths)}  {first.law.ljust(15)}{first.definition}"
            example = next((one.counter_example for one in results if one.counter_example), None)
            if example is not None:
                yield f"{indent}  {example.why}"
                yield from (f"{indent}    {shown}" for shown in example.shown)


def card_of(metric: Definition | Metric) -> Card:
    """Return the card of a metric; of a definition, with the defaults of its parameters.

    Raises:
        MetricError: it is not a metric over judged hits, or does not fit the usual grades.
    """
    if metric.unit != "query":
        return Card(metric if isinstance(metric, Definition) else metric.definition, ())
    if isinstance(metric, Metric):
        return Card(metric.definition, (check_metric(metric),))
    tried = {
        "cutoff": (metric.name, f"{metric.name}@{_TRIED_CUTOFF}"),
        "recall": (f"{metric.name}@0.5",),
        None: (metric.name,),
    }[metric.at]
    return Card(metric, tuple(check_metric(name) for name in tried))


def share(part: float) -> str:
    """Return a share in words: ``46.9%``; nothing where there is none."""
    return "-" if math.isnan(part) else f"{part:.1%}".replace(".0%", "%")


def _columns(words: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(word.ljust(width) for word, width in zip(words, widths, strict=True))


def _wrapped(label: str, text: str, indent: int = 2) -> Iterator[str]:
    """Yield a fact with its label, on as many lines as it needs."""
    start = " " * indent + (f"{label:<14}" if label else "")
    yield from fill(text, 100, initial_indent=start, subsequent_indent=" " * len(start)).split("\n")
