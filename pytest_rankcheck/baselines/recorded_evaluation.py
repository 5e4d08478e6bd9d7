"""A record as the source of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_file import FORMAT_NAME
from pytest_rankcheck.errors import BaselineError, GoldenSetError, quoted
from pytest_rankcheck.evaluation.measured_source import Source
from pytest_rankcheck.files.packed_files import first_bytes
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.run_noise import Averaged

_SAMPLE = 200


class MeasuredRecord(Source):
    """A record on a golden set: recorded values and the top of each ranking.

    It has the queries of the record that are unchanged in the golden set, and only the metrics of
    the record.
    """

    def __init__(self, record: Record, golden: GoldenSet, name: str) -> None:
        recorded_fingerprints = record.query_fingerprints
        same = [
            query_id
            for query_id, fingerprint in golden.query_fingerprints.items()
            if recorded_fingerprints.get(query_id) == fingerprint
        ]
        if not same:
            raise GoldenSetError(
                f"{quoted(name)}: golden set '{quoted(golden.name)}' has no query with the "
                "same text and judgments; give the set that it was measured on"
            )
        chosen = golden if len(same) == len(golden) else golden.subset(same)
        super().__init__(name, record.depth, chosen, record.conventions)
        self.record, self.recorded_metrics = record, record.recorded_metrics
        self._places = record.queries.places(self.query_ids)

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes."""
        return self.record.known_depth

    def values(self, metric: Metric) -> FloatArray:
        """Return the recorded values."""
        return np.asarray(self.record.values(metric)[self._places], dtype=np.float64)

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the top of the ranking of a query."""
        return self.record.ranking(query_id)

    def averaged(self, metric: Metric, query_ids: Sequence[str] = (), label: str = "") -> Averaged:
        """Return the runs behind the recorded mean."""
        return self.record.averaged(metric, query_ids, label)

    def __repr__(self) -> str:
        return f"{self.name!r} on {self.golden!r}"


def is_record(path: Path) -> bool:
    """Return whether a file says that it is a baseline; otherwise it may be a run."""
    with suppress(BaselineError):
        return f'"format": "{FORMAT_NAME}"'.encode() in first_bytes(path, _SAMPLE, BaselineError)
    return False
