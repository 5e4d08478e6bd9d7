"""The names that other tools use, and what to write here: the rows of docs/reference/metric-names.md.

The rows are in ``name_rows.csv``. The numbers beside them are recorded by ``other_tools.py`` and compared by ``test_name_tables.py``.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """A name of another tool."""

    name: str
    ours: str = ""
    """What to write here; empty if we do not have the metric."""
    note: str = ""
    """What differs, or what the name means if we do not have the metric."""
    differs: bool = False
    """Whether the two numbers differ; otherwise they agree."""
    binary: bool = False
    """Whether the numbers are of the example with grades of 0 and 1."""
    listed: bool = False
    """Whether the numbers are of the example in which only ranked documents are judged."""
    top: int | None = None
    """The depth at which our run is cut before it is evaluated."""
    all_queries: bool | None = None
    """Whether missing queries count; by default, as for the other names of the tool."""
    read_as: str = ""
    """The metric that the name means here, if that is not ``ours``."""


COUNT_ALL_QUERIES = ("trec_eval", "ir_measures", "RecTools")
"""The tools in whose numbers missing queries count."""


def _rows() -> Iterator[tuple[str, Row]]:
    """Yield each row of the file with its tool; the options of a row are flags and numbers."""
    with Path(__file__).with_name("name_rows.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            options = dict(option.partition("=")[::2] for option in line.pop("options").split())
            tool = line.pop("tool")
            yield tool, Row(**line, **{name: int(value or 1) for name, value in options.items()})


ROWS = {
    tool: tuple(row for _, row in rows) for tool, rows in groupby(_rows(), lambda pair: pair[0])
}
