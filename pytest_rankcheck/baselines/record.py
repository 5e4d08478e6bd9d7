"""The record of an approved evaluation, which an evaluation can be compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.baselines.change import Approval, known_gate
from pytest_rankcheck.baselines.families import Family
from pytest_rankcheck.baselines.record_file import (
    EditedError,
    content_of_text,
    decoded,
    decoded_fields,
    encoded,
    text_of_content,
)
from pytest_rankcheck.baselines.recorded_metric import RecordedMetric, UnknownMetric, as_decimal
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.errors import BaselineError, MetricError, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.metrics.kinds import MeasurementKind
from pytest_rankcheck.metrics.metric_definition import KINDS
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import first_ranks
from pytest_rankcheck.statistics.run_noise import Averaged

TOP = 10
"""How many documents of each ranking a record keeps by default, to show what moved."""

_ALWAYS = ("test", "depth", "kept_depth", "approvals")
"""The fields that are written even if they are empty."""

_REMEDY = "to fix it: run its test, which says how"

_STRICTEST = "tolerance(abs=0, rel=0)"
"""The default gate: nothing may fall."""


@dataclass(frozen=True, slots=True)
class RecordedSet:
    """What a record says about its golden set or session log."""

    name: str
    queries: int
    judgments: int
    scale: float
    """The highest grade."""
    fingerprint: str
    catalogue: int | None = None
    """The number of documents in the catalogue, if values of a metric depend on it."""

    @classmethod
    def of(cls, golden: JudgedQueries, metrics: Iterable[Metric]) -> RecordedSet:
        """Return what is recorded about a golden set on which these metrics are measured."""
        is_known = golden.catalogue and any("catalogue" in m.kind.depends_on for m in metrics)
        size = golden.catalogue.size if golden.catalogue and is_known else None
        counts = len(golden), golden.judgment_count
        return cls(golden.name, *counts, float(golden.scale), golden.fingerprint, size)


@dataclass(frozen=True, kw_only=True)
class Record:
    """An approved measurement: a header, and one line per query.

    The fields are those of the file, in its order; ``record.schema.json`` describes them. In the
    file, ``unknown`` is part of the ``metrics``.
    """

    test: str = ""
    """The test that it belongs to: class, function and the test's own parameters."""
    golden_set: RecordedSet
    depth: int | None
    conventions: Conventions
    cluster_by: str | None = None
    """The attribute whose values are the independent units; None: each query or session is one."""
    slices: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many queries each slice has, by gated attribute and value."""
    kept_depth: int = TOP
    """How many documents of each ranking are kept."""
    world: Mapping[str, str] = field(default_factory=dict)
    """What was ranked with, if the project declares it: a file's hash or a package's version."""
    assertions: tuple[Family, ...] = ()
    """The assertions about metrics that it was approved under; empty if not recorded."""
    failures: str | None = None
    """How many queries, or which share of them, the ranker may fail on; None: none."""
    ranker: str | None = None
    """What was measured, for information."""
    limits: tuple[StabilityLimits, ...] = ()
    """The limits under which the rankings were approved; empty if they were never compared."""
    retired: Approval | None = None
    """Why tests no longer measure it; None for a record in use."""
    metrics: Mapping[str, RecordedMetric]
    """By canonical name, the gated ones first."""
    unknown: Mapping[str, UnknownMetric] = field(default_factory=dict)
    """Recorded metrics that are not known here, such as one that the project has deleted."""
    approvals: tuple[Approval, ...] = ()
    queries: RecordedQueries

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Record:
        """Read the record in a baseline file.

        Args:
            path: the file.

        Raises:
            BaselineError: the file is missing, not a baseline, edited by hand, or of another
                format version.
        """
        return cls.from_text(text_of(Path(path), BaselineError), str(path))

    @classmethod
    def from_text(
        cls, text: str, path: str = "baseline", remedy: Callable[[], object] | None = None
    ) -> Record:
        """Return the record in the text of a baseline file.

        Args:
            text: the text.
            path: the file as messages name it.
            remedy: returns what messages say to do; None: run its test.

        Raises:
            BaselineError: as in `load`.
        """
        known = _IN_USE.get(text)
        if known is not None:
            return known
        with content_of_text(text, path, remedy or (lambda: _REMEDY)) as content:
            metrics = {name: e for name, e in content["metrics"].items() if _is_known(name)}
            others = [name for name in content["metrics"] if name not in metrics]
            unknown = {name: UnknownMetric.of(name, content) for name in others}
            queries = RecordedQueries.of_entries(content["queries"], metrics)
            known_content = {**content, "metrics": metrics}
            record: Record = decoded_fields(cls, known_content, queries=queries, unknown=unknown)
            for name, entry in metrics.items():
                mean = record.mean(Metric.parse(name))
                written = math.nan if entry["mean"] is None else decoded(float, entry["mean"])
                if not np.isclose(mean, written, rtol=0, atol=SLACK, equal_nan=True):
                    raise EditedError(
                        f"its mean of {name} is {written:g}, but its queries give {mean:.6f}"
                    )
            gates = [(name, metric.gate) for name, metric in record.metrics.items()]
            for name, text_of_gate in chain(gates, *(f.metrics.items() for f in record.assertions)):
                if name not in content["metrics"]:
                    raise EditedError(f"its assertions name {name}, which is not in its metrics")
                gate = known_gate(text_of_gate)
                if gate is not None and name in metrics:  # it would fail without the file's name
                    gate.refuse_misfit(Metric.parse(name))
            for attribute, sizes in record.slices.items():
                members = record.queries.members.get(attribute, {})
                if {value: len(places) for value, places in members.items()} != sizes:
                    raise EditedError(f"its slices of {attribute} are not those of its queries")
        if not unknown:  # it can be registered later
            _IN_USE[text] = record
        return record

    @property
    def text(self) -> str:
        """The text of its file."""
        content: dict[str, Any] = {}
        entries, unknown = self._entries(), self.unknown
        for name, value in ((each.name, getattr(self, each.name)) for each in fields(self)):
            if name == "metrics":
                content[name] = entries
            elif name == "queries":
                further = {metric: each.values for metric, each in unknown.items()}
                content[name] = [*value.entries(further, [*entries])]
            elif name == "unknown":
                continue
            elif value or name in _ALWAYS:
                content[name] = encoded(value)
        return text_of_content(content)

    def _entries(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the lines of the metrics in the file, the gated ones first."""
        entries: dict[str, Mapping[str, Any]] = {
            name: {
                "mean": as_decimal(self.mean(Metric.parse(name))),
                "counted": self.queries.counted(name),
                **encoded(metric),
            }
            for name, metric in self.metrics.items()
        }
        if not self.unknown:
            return entries
        entries |= {metric: each.entry for metric, each in self.unknown.items()}
        return dict(sorted(entries.items(), key=lambda item: (not item[1]["gated"], item[0])))

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        gated: Mapping[Metric, str] | Iterable[Metric],
        watched: Iterable[Metric] = (),
        *,
        attributes: Iterable[str] = (),
        kept_depth: int = TOP,
    ) -> Record:
        """Return the record of an evaluation that has no record yet.

        Args:
            evaluation: what was measured.
            gated: the metrics that the test gates; a mapping gives the text of each gate too.
            watched: further metrics to record.
            attributes: the attributes by whose slices the test gates.
            kept_depth: how many documents of each ranking to keep.

        Raises:
            MetricError: a metric is one of time.
        """
        pairs = gated.items() if isinstance(gated, Mapping) else ((m, _STRICTEST) for m in gated)
        gates = {str(metric): gate for metric, gate in pairs}
        names = [*sorted(gates), *sorted({str(metric) for metric in watched} - gates.keys())]
        golden = evaluation.golden
        cutoffs = [0, *(Metric.parse(name).cutoff or 0 for name in gates)]
        slices = {name: golden.slices(name) for name in sorted(set(attributes))}
        return cls(
            golden_set=RecordedSet.of(golden, map(Metric.parse, names)),
            depth=evaluation.depth,
            conventions=evaluation.conventions,
            cluster_by=golden.cluster_by,
            slices={name: {v: len(ids) for v, ids in by.items()} for name, by in slices.items()},
            kept_depth=kept_depth,
            ranker=evaluation.name or None,
            metrics={
                name: RecordedMetric.of(name, gates.get(name), evaluation, slices) for name in names
            },
            queries=RecordedQueries.of(evaluation, names, slices, kept_depth, max(cutoffs)),
        )

    # --- what it says --------------------------------------------------------------------------

    @property
    def gated(self) -> tuple[str, ...]:
        """The names of the metrics that the test gates."""
        return tuple(name for name, metric in self.metrics.items() if metric.gated)

    @property
    def approved(self) -> tuple[str, ...]:
        """The names of the metrics that are gated, or were and keep their approved values."""
        return tuple(name for name, metric in self.metrics.items() if metric.gate is not None)

    def gate(self, metric: Metric) -> str | None:
        """Return the text of the gate that a metric was approved under; None without one."""
        recorded = self.metrics.get(str(metric))
        return recorded.gate if recorded else None

    def mean(self, metric: Metric, places: Sequence[int] | IntArray | None = None) -> float:
        """Return the mean over the queries that counted: of all, or of some by their indexes.

        Raises:
            BaselineError: the record does not have this metric.
        """
        values, weights = self.values(metric), self.weights_of(metric)
        if places is not None:
            chosen = np.asarray(places, dtype=np.intp)
            values, weights = values[chosen], None if weights is None else weights[chosen]
        return metric.mean(values, weights)

    # --- as one side of a comparison -----------------------------------------------------------

    @property
    def kind(self) -> MeasurementKind:
        """What has a value: each query, or each session of a log."""
        kinds = (metric.kind for metric in self.recorded_metrics)
        return next((kind for kind in kinds if not kind.recur), KINDS["query"])

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries, sorted."""
        return self.queries.ids

    @property
    def failed(self) -> Mapping[str, str]:
        """Empty: a query on which the ranker failed is never recorded."""
        return {}

    @property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each query's text and judgments when it was measured."""
        return self.queries.by_fingerprint

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes; None: to the end."""
        is_whole = self.depth is not None and self.depth <= self.kept_depth
        return None if is_whole else self.kept_depth

    @property
    def recorded_metrics(self) -> Sequence[Metric]:
        """All metrics of the record."""
        return [Metric.parse(name) for name in self.metrics]

    @property
    def weights(self) -> FloatArray | None:
        """How much each query counts, ``[Q]``; None where all count the same."""
        return self.queries.weights

    def weights_of(self, metric: Metric) -> FloatArray | None:
        """Return how much each query counts in the mean of a metric, ``[Q]``; None: the same."""
        return metric.weights(self.weights, self.queries.judged)

    @property
    def clusters(self) -> IntArray | None:
        """The number of the independent unit of each session, ``[Q]``; None: each is one."""
        units = self.queries.clusters
        return None if units is None else np.array(units, dtype=np.int64)

    @property
    def cluster_names(self) -> None:
        """None: a record numbers its units, and has no names of them."""
        return None

    def fits(self, metric: Metric) -> bool:
        """Return whether it has values of a metric."""
        return str(metric) in self.metrics

    def averaged(self, metric: Metric, query_ids: Sequence[str] = (), label: str = "") -> Averaged:
        """Return the runs behind the recorded mean of a slice, or else of all queries."""
        return self.metrics[str(metric)].averaging(label)

    def slice_places(self, attribute: str) -> Mapping[str, Sequence[int]]:
        """Return the places of each slice in `query_ids`; empty if the attribute is not gated."""
        return self.queries.members.get(attribute, {})

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
        return self.queries.values[name]

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the top of the ranking of a query, best first; empty if it is not recorded."""
        place = self.queries.place_of.get(query_id)
        return () if place is None else self.queries.tops[place]

    def tops(self, depth: int | None = None) -> Mapping[str, Sequence[str]]:
        """Return the first documents of each query's ranking."""
        tops = self.queries.tops
        return {each: tops[place][:depth] for each, place in self.queries.place_of.items()}

    @property
    def relevant_depth(self) -> int | None:
        """How far down `ranks` has the relevant documents."""
        if self.queries.below is None:
            return self.kept_depth
        return max(self.kept_depth, *(Metric.parse(name).cutoff or 0 for name in self.gated))

    def read_rankings(self, k: int) -> None:
        """Do nothing: a record keeps only the top of a ranking."""

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """Return the rank of each document of `ranking`, and of relevant ones below it."""
        ranks, place = first_ranks(self.ranking(query_id)), self.queries.place_of.get(query_id)
        if place is not None and self.queries.below is not None:
            return {**self.queries.below[place], **ranks}
        return ranks


_IN_USE: WeakValueDictionary[str, Record] = WeakValueDictionary()
"""The records in use, by the texts of their files, so that none is read twice."""


def _is_known(name: str) -> bool:
    with suppress(MetricError):
        return bool(Metric.parse(name))
    return False
