"""Findings about baselines: what became of them, whether their gates ran, which slices differ.

They follow the rules of `findings`: built-in types, enums and other such classes in every field.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rankcheck.baselines.baseline_age import BaselineAge
from pytest_rankcheck.baselines.slice_changes import SliceChange
from pytest_rankcheck.baselines.update_actions import Action
from pytest_rankcheck.reports.findings import ReportedFinding

__all__ = ["BaselineFinding", "MeanChange", "RecordFinding", "SlicesFinding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineFinding(ReportedFinding):
    """What became of the baseline of a test that passed, or what could become of it."""

    test: str
    file: str
    """The baseline file as messages show it."""
    golden_set: str
    action: Action
    can_be_raised: bool = False
    """Whether an update would raise it."""
    means: tuple[MeanChange, ...] = ()
    """Of the gated metrics."""
    changed_rankings: int | None = None
    """How many rankings differ from the baseline; None if the test does not check rankings."""
    has_record: bool = True
    """Whether there was a baseline before."""
    reason: str | None = None
    """The reason given with ``--rankcheck-approve``, even if nothing fell."""
    is_written: bool = False
    is_within_noise: bool = False
    """Whether the baseline is kept because the gain is too small for the gate's rule."""
    no_longer_gated: tuple[str, ...] = ()
    """What the baseline gates and the test does not, in words."""
    looser_gates: tuple[str, ...] = ()
    """The gates that may pass what the baseline's gates block, in words."""
    added: int = 0
    """How many queries the golden set has gained since the baseline was recorded."""
    removed: int = 0
    edited: int = 0
    age: BaselineAge | None = None
    """How old the approved lines were before; filled in when the test session ends."""


@dataclass(frozen=True, slots=True)
class RecordFinding(ReportedFinding):
    """Whether the gate of a baseline ran in a test session."""

    file: str
    """The baseline file, relative to the root of the project."""
    golden_set: str
    gated: tuple[str, ...]
    """The metrics that it gates."""
    why_not: str | None = None
    """Why the gate did not run; None if it ran."""
    is_expected: bool = True
    """False if the project has chosen that the gate does not run."""


@dataclass(frozen=True, slots=True)
class MeanChange:
    """The mean of a gated metric in a baseline, and now."""

    metric: str
    before: float | None
    """None if the baseline does not have the metric, or cannot be compared."""
    now: float
    """As recorded, if the baseline was written; otherwise as measured."""
    by_golden_set: float | None = None
    """The part of the change that comes from added, removed and edited queries."""


@dataclass(frozen=True, slots=True)
class SlicesFinding(ReportedFinding):
    """How the slices that a test gates differ from those of its baseline."""

    test: str
    golden_set: str
    changes: tuple[SliceChange, ...]
    absent_attributes: tuple[str, ...]
    """The attributes in ``rankcheck_slices`` that the golden set does not have."""
