"""The record of an approved evaluation: what a baseline file holds, and how it is written.

The file is JSON made to be reviewed in a pull request: a header, then one line a query, sorted.
The same results give the same bytes. ``record.schema.json`` beside this module describes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.errors import BaselineError, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.files.writing import readable_json
from pytest_rankcheck.metrics.hits import FloatArray
from pytest_rankcheck.metrics.names import Metric

__all__ = ["FORMAT_NAME", "FORMAT_VERSION", "TOP", "QueryLine", "Record"]

FORMAT_NAME = "pytest-rankcheck baseline"
FORMAT_VERSION = 1
TOP = 10
"""How many documents of each ranking a record keeps, to show what moved."""

_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class QueryLine:
    """What a record keeps of one query."""

    fingerprint: str
    values: Mapping[str, float | None]
    """By metric; None where the query did not count."""
    top: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """An approved measurement: a header, and one line a query."""

    golden_name: str
    golden_queries: int
    golden_judgments: int
    golden_fingerprint: str
    depth: int | None
    conventions: Conventions
    gated: tuple[str, ...]
    """The canonical names of the metrics that the test gates."""
    watched: tuple[str, ...]
    """The names of those that are only recorded."""
    queries: Mapping[str, QueryLine]
    approvals: tuple[Approval, ...] = field(default=())

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        gated: Iterable[Metric],
        watched: Iterable[Metric] = (),
        approvals: tuple[Approval, ...] = (),
    ) -> Record:
        """Return the record of an evaluation."""
        gated_names = tuple(sorted({str(metric) for metric in gated}))
        watched_names = tuple(sorted({str(metric) for metric in watched} - set(gated_names)))
        names = (*gated_names, *watched_names)
        columns = [_plain(evaluation.values(name)) for name in names]
        queries = {
            query_id: QueryLine(
                fingerprint=evaluation.query_fingerprints[query_id],
                values={name: column[place] for name, column in zip(names, columns, strict=True)},
                top=tuple(evaluation.ranking(query_id)[:TOP]),
            )
            for place, query_id in enumerate(evaluation.query_ids)
        }
        golden = evaluation.golden
        return cls(
            golden_name=golden.name,
            golden_queries=len(golden),
            golden_judgments=golden.judgment_count,
            golden_fingerprint=golden.fingerprint,
            depth=evaluation.run.depth,
            conventions=evaluation.conventions,
            gated=gated_names,
            watched=watched_names,
            queries=dict(sorted(queries.items())),
            approvals=approvals,
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of all metrics of the record."""
        return (*self.gated, *self.watched)

    @cached_property
    def query_ids(self) -> Sequence[str]:
        """The queries, sorted."""
        return tuple(self.queries)

    @cached_property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each query's text and judgments when it was measured."""
        return {query_id: line.fingerprint for query_id, line in self.queries.items()}

    def values(self, metric: Metric) -> FloatArray:
        """Return the value of each query, ``[Q]``; NaN where it did not count.

        Raises:
            BaselineError: the record does not have this metric.
        """
        name = str(metric)
        if name not in self.metrics:
            raise BaselineError(
                f"the baseline has no {quoted(name)}; it has {', '.join(self.metrics)}"
            )
        found = (line.values[name] for line in self.queries.values())
        return np.array([np.nan if value is None else value for value in found], dtype=np.float64)

    def mean(self, metric: Metric) -> float:
        """Return the mean over the queries that counted.

        Raises:
            BaselineError: the record does not have this metric.
        """
        return metric.mean(self.values(metric))

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the top of the ranking of a query, best first; empty if it is not recorded."""
        line = self.queries.get(query_id)
        return line.top if line else ()

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """Return the rank of each document of `ranking`."""
        return {doc_id: rank for rank, doc_id in enumerate(self.ranking(query_id), start=1)}

    def to_text(self) -> str:
        """Return the text of the record's file."""
        header = {
            "format": FORMAT_NAME,
            "version": FORMAT_VERSION,
            "golden_set": {
                "name": self.golden_name,
                "queries": self.golden_queries,
                "judgments": self.golden_judgments,
                "fingerprint": self.golden_fingerprint,
            },
            "depth": self.depth,
            "conventions": self.conventions.to_dict(),
        }
        parts = [f"{readable_json(key)}: {readable_json(value)}" for key, value in header.items()]
        parts.append(
            _lines("metrics", ("{", "}"), [self._metric_line(name) for name in self.metrics])
        )
        parts.append(
            _lines("approvals", ("[", "]"), [readable_json(a.to_dict()) for a in self.approvals])
        )
        parts.append(
            _lines("queries", ("[", "]"), [_query_line(*item) for item in self.queries.items()])
        )
        body = ",\n  ".join(parts)
        return f"{{\n  {body}\n}}\n"

    def _metric_line(self, name: str) -> str:
        mean = _decimal(self.mean(Metric.parse(name)))
        return (
            f"{readable_json(name)}: {readable_json({'mean': mean, 'gated': name in self.gated})}"
        )


def _query_line(query_id: str, line: QueryLine) -> str:
    entry = {
        "id": query_id,
        "fingerprint": line.fingerprint,
        "values": dict(line.values),
        "top": list(line.top),
    }
    return readable_json(entry)


def _lines(key: str, brackets: tuple[str, str], lines: Sequence[str]) -> str:
    """Return a key whose value has one line an item."""
    opening, closing = brackets
    if not lines:
        return f'"{key}": {opening}{closing}'
    body = ",\n    ".join(lines)
    return f'"{key}": {opening}\n    {body}\n  {closing}'


def _plain(values: FloatArray) -> list[float | None]:
    """Return values as a file has them: six decimals, None for NaN."""
    return [_decimal(value) for value in values.tolist()]


def _decimal(value: float) -> float | None:
    return None if math.isnan(value) else round(value, _DECIMALS) + 0.0
