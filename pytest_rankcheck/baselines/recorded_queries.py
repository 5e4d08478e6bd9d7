"""The lines of a record, one per query or session, held in columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import FloatArray, PlaceArray
from pytest_rankcheck.baselines.record_file import decoded, refuse
from pytest_rankcheck.comparison.measurement import recorded_values
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric

Slices = Mapping[str, tuple[str, ...]]

_OPTIONAL: Mapping[str, tuple[str, Any, Any]] = {
    "weights": ("weight", float, None),
    "judged": ("judged", int, None),
    "slices": ("slices", dict, tuple[Slices, ...]),
    "clusters": ("cluster", int, tuple[int, ...]),
    "tops": ("top", list, tuple[tuple[str, ...], ...]),
    "below": ("below", dict, tuple[Mapping[str, int], ...]),
}
"""For each column: its key and type in a line, and the type of the column; None for numbers.

A record can lack a column, and a line can leave out what is empty.
"""


@dataclass(frozen=True, eq=False)
class RecordedQueries:
    """The lines of a record, sorted by id."""

    ids: Sequence[str]
    fingerprints: Sequence[str]
    """The fingerprint of each query's text and judgments when it was measured."""
    values: Mapping[str, FloatArray]
    """By metric, the value of each query, ``[Q]``; NaN where it did not count."""
    tops: Sequence[Sequence[str]]
    """The first documents of the ranking of each."""
    below: Sequence[Mapping[str, int]] | None = None
    """The ranks of relevant documents below these, down to the largest gated cutoff; None where no
    gated metric looks further down."""
    weights: FloatArray | None = None
    """How much each counts, ``[Q]``; None if all count the same."""
    judged: FloatArray | None = None
    """How many judged documents each has, ``[Q]``; None if no metric is weighted by them."""
    slices: Sequence[Slices] | None = None
    """The slices of each by gated attribute; None without gated attributes."""
    clusters: Sequence[int] | None = None
    """The number of the independent unit of each; None: each is one."""

    def __post_init__(self) -> None:
        for column in self.values.values():
            column.setflags(write=False)  # it is handed out without a copy

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordedQueries) and [*self.entries()] == [*other.entries()]

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def by_fingerprint(self) -> Mapping[str, str]:
        """The fingerprint of each query, by its id."""
        return dict(zip(self.ids, self.fingerprints, strict=True))

    @cached_property
    def by_line(self) -> Mapping[str, FloatArray]:
        """The `values` that each query has in its line."""
        return {m: column for m, column in self.values.items() if Metric.parse(m).kind.has_parts}

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """The index of each query."""
        return {query_id: place for place, query_id in enumerate(self.ids)}

    def places(self, query_ids: Iterable[str]) -> PlaceArray:
        """Return the indexes of some queries."""
        return np.array([self.place_of[query_id] for query_id in query_ids], dtype=np.intp)

    def counted(self, metric: str) -> int:
        """Return how many queries have a value of a metric."""
        return int(np.count_nonzero(~np.isnan(self.values[metric])))

    @cached_property
    def members(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """The indexes of the queries of each slice, by gated attribute."""
        members: dict[str, dict[str, list[int]]] = {}
        for place, slices in enumerate(self.slices or ()):
            for attribute, values in slices.items():
                for value in values:
                    members.setdefault(attribute, {}).setdefault(value, []).append(place)
        return members

    def renamed(self, ids: Sequence[str]) -> RecordedQueries:
        """Return the lines under other ids, sorted by these."""
        order = sorted(range(len(ids)), key=ids.__getitem__)

        def ordered(column: Any) -> Any:
            if isinstance(column, np.ndarray):
                return column[order]
            if isinstance(column, Mapping):
                return {name: ordered(each) for name, each in column.items()}
            return column and [column[place] for place in order]

        columns = {each.name: getattr(self, each.name) for each in fields(self)}
        return RecordedQueries(*map(ordered, {**columns, "ids": ids}.values()))

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        names: Sequence[str],
        attributes: Iterable[str],
        depth: int,
        cutoff: int = 0,
    ) -> RecordedQueries:
        """Return what to keep about each query of an evaluation.

        Args:
            evaluation: what was measured.
            names: the metrics.
            attributes: the attributes whose slices the test gates.
            depth: how many documents of each ranking to keep.
            cutoff: how far down any gated metric looks.
        """
        evaluation.read_rankings(depth)
        ids, units = evaluation.query_ids, evaluation.cluster_names
        order = sorted(range(len(ids)), key=ids.__getitem__)
        tops = evaluation.tops(depth)
        slices: list[dict[str, tuple[str, ...]]] = [{} for _ in ids]
        for attribute in attributes:
            for value, places in evaluation.slice_places(attribute).items():
                for place in places:
                    slices[place][attribute] = (*slices[place].get(attribute, ()), value)
        numbers: dict[str, int] = {}
        clusters = None
        if units is not None:
            clusters = [numbers.setdefault(units[place], len(numbers)) for place in order]
        weights, fingerprints = evaluation.weights, evaluation.query_fingerprints
        judged = np.diff(evaluation.golden.columns.starts)[order].astype(np.float64)
        by_judged = any(Metric.parse(name).definition.aggregate == "by_judged" for name in names)
        return cls(
            [ids[place] for place in order],
            [fingerprints[ids[place]] for place in order],
            {name: recorded_values(evaluation, Metric.parse(name))[order] for name in names},
            [tuple(tops[ids[place]]) for place in order],
            [_below(evaluation, ids[place], depth, cutoff) for place in order]
            if 0 < depth < cutoff
            else None,
            weights=None if weights is None else np.asarray(weights, dtype=np.float64)[order],
            judged=judged if by_judged else None,
            slices=[slices[place] for place in order] if any(slices) else None,
            clusters=clusters,
        )

    # --- the lines of a file -------------------------------------------------------------------

    def entries(
        self, unknown: Mapping[str, Mapping[str, Any]] | None = None, order: Sequence[str] = ()
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the line of each query in the form of the file.

        Args:
            unknown: by query, the values of metrics that are not known here.
            order: the metrics in the order of the file.
        """
        columns = {
            name: [None if math.isnan(value) else value for value in column.tolist()]
            for name, column in self.by_line.items()
        }
        for name, values in (unknown or {}).items():
            columns[name] = [values.get(query_id) for query_id in self.ids]
        columns = {name: columns[name] for name in order or columns if name in columns}
        given = [(*_OPTIONAL[name][:2], getattr(self, name)) for name in _OPTIONAL]
        optional = [each for each in given if each[2] is not None]
        for place, query_id in enumerate(self.ids):
            entry: dict[str, Any] = {"id": query_id, "fingerprint": self.fingerprints[place]}
            entry["values"] = {name: column[place] for name, column in columns.items()}
            for key, written, column in optional:
                value = written(column[place])
                if value not in ([], {}):
                    entry[key] = value
            yield entry

    @classmethod
    def of_entries(cls, entries: Sequence[Any], metrics: Mapping[str, Any]) -> RecordedQueries:
        """Return the columns of the lines of a file.

        Args:
            entries: the lines.
            metrics: what the file says about each metric.

        Raises:
            ValueError: a value has another type, or the queries are not sorted.
            KeyError: something is missing.
        """
        entries = decoded(tuple[dict, ...], entries)  # type: ignore[type-arg]
        ids = decoded(tuple[str, ...], [entry["id"] for entry in entries])
        for query_id, following in pairwise(ids):
            if query_id >= following:
                what = "duplicate query" if query_id == following else "not sorted before"
                raise ValueError(f"{what} '{quoted(following)}'")
        optional: dict[str, Any] = {}
        for name, (key, written, kind) in _OPTIONAL.items():
            if name == "tops" or any(key in entry for entry in entries):
                is_always = written in (int, float)
                given = [
                    entry[key] if is_always else entry.get(key, written()) for entry in entries
                ]
                optional[name] = decoded(kind, given) if kind else _numbers(key, ids, given)
        if not (optional.get("weights", np.ones(1)) > 0).all():
            raise ValueError("a weight is not above 0")
        return cls(
            ids,
            decoded(tuple[str, ...], [entry["fingerprint"] for entry in entries]),
            {
                name: _numbers(name, ids, [entry["values"][name] for entry in entries])
                if Metric.parse(name).kind.has_parts
                else np.full(len(ids), decoded(float, of_metric["mean"]))
                for name, of_metric in metrics.items()
            },
            **optional,
        )


def _below(evaluation: Evaluation, query_id: str, depth: int, cutoff: int) -> Mapping[str, int]:
    """Return the ranks of relevant documents below the top, the best first."""
    grades, ranks = evaluation.golden.grades(query_id), evaluation.ranks(query_id)
    relevant = ((doc, ranks[doc]) for doc in ranks if grades.get(doc, 0) > 0)
    found = [(doc, rank) for doc, rank in relevant if depth < rank <= cutoff]
    return dict(sorted(found, key=lambda each: each[1]))


def _numbers(name: str, ids: Sequence[str], values: Sequence[Any]) -> FloatArray:
    """Return a column of numbers; NaN for null."""
    for query_id, value in zip(ids, values, strict=True):
        if value is not None and not (type(value) in (int, float) and abs(value) < math.inf):
            refuse(value, f"a finite number: {quoted(name)} of query '{quoted(query_id)}'")
    return np.array([math.nan if value is None else value for value in values], np.float64)
