"""What the queries that fell have in common, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rankcheck.comparison.cause import Cause
from pytest_rankcheck.metrics.metric_names import Metric


def in_common_lines(
    causes: Sequence[Cause], metric: Metric, fallen: int, most: int | None = None
) -> Iterator[str]:
    """Yield a heading and a line for each cause, or that there is none.

    Args:
        causes: what was found, the best first.
        metric: the metric that fell.
        fallen: how many queries fell; of a single one, the causes are not in common.
        most: how many causes to show; None: all.
    """
    verb = "fell" if metric.higher_is_better else "rose"
    those = f"the {fallen:,} {metric.kind.plural} that {verb}"
    if fallen < 2:
        yield from (cause.text for cause in causes)
    elif causes:
        yield f"what {those} in {metric} have in common"
        yield from (f"  {cause.text}" for cause in causes[:most])
    else:
        yield f"{those} have nothing in common that was looked for"
