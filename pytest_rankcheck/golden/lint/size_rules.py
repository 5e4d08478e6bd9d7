"""The lint rule for too few queries to detect a fall."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytest_rankcheck.errors import plural
from pytest_rankcheck.golden.lint.lint_rule import Linted, LintFinding, rule
from pytest_rankcheck.metrics.metric_names import Metric

_Z_ALPHA, _Z_POWER = 1.6448536269514722, 0.8416212335729143
"""The normal quantiles of 95% and 80%, for a one-sided test at 5% with a power of 80%."""

USUAL_SPREADS: Mapping[str, float] = {
    "nDCG@5": 0.13,
    "nDCG@10": 0.09,
    "nDCG@20": 0.07,
    "nDCG": 0.07,
    "AP@10": 0.09,
    "AP": 0.07,
    "RR@10": 0.17,
    "RR": 0.17,
    "ERR@10": 0.08,
    "P@1": 0.29,
    "P@5": 0.11,
    "P@10": 0.06,
    "R@5": 0.11,
    "R@10": 0.09,
    "R@20": 0.06,
    "R@50": 0.07,
    "Success@1": 0.29,
    "Success@5": 0.22,
    "Success@10": 0.15,
    "RBP": 0.05,
    "Bpref": 0.13,
    "Rprec": 0.10,
}
"""The standard deviation of queries' differences between two versions of a ranker, which decides
what few queries can detect: the median of 16 pairs of versions, 10 changes of BM25 on Cranfield
(225 queries) and 6 of LambdaRank on its example data (251)."""


@rule("warning")
def few_queries(linted: Linted) -> LintFinding | None:
    """Too few queries to detect a fall of the tolerance or, without one, below `min_queries`."""
    options, count = linted.options, len(linted.queries)
    metric = Metric.parse(options.metric)
    spread = options.spread or _usual_spread(metric)
    detected = (_Z_ALPHA + _Z_POWER) * spread / math.sqrt(count)
    if options.tolerance is None:
        needed, size = options.min_queries, f"fewer than {options.min_queries:g}"
        other = "give the fall that a gate should detect as tolerance= (rankcheck_lint)"
    else:
        needed = math.ceil(((_Z_ALPHA + _Z_POWER) * spread / options.tolerance) ** 2)
        size = f"too few for a tolerance of {options.tolerance:g} of {metric}"
        other = f"set the tolerance to {detected:.3f}"
    if count >= needed:
        return None
    own = "" if options.spread else ", or give your standard deviation as spread= (rankcheck_lint)"
    return LintFinding(
        query_ids=(),
        what=f"{plural(count, 'query', 'queries')}, {size}",
        why=f"If a query's {metric} changes with a standard deviation of {spread:g} between two "
        "versions of a ranker, the smallest fall that can be detected with 80% power is "
        f"{detected:.3f}, and a single query that falls from 1 to 0 moves the mean by "
        f"{1 / count:.4f}",
        remedy=f"judge at least {needed:,} queries, or {other}{own}",
    )


def _usual_spread(metric: Metric) -> float:
    """Return the measured spread of a metric, or of the same metric at the nearest cutoff.

    For a metric that was not measured, return the median of all.
    """

    def distance(name: str) -> float:
        cutoffs = Metric.parse(name).cutoff or 100, metric.cutoff or 100
        return abs(math.log(cutoffs[0]) - math.log(cutoffs[1]))

    same = [name for name in USUAL_SPREADS if Metric.parse(name).name == metric.name]
    if same:
        return USUAL_SPREADS[min(same, key=distance)]
    return sorted(USUAL_SPREADS.values())[len(USUAL_SPREADS) // 2]
