"""Lint rules for size: slices too small to gate, and too few queries to detect a fall."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, rule
from pytest_rankcheck.golden.lint.metric_spreads import Spread, spread_for
from pytest_rankcheck.metrics.metric_names import Metric

_Z_ALPHA, _Z_POWER = 1.6448536269514722, 0.8416212335729143
"""The normal quantiles of 95% and 80%, for a one-sided test at 5% with a power of 80%."""


@rule("warning")
def small_slice(linted: Linted) -> RuleResult | None:
    """A slice with too few queries to be gated."""
    least = linted.options.min_queries
    slices = list(_small_slices(linted, least))
    if not slices:
        return None
    shown = [f"{label} ({len(query_ids)})" for label, query_ids in slices]
    concerned = tuple(dict.fromkeys(query_id for _, ids in slices for query_id in ids))
    return RuleResult(
        query_ids=concerned,
        what=f"{plural(len(slices), 'slice has', 'slices have')} fewer than {least} queries: "
        f"{listed(shown)}",
        why="A gate reports them but does not block, so a fall there passes",
        remedy="judge more queries of that kind, merge slices, or lower min_queries",
    )


def _small_slices(linted: Linted, least: int) -> Iterator[tuple[str, Sequence[str]]]:
    for attribute, slices in linted.slices.items():
        for label, query_ids in slices.items():
            if len(query_ids) < least:
                yield f"{quoted(attribute)}={quoted(label)}", query_ids


@rule("warning")
def few_queries(linted: Linted) -> RuleResult | None:
    """Too few queries to detect a fall of the tolerance or, without one, below `min_queries`."""
    tolerance = linted.options.tolerance
    if tolerance is None:
        return _too_few_to_gate(linted)
    count, spread = len(linted.queries), _spread(linted.options)
    needed = [_needed(each, tolerance) for each in (spread.low, spread.middle, spread.high)]
    if count >= needed[1]:
        return None
    lone = ""
    if 1 / count > tolerance:
        lone = f"; a single query that falls from 1 to 0 moves the mean by {1 / count:.4f}"
    falls = [_detected(each, count) for each in (spread.low, spread.middle, spread.high)]
    metric = str(Metric.parse(linted.options.metric))
    if not spread.of:
        why = f"If the differences between queries have a standard deviation of {spread.middle:g}, "
        smallest, wanted = f"{falls[1]:.4f}", f"judge {needed[1]:,} queries"
    else:
        of = "" if spread.of == metric else f" (measured for {spread.of})"
        why = (
            f"Between two versions of a ranker, a query's {metric} changes with a standard "
            f"deviation of {spread.low:g} to {spread.high:g}{of}, so "
        )
        smallest = f"{falls[0]:.3f} to {falls[2]:.3f}, typically {falls[1]:.3f}"
        wanted = f"judge {needed[1]:,} queries ({needed[0]:,} to {needed[2]:,})"
    own = ", or give your own standard deviation as spread=" if spread.of else ""
    joint = "," if own else ", or"
    return RuleResult(
        query_ids=(),
        what=f"{plural(count, 'query', 'queries')} for a tolerance of {tolerance:g} of "
        f"{metric}{lone}",
        why=f"{why}the smallest fall that can be detected with 80% power is {smallest}",
        remedy=f"{wanted}{joint} set the tolerance to {falls[1]:.3f}{own}",
    )


def _spread(options: LintOptions) -> Spread:
    if options.spread is not None:
        return Spread(options.spread, options.spread, options.spread, "")
    return spread_for(Metric.parse(options.metric))


def _needed(spread: float, tolerance: float) -> int:
    """Return how many queries are needed to detect a fall of the tolerance."""
    return math.ceil(((_Z_ALPHA + _Z_POWER) * spread / tolerance) ** 2)


def _detected(spread: float, count: int) -> float:
    """Return the smallest fall that this many queries can detect."""
    return (_Z_ALPHA + _Z_POWER) * spread / math.sqrt(count)


def _too_few_to_gate(linted: Linted) -> RuleResult | None:
    """Return the result about a set that is smaller than the smallest gated slice."""
    count, least = len(linted.queries), linted.options.min_queries
    if count >= least:
        return None
    metric, spread = Metric.parse(linted.options.metric), _spread(linted.options)
    return RuleResult(
        query_ids=(),
        what=f"{plural(count, 'query', 'queries')}, fewer than {least}",
        why=f"If a query's {metric} changes with a standard deviation of {spread.middle:g} "
        "between two versions of a ranker, the smallest fall that can be detected with 80% power "
        f"is {_detected(spread.middle, count):.3f}, and a single query that falls from 1 to 0 "
        f"moves the mean by {1 / count:.4f}",
        remedy=f"judge at least {least} queries, or give the fall that a gate should detect as "
        "tolerance=",
    )
