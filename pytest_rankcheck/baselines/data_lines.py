"""The text of a data file: one line per query of a large record, in cells separated by tabs.

The cells are the id, the fingerprint, the value of each metric (``null``: it did not count), the
weight, the slices and the cluster where the record has them, and then the first documents of the
ranking. Text is written as in a JSON string, without the quotation marks around it; slices and
clusters are JSON.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import overload

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.baselines.entry_values import as_cluster, as_list, as_mapping, as_text
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries, Slices
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.paused_collector import collector_paused
from pytest_rankcheck.files.whole_files import readable_json

__all__ = ["columns_of", "lines_text", "queries_of"]

_NO_VALUE = "null"
_FIRST, _LAST = ("id", "fingerprint"), "top"
_WEIGHT, _SLICES, _CLUSTER = "weight", "slices", "cluster"


def columns_of(queries: RecordedQueries) -> list[str]:
    """Return what the cells of a line are; the last stands for all documents."""
    weight = [] if queries.weights is None else [_WEIGHT]
    slices = [] if queries.slices is None else [_SLICES]
    cluster = [] if queries.clusters is None else [_CLUSTER]
    return [*_FIRST, *queries.values_of, *weight, *slices, *cluster, _LAST]


def lines_text(queries: RecordedQueries) -> str:
    """Return the lines of queries.

    Raises:
        ValueError: a value is infinite.
    """
    columns = [_number_cells(column) for column in queries.values_of.values()]
    if queries.weights is not None:
        columns.append(_number_cells(queries.weights))
    if queries.slices is not None:
        columns.append(list(_slice_cells(queries.slices)))
    if queries.clusters is not None:
        columns.append([json.dumps(unit) for unit in queries.clusters])
    numbers = zip(*columns, strict=True) if columns else (() for _ in queries.ids)
    rows = zip(queries.ids, queries.fingerprints, numbers, queries.tops, strict=True)
    return "".join([_line(*row) for row in rows])


def _line(query_id: str, fingerprint: str, numbers: Sequence[str], top: Sequence[str]) -> str:
    text = "".join((query_id, fingerprint, *top))
    if not text.isprintable() or '"' in text or "\\" in text:
        query_id, fingerprint, *top = map(_escaped, (query_id, fingerprint, *top))
    return "\t".join((query_id, fingerprint, *numbers, *top)) + "\n"


def _number_cells(column: FloatArray) -> Sequence[str]:
    if np.isinf(column).any():
        raise ValueError("a value is infinite")
    return [_NO_VALUE if math.isnan(value) else repr(value) for value in column.tolist()]


def _slice_cells(slices: Sequence[Slices]) -> Iterator[str]:
    """Yield the slices of each session; most sessions share theirs with others."""
    known: dict[tuple[tuple[str, tuple[str, ...]], ...], str] = {}
    for each in slices:
        key = tuple(each.items())
        if key not in known:
            known[key] = readable_json({name: list(values) for name, values in each.items()})
        yield known[key]


def _escaped(text: str) -> str:
    return readable_json(text)[1:-1]


def _unescaped(cell: str) -> str:
    return str(json.loads(f'"{cell}"')) if "\\" in cell else cell


def queries_of(text: str, columns: Sequence[str], metrics: Sequence[str]) -> RecordedQueries:
    """Return the queries in the text of a data file.

    Args:
        text: the text.
        columns: what its cells are, as the header says it.
        metrics: the metrics of the record, in any order.

    Raises:
        ValueError: the text does not have these columns, or a cell is invalid.
    """
    begin = len(_FIRST) + len(metrics)
    first, names, rest = columns[: len(_FIRST)], columns[len(_FIRST) : begin], columns[begin:]
    optional = [name for name in (_WEIGHT, _SLICES, _CLUSTER) if name in rest]
    if (*first, *rest) != (*_FIRST, *optional, _LAST) or sorted(names) != sorted(metrics):
        raise ValueError(f"its columns are {quoted(columns)}")
    with collector_paused():
        cells, tops = _cells(text, len(columns) - 1)
    ids: Sequence[str] = cells[0]
    documents: Sequence[Sequence[str]] = _Tops(tops)
    if "\\" in text:
        ids = list(map(_unescaped, ids))
        documents = [tuple(map(_unescaped, each)) for each in documents]
    if not all(map(operator.lt, ids, ids[1:])):
        raise ValueError("its queries are not sorted, or one of them is a duplicate")
    values = {
        name: _numbers(column, name)
        for name, column in zip(names, cells[len(_FIRST) : begin], strict=True)
    }
    more = dict(zip(optional, cells[begin:], strict=True))
    return RecordedQueries(
        ids,
        list(map(_unescaped, cells[1])),
        values,
        documents,
        weights=_weights(more[_WEIGHT]) if _WEIGHT in rest else None,
        slices=list(_slices(more[_SLICES])) if _SLICES in rest else None,
        clusters=_clusters(more[_CLUSTER]) if _CLUSTER in rest else None,
    )


def _cells(text: str, width: int) -> tuple[Sequence[Sequence[str]], Sequence[str | None]]:
    """Return the columns of a text, and the documents of each line; None where it has none."""
    lines = text.split("\n")
    if lines.pop():
        raise ValueError("its last line has no end")
    rows: list[list[str]] = [line.split("\t", width) for line in lines]
    if not {*map(len, rows)} <= {width, width + 1}:
        number = next(n for n, row in enumerate(rows, 1) if len(row) < width)
        raise ValueError(f"line {number} has {len(rows[number - 1])} cells, not at least {width}")
    tops = [row[width] if len(row) > width else None for row in rows]
    columns = list(zip(*rows, strict=False))[:width]
    return columns or [()] * width, tops


class _Tops(Sequence[tuple[str, ...]]):
    """The documents of each line, which are split when somebody looks at them."""

    def __init__(self, cells: Sequence[str | None]) -> None:
        self._cells = cells

    def __len__(self) -> int:
        return len(self._cells)

    @overload
    def __getitem__(self, place: int) -> tuple[str, ...]: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[tuple[str, ...]]: ...

    def __getitem__(self, place: int | slice) -> tuple[str, ...] | Sequence[tuple[str, ...]]:
        if isinstance(place, slice):
            return _Tops(self._cells[place])
        cell = self._cells[place]
        return () if cell is None else tuple(cell.split("\t"))


def _numbers(cells: Sequence[str], name: str) -> FloatArray:
    """Return a column of numbers; NaN where a query has no value."""
    numbers = [math.nan if cell == _NO_VALUE else float(cell) for cell in cells]
    column = np.array(numbers, dtype=np.float64)
    is_number = np.isfinite(column)
    if len(column) - np.count_nonzero(is_number) != cells.count(_NO_VALUE):
        place = next(p for p, cell in enumerate(cells) if not is_number[p] and cell != _NO_VALUE)
        raise ValueError(f"{name} of line {place + 1} is {cells[place]}, not a number")
    return column


def _weights(cells: Sequence[str]) -> FloatArray:
    weights = _numbers(cells, _WEIGHT)
    if not (weights > 0).all():
        raise ValueError("a weight is not above 0")
    return weights


def _slices(cells: Iterable[str]) -> Iterator[Slices]:
    known: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for cell in cells:
        if cell not in known:
            try:
                entry = as_mapping(json.loads(cell))
            except RecursionError:
                raise ValueError("slices are nested too deeply") from None
            known[cell] = {
                attribute: tuple(map(as_text, as_list(values)))
                for attribute, values in entry.items()
            }
        yield known[cell]


def _clusters(cells: Sequence[str]) -> Sequence[int | str]:
    known = {cell: as_cluster(json.loads(cell)) for cell in dict.fromkeys(cells)}
    return [known[cell] for cell in cells]
