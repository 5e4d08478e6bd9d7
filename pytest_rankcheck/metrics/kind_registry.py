"""The registry of the kinds of measurement: a new one has its line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pytest_rankcheck.metrics.kinds import (
    MeasurementKind,
    QueryValues,
    RunValues,
    SessionValues,
    TimeValues,
    WholeRunValue,
)

Unit = Literal["query", "session", "run", "time"]
"""What has one value each: a query, a session of a log, or (``run``) a query whose value depends
on the other queries of the run, or (``time``) a query whose value is how long it took."""

KINDS: Mapping[str, MeasurementKind] = {
    "query": QueryValues(),
    "session": SessionValues(),
    "run": RunValues(),
    "time": TimeValues(),
    "whole": WholeRunValue(),
}
"""The kind of each unit of a metric; and of what is aggregated as one value of the whole run."""
