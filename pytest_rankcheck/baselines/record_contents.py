"""What a baseline file says.

The file is JSON made to be reviewed in a pull request: a header, then one line per query, sorted.
The same results give the same bytes. ``record.schema.json`` beside this module describes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.recorded_clusters import RecordedClusters
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries, RecordedQuery
from pytest_rankcheck.errors import BaselineError, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

__all__ = [
    "BEST_DECIMALS",
    "FORMAT_NAME",
    "FORMAT_VERSION",
    "TOP",
    "RecordContents",
    "RecordedMetric",
    "SinceApproval",
    "as_decimal",
    "as_decimals",
    "digest_of",
]

FORMAT_NAME = "pytest-rankcheck baseline"
FORMAT_VERSION = 3
TOP = 10
"""How many documents of each ranking a record keeps, to show what moved."""

_DECIMALS = 6
"""How exactly values are written."""
BEST_DECIMALS = 9
"""How exactly the best mean is written: rounding must not add up over many updates."""


@dataclass(frozen=True, slots=True)
class RecordedMetric:
    """One metric in a record, besides its values."""

    gated: bool
    """Whether the test gates it, or only records it."""
    best: float
    """The best mean that was ever approved; where the golden set changed, moved along with it."""
    noise: float | None = None
    """The standard deviation of the mean from run to run; None where it was not measured."""
    gate: str | None = None
    """The gate that its values were approved under; None if it was never gated."""
    lower_is_better: bool = False
    """The metric's direction, which the code of a project's own metric can reverse."""

    @property
    def was_gated(self) -> bool:
        """Whether a test gated it before and no longer does; its approved values stay."""
        return not self.gated and self.gate is not None


@dataclass(frozen=True, slots=True)
class SinceApproval:
    """What updates without a reason have changed since the record was last approved.

    Small changes need no reason. They are added up here, so that many of them do.
    """

    queries: int
    """How many queries the golden set had."""
    counted: Mapping[str, int]
    """How many queries had a value, by metric."""
    added: int = 0
    removed: int = 0
    edited: int = 0
    uncounted: Mapping[str, int] = field(default_factory=dict)
    """How many queries have lost their value, by metric."""
    mean_change: Mapping[str, float] = field(default_factory=dict)
    """How far added, removed and edited queries moved the mean, by metric."""

    @property
    def replaced(self) -> int:
        """The number of queries that were removed or edited."""
        return self.removed + self.edited


@dataclass(frozen=True)
class RecordContents:
    """What a baseline file says: a header, and one line per query."""

    golden_name: str
    golden_queries: int
    golden_judgments: int
    golden_fingerprint: str
    depth: int | None
    conventions: Conventions
    kept: Mapping[str, RecordedMetric]
    """The metrics by canonical name, the gated ones first."""
    queries: Mapping[str, RecordedQuery]
    approvals: tuple[Approval, ...] = ()
    slices: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many queries each slice has, by gated attribute and value."""
    kept_depth: int = TOP
    """How many documents of each ranking are kept."""
    test: str = ""
    """The test that the record belongs to: class, function and the test's own parameters."""
    golden_scale: float = 0.0
    """The highest grade of the golden set."""
    since_approval: SinceApproval | None = None
    """None in a measurement that is not a baseline, such as that of a report."""
    world: Mapping[str, str] = field(default_factory=dict)
    """What was ranked with, if the project declares it: a file's hash or a package's version."""
    retired: Approval | None = None
    """Why tests no longer measure it; None for a record in use."""
    clusters_kept: RecordedClusters | None = None
    """What the independent units are; None: each query or session is one."""
    is_merged: bool = False
    """Whether two branches' records were merged into it, and no update has measured it since."""
    stability: tuple[StabilityLimits, ...] = ()
    """The limits under which the rankings were approved; empty if they were never compared."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", RecordedQueries.of(self.queries, self.kept))

    @property
    def lines(self) -> RecordedQueries:
        """The same as `queries`, with its columns."""
        assert isinstance(self.queries, RecordedQueries)
        return self.queries

    @property
    def manner(self) -> tuple[object, ...]:
        """How it was measured: two records that differ in this cannot be compared."""
        clusters = self.clusters_kept
        return self.conventions, self.depth, None if clusters is None else clusters.by

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of all metrics of the record."""
        return tuple(self.kept)

    @property
    def recorded_metrics(self) -> Sequence[Metric]:
        """All metrics of the record."""
        return [Metric.parse(name) for name in self.kept]

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
        return self.lines.values_of[name]

    def counted(self, metric: Metric) -> int:
        """Return how many queries have a value of a metric."""
        return self.lines.counted(str(metric))

    def mean(self, metric: Metric) -> float:
        """Return the mean over the queries that counted.

        Raises:
            BaselineError: the record does not have this metric.
        """
        return metric.mean(self.values(metric), self.weights)

    @property
    def weights(self) -> FloatArray | None:
        """How much each query counts, ``[Q]``; None where all count the same."""
        return self.lines.weights


def digest_of(entry: Mapping[str, object]) -> str:
    """Return the digest of a record's content, 16 hexadecimal digits.

    Of what the file says, not of how it is laid out: line ends may be converted.
    """
    import hashlib  # loads OpenSSL, for those who have baselines

    content = {key: value for key, value in entry.items() if key != "digest"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def as_decimal(value: float, decimals: int = _DECIMALS) -> float | None:
    """Return a value as a file has it: six decimals, None for NaN."""
    return None if math.isnan(value) else round(value, decimals) + 0.0  # no negative zero


def as_decimals(values: FloatArray) -> FloatArray:
    """Return values as a file has them, each rounded like `as_decimal`; NaN stays."""
    unique, places = np.unique(values, return_inverse=True)
    rounded = [round(value, _DECIMALS) + 0.0 for value in unique.tolist()]
    decimals: FloatArray = np.array(rounded, dtype=np.float64)[places]
    return decimals
