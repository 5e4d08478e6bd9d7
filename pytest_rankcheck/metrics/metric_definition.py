"""The definition of a metric: its function and everything that is declared about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.metrics.averages import Aggregate
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.kinds import (
    MeasurementKind,
    MetricInput,
    QueryValues,
    RunValues,
    SessionValues,
    TimeValues,
    WholeRunValue,
)
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, flag

MetricFunction = Callable[..., FloatArray]
"""``function(hits, cutoff, **parameters)`` returns the value of each query, ``[Q]``."""

Synonyms = Mapping[str, Mapping[str, Mapping[str, object]]]
"""Another library's parameter -> its value -> our parameters and their values."""

Spelling = Mapping[str, object] | Callable[[Mapping[str, object]], Mapping[str, object]]
"""The parameters that another tool's name stands for, or a function that translates its own."""

At = Literal["cutoff", "recall"] | None
"""What the number after @ means: the cutoff or the recall level; None if no number is allowed."""

Unit = Literal["query", "session", "run", "time"]
"""What has a value: a query; a session of a log; (``run``) a query whose value depends on the other
queries of the run; or (``time``) a query whose value is how long it took."""

KINDS: Mapping[str, MeasurementKind] = {
    "query": QueryValues(),
    "session": SessionValues(),
    "run": RunValues(),
    "time": TimeValues(),
    "whole": WholeRunValue(),
}
"""The kind for each unit of a metric, and for metrics with one value of the whole run."""

JUDGED_ONLY = Parameter(
    "judged_only",
    default=False,
    check=flag,
    allowed="true or false",
    description="remove unjudged documents from the ranking before the metric is computed",
)
"""A parameter of every metric of judged hits, applied before the metric's function is called."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A registered metric: its function, and everything that is declared about it."""

    name: str
    compute: MetricFunction = field(repr=False)
    summary: str
    reference: str
    formula: str = ""
    """The formula as one line of plain text."""
    use: str = ""
    """When to use the metric, in one sentence."""
    aliases: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict, compare=False)
    synonyms: Synonyms = field(default_factory=dict, compare=False)
    renamed: Mapping[str, str] = field(default_factory=dict, compare=False)
    spellings: Mapping[str, Spelling] = field(default_factory=dict, compare=False)
    """Other tools' names for the metric with parameters of its own."""
    higher_is_better: bool = True
    ideal: float | None = None
    """The best value, if it is neither the highest nor the lowest; nearer values are better."""
    range: tuple[float, float] = (0.0, 1.0)
    at: At = "cutoff"
    unjudged: str = "not relevant"
    """How an unjudged document counts, in words; ``-`` if judgments are not used."""
    trec_eval: tuple[str, ...] = ()
    aggregate: Aggregate = "arithmetic"
    unit: Unit = "query"
    ir_measures: str | None = None
    """The name in ir_measures, if that library computes the metric; else None."""

    def as_spelled(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]:
        """Return the parameters that a name implies, with those that were given.

        Case matters if a spelling differs from the metric's own name in nothing else: trec_eval's
        ``rbp`` is not ``RBP``.
        """
        own_names = {word.casefold() for word in (self.name, *self.aliases)}
        for word, spelling in self.spellings.items():
            is_only_case = word.casefold() in own_names
            if name == word or (name.casefold() == word.casefold() and not is_only_case):
                if callable(spelling):
                    return spelling(given)
                return {**spelling, **given}
        return given

    @property
    def kind(self) -> MeasurementKind:
        """What has a value, and what follows from that."""
        return KINDS["whole" if self.aggregate == "whole" else self.unit]

    @property
    def is_mean_of_values(self) -> bool:
        """Whether the difference of two means is the mean of the differences, maybe weighted."""
        return self.kind.has_parts and self.aggregate in ("arithmetic", "by_judged")

    @property
    def better(self) -> str:
        """Which values are better, as a word: ``higher``, ``lower`` or ``nearer to 1``."""
        if self.ideal is not None:
            return f"nearer to {self.ideal:g}"
        return "higher" if self.higher_is_better else "lower"

    def __call__(
        self, block: MetricInput, cutoff: int | None, parameters: Mapping[str, Value]
    ) -> FloatArray:
        """Return the value of each query or session of ``block``, ``[Q]``.

        Raises:
            MetricError: the metric is of another kind: ``block`` holds sessions and the metric is
                one of queries, for example.
        """
        arguments = dict(parameters)
        if not isinstance(block, self.kind.takes):
            raise MetricError(f"{self.name} is a metric of {self.kind.usage}")
        if isinstance(block, JudgedHits) and arguments.pop(JUDGED_ONLY.name):
            block = block.judged_only()
        values = self.compute(block, cutoff, **arguments)
        # The caller reports values of any other form.
        return values + 0.0 if _is_numeric(values) else values  # no negative zero


def _is_numeric(values: object) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind in "fiub"


def wrong_form(values: object, count: int) -> str | None:
    """Return what is wrong with the form of a metric's values; None if they are valid.

    Args:
        values: what the metric's function returned.
        count: the number of queries or sessions that it was given.
    """
    if not isinstance(values, np.ndarray) or values.shape != (count,):
        what = type(values).__name__
        if isinstance(values, np.ndarray):
            what = f"the shape {values.shape}"
        return f"returned {what}; return a numpy array with one number per query, ({count},)"
    if not _is_numeric(values):
        return (
            f"returned an array of type {values.dtype}; return numbers, of type float64, with NaN "
            "for a query without a value"
        )
    return None
