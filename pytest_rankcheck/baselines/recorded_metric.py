"""What a record keeps about a metric, known here or not, besides the values of its queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pytest_rankcheck.baselines.record_file import decoded
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.run_noise import Averaged

_DECIMALS = 6
"""The number of decimals of written values."""


@dataclass(frozen=True, slots=True)
class RecordedMetric:
    """One metric in a record, besides its values."""

    gated: bool
    """Whether the test gates it, or only records it."""
    gate: str | None
    """The gate that its values were approved under; None if it was never gated."""
    averaged: int = 1
    """How many runs that differ only by chance the values are means of."""
    replicates: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """The means of runs that show how much they vary: of all queries (``""``), and by slice.

    They belong to the values, or to earlier values that averaged more runs.
    """
    lower_is_better: bool = False
    """The metric's direction, which the code of a project's own metric can reverse."""

    @classmethod
    def of(
        cls, name: str, gate: str | None, evaluation: Evaluation, attributes: Iterable[str]
    ) -> RecordedMetric:
        """Return what is kept about a metric of an evaluation besides its values."""
        metric = Metric.parse(name)
        metric.kind.refuse_record(metric)
        averaged = evaluation.averaged(metric, evaluation.query_ids)
        means = {"": averaged.means} if averaged.means else {}
        for attribute in metric.kind.sliced_by(attributes) if means else ():
            for value, ids in evaluation.slices(attribute).items():
                means[f"{attribute}={value}"] = evaluation.averaged(metric, ids).means
        written = {label: tuple(map(as_decimal, of_part)) for label, of_part in means.items()}
        lower_is_better = not metric.higher_is_better
        return cls(gate is not None, gate, averaged.count, written, lower_is_better)

    def averaging(self, label: str) -> Averaged:
        """Return the runs that the values of a slice, or else of all queries, average."""
        means = self.replicates.get(label, self.replicates.get("", ()))
        return Averaged(self.averaged, [mean for mean in means if mean is not None])

    def with_noise_of(self, approved: RecordedMetric, *, is_approved: bool) -> RecordedMetric:
        """Return this with the earlier variation of runs, until as many runs are approved again."""
        is_known = approved.replicates and not (is_approved and self.averaged >= approved.averaged)
        return replace(self, replicates=approved.replicates) if is_known else self

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the mean between the runs; None without several."""
        means = self.averaging("").means
        return as_decimal(float(np.std(means, ddof=1))) if len(means) > 1 else None


@dataclass(frozen=True, slots=True)
class UnknownMetric:
    """A recorded metric that is not known here; its content can only be kept."""

    entry: Mapping[str, Any]
    values: Mapping[str, Any]
    """The content of each query's line."""

    @classmethod
    def of(cls, name: str, content: Mapping[str, Any]) -> UnknownMetric:
        """Return what the content of a file says about a metric."""
        entry = {**decoded(dict, content["metrics"][name])}
        decoded(bool, entry["gated"])
        decoded(str | None, entry["gate"])
        decoded(float | None, entry["mean"])
        return cls(entry, {each["id"]: each["values"].get(name) for each in content["queries"]})


def as_decimal(value: float) -> float | None:
    """Return a value in the form of a file: six decimals, None for NaN."""
    return None if math.isnan(value) else round(value, _DECIMALS) + 0.0  # no negative zero
