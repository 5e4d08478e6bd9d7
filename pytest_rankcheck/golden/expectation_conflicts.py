"""Finding expectations of one query that no ranking can meet together."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from pytest_rankcheck.errors import listed, quoted
from pytest_rankcheck.golden.expectation import Expectation

__all__ = ["conflict_in"]


def conflict_in(expectations: Sequence[Expectation]) -> str | None:
    """Return why no ranking can meet all these expectations of one query; None if one can.

    Detected conflicts: no results together with documents, a document both in and out of a top,
    more documents than a top holds, circular orders, and an expectation both with and without a
    known failure.
    """
    return (
        _marks(expectations)
        or _emptiness(expectations)
        or _in_and_out(expectations)
        or _places(expectations)
        or _circle(expectations)
    )


def _marks(expectations: Sequence[Expectation]) -> str | None:
    marks: dict[tuple[object, ...], bool] = {}
    for expectation in expectations:
        is_marked = expectation.known_failure is not None
        if marks.setdefault(expectation.claim, is_marked) != is_marked:
            return f"{expectation} is expected twice, once as a known failure and once not"
    return None


def _emptiness(expectations: Sequence[Expectation]) -> str | None:
    if not any(expectation.kind == "no_results" for expectation in expectations):
        return None
    ranked = ("in_top", "above", "before", "some_results")
    other = next((each for each in expectations if each.kind in ranked), None)
    return f"no result is expected, and also {other}" if other else None


def _in_and_out(expectations: Sequence[Expectation]) -> str | None:
    included = [each for each in expectations if each.kind == "in_top"]
    for out in (each for each in expectations if each.kind == "not_in_top"):
        for inside in included:
            both = [doc_id for doc_id in inside.documents if doc_id in out.documents]
            # In the top 10 but not in the top 3 is possible.
            if both and (inside.k or 0) <= (out.k or 0):
                return (
                    f"document '{quoted(both[0])}' is expected in the top {inside.k} and not in "
                    f"the top {out.k}"
                )
    return None


def _places(expectations: Sequence[Expectation]) -> str | None:
    included = [each for each in expectations if each.kind == "in_top"]
    for k in sorted({each.k or 0 for each in included}):
        inside = dict.fromkeys(
            doc_id for each in included if (each.k or 0) <= k for doc_id in each.documents
        )
        if len(inside) > k:
            return f"{len(inside)} documents are expected in the top {k}: {listed(list(inside))}"
    return None


def _circle(expectations: Sequence[Expectation]) -> str | None:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for expectation in expectations:
        for other in expectation.others:
            sorter.add(other, *expectation.documents)
    try:
        sorter.prepare()
    except CycleError as error:
        circle = " above ".join(quoted(doc_id, 40) for doc_id in error.args[1])
        return f"the expected order is circular: {circle}"
    return None
