"""How much queries differ in what they gain from a new version, for each metric.

Whether a golden set is large enough depends on the standard deviation of its queries' differences,
and that depends on the metric. This measures it on pairs of versions of real rankers: the changes
of BM25 on Cranfield and of LambdaRank of `real_pairs`. It prints the least, the median and the
largest of each metric, as they stand in ``pytest_rankcheck/golden/lint/metric_spreads.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import cranfield_bm25
import lambdarank_folds
import numpy as np
from real_pairs import DATA, Ranking, cranfield_changes, lambdarank_changes

from pytest_rankcheck import GoldenSet, Metric, evaluate

METRICS = (
    *("nDCG@5", "nDCG@10", "nDCG@20", "nDCG", "AP@10", "AP", "RR@10", "RR", "ERR@10"),
    *("P@1", "P@5", "P@10", "R@5", "R@10", "R@20", "R@50"),
    *("Success@1", "Success@5", "Success@10", "RBP(p=0.8)", "Bpref", "Rprec"),
)


def spreads(
    golden: GoldenSet, changes: Mapping[str, tuple[Ranking, Ranking]]
) -> Iterator[list[float]]:
    """Yield the standard deviation of each metric's differences for each change."""
    for old, new in changes.values():
        before, after = (evaluate(ranking(), golden) for ranking in (old, new))
        yield [
            float(np.std(after.values(metric) - before.values(metric), ddof=1))
            for metric in map(Metric.parse, METRICS)
        ]


def measured() -> Mapping[str, tuple[float, float, float]]:
    """Return the least, the median and the largest of each metric, at least 0.01."""
    cranfield, lambdarank = DATA / "cranfield", DATA / "lightgbm-lambdarank"
    rows = [
        *spreads(cranfield_bm25.golden_set(cranfield), cranfield_changes(cranfield)),
        *spreads(lambdarank_folds.golden_set(lambdarank), lambdarank_changes(lambdarank)),
    ]
    found = {}
    for name, values in zip(METRICS, np.array(rows).T, strict=True):
        low, middle, high = np.maximum(0.01, np.quantile(values, (0, 0.5, 1))).tolist()
        found[name.partition("(")[0]] = low, middle, high
    return found


if __name__ == "__main__":
    for name, (low, middle, high) in measured().items():
        print(f'    "{name}": ({low:.2f}, {middle:.2f}, {high:.2f}),')
