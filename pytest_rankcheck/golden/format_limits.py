"""Refusals to write what a format cannot hold."""

from __future__ import annotations

from itertools import chain

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.golden.golden_contents import Contents

__all__ = ["refuse_loss"]


def refuse_loss(contents: Contents, format: Format[Contents]) -> None:
    """Reject a set with candidates, expectations or lists, for a format that cannot hold them.

    A format of text would read a list as text, in an attribute or a column of the candidates.

    Raises:
        GoldenSetError: the set has some; the message names formats that can hold them.
    """
    lost = what = other = None
    if "candidates" in format.cannot_hold and contents.candidates:
        lost, what, other = "this golden set", "candidates", "csv, tsv or parquet"
    elif "expectations" in format.cannot_hold and any(contents.expectations.values()):
        lost, what, other = "this golden set", "expectations", "jsonl"
    elif "lists" in format.cannot_hold:
        cells = chain(
            (item for query in contents.queries.values() for item in query.attributes.items()),
            ((name, cell) for name, cells in contents.candidates.columns.items() for cell in cells),
        )
        name = next((name for name, cell in cells if isinstance(cell, (list, dict))), None)
        lost, what = None if name is None else f"'{quoted(name)}'", "lists"
        other = "parquet" if contents.candidates else "jsonl or parquet"
    if lost is not None:
        raise GoldenSetError(f"{lost} has {what}, which {format.name} cannot hold; save as {other}")
