"""Refusals to write what a format cannot hold."""

from __future__ import annotations

from itertools import chain

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.golden.golden_contents import Contents

__all__ = ["refuse_candidates", "refuse_expectations", "refuse_lists"]


def refuse_expectations(contents: Contents, format: str) -> None:
    """Reject a set with expectations, for a format that cannot hold them.

    Raises:
        GoldenSetError: the set has expectations; the message names a format that can.
    """
    if any(contents.expectations.values()):
        raise GoldenSetError(
            f"this golden set has expectations, which {format} cannot hold; save as jsonl"
        )


def refuse_lists(contents: Contents, format: str) -> None:
    """Reject a set with lists, for a format of text: it would read them as text.

    Raises:
        GoldenSetError: an attribute or a column of the candidates has one; the message names
            formats that can.
    """
    cells = chain(
        (item for query in contents.queries.values() for item in query.attributes.items()),
        ((name, cell) for name, cells in contents.candidates.columns.items() for cell in cells),
    )
    name = next((name for name, cell in cells if isinstance(cell, (list, dict))), None)
    if name is not None:
        other = "parquet" if contents.candidates else "jsonl or parquet"
        raise GoldenSetError(
            f"'{quoted(name)}' has lists, which {format} cannot hold; save as {other}"
        )


def refuse_candidates(contents: Contents, format: str) -> None:
    """Reject a set with candidates, for a format that cannot hold them.

    Raises:
        GoldenSetError: the set has candidates; the message names formats that can.
    """
    if contents.candidates:
        raise GoldenSetError(
            f"this golden set has candidates, which {format} cannot hold; save as csv, tsv or "
            "parquet"
        )
