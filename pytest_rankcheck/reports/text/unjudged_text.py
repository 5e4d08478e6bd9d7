"""How much of a difference unjudged documents could explain, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_rankcheck.comparison.unjudged_documents import Unjudged
from pytest_rankcheck.errors import plural
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.metric_findings import UnjudgedDetail
from pytest_rankcheck.reports.text.wording import change

__all__ = ["needed_text", "unjudged_lines"]


def unjudged_lines(unjudged: Unjudged, metric: Metric) -> Iterator[str]:
    """Yield how many unjudged documents there are, and the bounds; nothing without any."""
    if not unjudged.documents and not unjudged.left:
        return
    yield f"  {_counts(unjudged)}"
    if metric.definition.ir_measures:
        return
    grade = f"grade {unjudged.grade:g}"
    bounds = []
    if unjudged.documents:
        bounds.append(f"if the new had {grade}, {change(unjudged.if_relevant)}")
    if unjudged.left and not math.isnan(unjudged.if_left_relevant):
        bounds.append(f"if those that left had it, {change(unjudged.if_left_relevant)}")
    irrelevant = change(unjudged.if_irrelevant)
    bounds.insert(0, f"if all were irrelevant, the difference would be {irrelevant}")
    if not unjudged.documents:
        bounds[1:] = [each.replace("had it", f"had {grade}") for each in bounds[1:]]
    yield f"    {'; '.join(bounds)}"
    if unjudged.could_explain_fall:
        yield f"    {needed_text(unjudged)}: judge them before you decide"


def _counts(unjudged: Unjudged) -> str:
    new = plural(unjudged.documents, "document")
    if not unjudged.left:
        verb = "is" if unjudged.documents == 1 else "are"
        start = f"{new} new in the top {unjudged.k} {verb} unjudged"
    elif not unjudged.documents:
        verb = "was" if unjudged.left == 1 else "were"
        start = (
            f"{plural(unjudged.left, 'document')} that left the top {unjudged.k} {verb} unjudged"
        )
    else:
        start = f"{new} new in the top {unjudged.k} and {unjudged.left:,} that left it are unjudged"
    judged = f"Judged@{unjudged.k} {unjudged.judged_before:.3f} -> {unjudged.judged_after:.3f}"
    return f"{start} and counted as not relevant; {judged}"


def needed_text(unjudged: Unjudged | UnjudgedDetail) -> str:
    """Return how many of the new documents would have to be relevant for a fall to vanish."""
    assert unjudged.needed is not None
    assert unjudged.relevant_share is not None
    were = "was" if unjudged.needed == 1 else "were"
    of_left = ""
    if unjudged.left:
        of_left = f" and {unjudged.relevant_share:.0%} of those that left"
    return (
        f"if {unjudged.needed:,} of the {unjudged.documents:,} new ones "
        f"({unjudged.needed / unjudged.documents:.0%}){of_left} {were} relevant, the fall would "
        f"vanish; of the judged documents in the top {unjudged.k}, {unjudged.relevant_share:.0%} "
        "are relevant"
    )
