"""Expectations that no ranking can meet together."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from pytest_rankcheck.errors import listed, quoted
from pytest_rankcheck.golden.expectation import Expectation

__all__ = ["conflict_in"]


def conflict_in(expectations: Sequence[Expectation]) -> str | None:
    """Return why no ranking can meet all these expectations of one query; None if one can.

    Found are: no result together with documents, one document in and out of a top, more documents
    than a top has places, orders that go round in a circle, and what fails as known and may not.
    """
    return (
        _marks(expectations)
        or _emptiness(expectations)
        or _in_and_out(expectations)
        or _places(expectations)
        or _circle(expectations)
    )


def _marks(expectations: Sequence[Expectation]) -> str | None:
    known: dict[tuple[object, ...], bool] = {}
    for one in expectations:
        is_known = one.known_failure is not None
        if known.setdefault(one.claim, is_known) != is_known:
            return f"{one} is expected twice, once as a known failure and once not"
    return None


def _emptiness(expectations: Sequence[Expectation]) -> str | None:
    if not any(one.kind == "no_results" for one in expectations):
        return None
    ranked = ("in_top", "above", "before", "some_results")
    other = next((one for one in expectations if one.kind in ranked), None)
    return f"no result is expected, and {other}" if other else None


def _in_and_out(expectations: Sequence[Expectation]) -> str | None:
    wanted = [one for one in expectations if one.kind == "in_top"]
    for out in (one for one in expectations if one.kind == "not_in_top"):
        for one in wanted:
            both = [doc_id for doc_id in one.documents if doc_id in out.documents]
            # In the top 10 but not in the top 3 is possible.
            if both and (one.k or 0) <= (out.k or 0):
                return (
                    f"document '{quoted(both[0])}' is expected in the top {one.k} and not in the "
                    f"top {out.k}"
                )
    return None


def _places(expectations: Sequence[Expectation]) -> str | None:
    wanted = [one for one in expectations if one.kind == "in_top"]
    for k in sorted({one.k or 0 for one in wanted}):
        inside = dict.fromkeys(
            doc_id for one in wanted if (one.k or 0) <= k for doc_id in one.documents
        )
        if len(inside) > k:
            return f"{len(inside)} documents are expected in the top {k}: {listed(list(inside))}"
    return None


def _circle(expectations: Sequence[Expectation]) -> str | None:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for one in expectations:
        for other in one.others:
            sorter.add(other, *one.documents)
    try:
        sorter.prepare()
    except CycleError as found:
        circle = " above ".join(quoted(doc_id, 40) for doc_id in found.args[1])
        return f"the expected order goes round in a circle: {circle}"
    return None
