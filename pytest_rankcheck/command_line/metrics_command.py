"""``python -m pytest_rankcheck metrics``: the catalogue of metrics, or the card of one of them."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill

from pytest_rankcheck.command_line.shared_inputs import PASSED, Commands
from pytest_rankcheck.metrics.metric_definition import Definition
from pytest_rankcheck.metrics.metric_laws import LawReport, LawResult, check_metric
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.metric_parameters import spelled
from pytest_rankcheck.metrics.metric_registry import definitions, registered
from pytest_rankcheck.metrics.metric_trials import DOCUMENTS

_TRIED_CUTOFF = DOCUMENTS - 1
_STATUS = {True: "yes", False: "no", "binary": "binary", None: "-"}


def add_metrics_command(commands: Commands) -> None:
    """Add the command ``metrics`` to the parser."""
    metrics = commands.add_parser("metrics", help="list the metrics, or describe one of them")
    metrics.add_argument(
        "name",
        nargs="?",
        help="a metric or an alias, such as nDCG or MRR, or nDCG(gain=exponential)@10",
    )
    metrics.set_defaults(run=_metrics)


def _metrics(chosen: argparse.Namespace) -> int:
    if chosen.name is None:
        for name, metric in definitions().items():
            aliases = f" ({', '.join(metric.aliases)})" if metric.aliases else ""
            print(f"{name}{aliases}\n    {metric.summary}")
        return PASSED
    print("\n".join(card_of(_described(chosen.name)).lines()))
    return PASSED


def _described(name: str) -> Definition | Metric:
    """Return the metric with this name, with the parameters that another tool's name implies."""
    entry = registered(name)
    return entry if entry and not entry.as_spelled(name, {}) else Metric.parse(name)


@dataclass(frozen=True, slots=True)
class MetricCard:
    """A metric's definition and its law reports, without a cutoff and at a cutoff if it has one."""

    definition: Definition
    reports: tuple[LawReport, ...]

    def laws(self) -> Iterator[tuple[LawResult, ...]]:
        """Yield the results of each law, one from each report."""
        yield from zip(*(report.results for report in self.reports), strict=True)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the printed card."""
        definition = self.definition
        low, high = definition.range
        facts = {
            "formula": definition.formula,
            "use": definition.use,
            "also called": ", ".join(definition.aliases),
            "better": definition.better,
            "range": f"{low:g} to {high:g}",
            "after the @": definition.at or "nothing",
            "unit": definition.unit,
            "mean": "" if definition.is_mean_of_values else definition.aggregate,
            "unjudged": "" if definition.unjudged == "-" else f"counts as {definition.unjudged}",
            "source": definition.reference,
        }
        yield definition.name
        yield from _wrapped("", definition.summary)
        for label, fact in facts.items():
            if fact:
                yield from _wrapped(label, fact)
        yield "  parameters"
        for parameter in definition.parameters.values():
            default = "" if parameter.default is None else spelled(parameter.default)
            yield f"    {parameter.name}={default}"
            yield from _wrapped("", f"{parameter.description}; takes {parameter.allowed}", 8)
        if self.reports:
            yield from self._seen_lines()
            yield from self._law_lines()
        else:
            what = f"do not apply to a metric of {definition.kind.measures}"
            yield from _wrapped("laws", what)

    def _seen_lines(self) -> Iterator[str]:
        yield f"  swaps of neighbours with different grades, all rankings of {DOCUMENTS} documents"
        for report in self.reports:
            changes = ", ".join(f"{change:.3g}" for change in report.changes)
            yield (
                f"    {report.checked} changes in {percentage(report.seen_binary)} of them on "
                f"binary judgments, in {percentage(report.seen_graded)} on graded ones"
            )
            yield f"        a swap at rank 1, 2, ... changes it by at most {changes}"

    def _law_lines(self) -> Iterator[str]:
        tried = [report.checked for report in self.reports]
        widths = [max(6, len(name)) for name in tried]
        yield f"  laws, tried on all rankings of {DOCUMENTS} documents"
        yield f"    {_columns(tried, widths)}".rstrip()
        for results in self.laws():
            statuses = [_STATUS[result.holds] for result in results]
            first = results[0]
            yield f"    {_columns(statuses, widths)}  {first.law.ljust(15)}{first.definition}"


def card_of(metric: Definition | Metric) -> MetricCard:
    """Return the card of a metric, or of a definition with the defaults of its parameters.

    Raises:
        MetricError: the metric does not accept the usual grades.
    """
    if not metric.kind.is_of_judgments:
        return MetricCard(metric if isinstance(metric, Definition) else metric.definition, ())
    if isinstance(metric, Metric):
        return MetricCard(metric.definition, (check_metric(metric),))
    tried = {
        "cutoff": (metric.name, f"{metric.name}@{_TRIED_CUTOFF}"),
        "recall": (f"{metric.name}@0.5",),
        None: (metric.name,),
    }[metric.at]
    return MetricCard(metric, tuple(check_metric(name) for name in tried))


def percentage(part: float) -> str:
    """Return a share as a percentage: ``46.9%``; ``-`` for NaN."""
    return "-" if math.isnan(part) else f"{part:.1%}".replace(".0%", "%")


def _columns(words: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(word.ljust(width) for word, width in zip(words, widths, strict=True))


def _wrapped(label: str, text: str, indent: int = 2) -> Iterator[str]:
    """Yield a labelled fact, wrapped to as many lines as it needs."""
    start = " " * indent + (f"{label:<14}" if label else "")
    yield from fill(text, 100, initial_indent=start, subsequent_indent=" " * len(start)).split("\n")
