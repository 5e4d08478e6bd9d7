"""The error for queries on which a ranker failed: how many, which, and the first failure."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_rankcheck.errors import (
    ConfigurationError,
    RankerError,
    RunError,
    listed,
    plural,
    quoted,
)
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.execution.plain_answers import RemoteError

__all__ = ["failure_of_ranker"]


def failure_of_ranker(failures: Mapping[str, Exception], golden: GoldenSet) -> Exception:
    """Return one error for all queries on which a ranker failed; its cause is the first failure.

    Args:
        failures: the error of each query, in the order of the golden set.
        golden: the queries.
    """
    query_id, first = next(iter(failures.items()))
    if isinstance(first, ConfigurationError):  # an error of doc_id, not of the ranker
        return first
    text = golden.query(query_id).text
    asked = f' "{quoted(text)}"' if text else ""
    count = f"{len(failures):,} of {plural(len(golden), 'query', 'queries')}"
    others = [failed for failed in failures if failed != query_id]
    rest = f"\nalso failed: {listed(others)}" if others else ""
    is_ours = isinstance(first, (RunError, RankerError))
    said = str(first) if is_ours else _name_and_message(first)
    error = RankerError(
        f"the ranker failed on {count}, first on '{quoted(query_id)}'{asked}: {said}{rest}"
    )
    error.__cause__ = None if is_ours else first
    return error


def _name_and_message(error: Exception) -> str:
    """Return the text of an exception of the user's code, here or on a worker."""
    if isinstance(error, RemoteError):
        return f"{error.kind}: {quoted(error.message, 500)}"
    return f"{type(error).__name__}: {quoted(error, 500)}"
