"""The kinds of measurement: what has a value of a metric, and what follows from that.

A metric names its kind. The kind decides how the metric is called, how its values are averaged,
sliced, paired, gated and recorded, and the words for what has a value. Others call the kind and
never ask which one it is. A kind refuses what it cannot do, in its own words. A new kind is a class
in a module beside this one, its line in ``metric_definition.KINDS``, and its test.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, PlaceArray
from pytest_rankcheck.errors import ConfigurationError, MetricError, plural
from pytest_rankcheck.metrics.averages import mean_of
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_inputs import Timings, Trails, WholeRun

MetricInput: TypeAlias = JudgedHits | Trails | WholeRun | Timings
"""The first argument of a metric's function; its type depends on the metric's kind."""

Values = TypeVar("Values", bound="np.ndarray")
Given = TypeVar("Given")


class MeasuredSides(Protocol):
    """Two measurements that are compared."""

    @property
    def query_ids(self) -> tuple[str, ...]:
        """The queries or sessions that are compared one by one."""

    @property
    def all_ids(self) -> tuple[Sequence[str], Sequence[str]]:
        """All queries or sessions: now, and before."""

    @property
    def all_units(self) -> tuple[Sequence[str] | None, Sequence[str] | None]:
        """The names of their independent units; None if they have no names."""


class MeasurementKind:
    """A kind of measurement. "Queries" stands for whatever has a value: see `words`."""

    takes: type[MetricInput]
    """What a metric's function takes."""
    usage: str
    """What has values, and what to do with anything else."""
    words = ("query", "queries")
    """What messages call one of the units that are counted, and several."""
    set_name = "golden set"
    """What messages call all of them together."""
    improved = "these queries"
    """What must improve if the values are beyond a bound."""
    single = ""
    """What messages call the only value, if no query has a value of its own."""
    recur = True
    """Whether later measurements have the same units, as with the queries of a golden set."""
    has_parts = True
    """Whether the counted units have values of their own, and their slices have means."""
    depends_on: tuple[str, ...] = ()
    """The fields of a record on which every value depends; if one changed, no value can be
    compared."""
    is_recorded = True
    """Whether records keep the values."""
    is_of_documents = True
    """Whether the values come from the documents, so that these explain them."""
    depends_on_others = False
    """Whether the value of a query depends on the rankings of other queries."""
    measures = "a whole run"
    """What its metrics measure, if the laws of judged rankings do not apply to them."""

    @property
    def is_of_judgments(self) -> bool:
        """Whether each value is computed from the judgments of one ranking alone."""
        return self.takes is JudgedHits

    @property
    def plural(self) -> str:
        """``queries``, or ``sessions``."""
        return self.words[1]

    def counted(self, count: int, before: str = "") -> str:
        """Return ``225 queries``; with a word before, ``225 unchanged queries``."""
        return plural(count, *(before + name for name in self.words))

    def grade_text(self, grade: float | None) -> str:
        """Return what follows a document: its grade in brackets; None: unjudged."""
        return " (unjudged)" if grade is None else f" (grade {grade:g})"

    def returned(self, values: FloatArray, queries: int) -> FloatArray:
        """Return a value for each query, ``[Q]``, from what the metric's function returned."""
        return values

    def left_out(self, values: FloatArray, counts: BoolArray) -> FloatArray:
        """Return the values; NaN for each query that does not count, if it can be left out."""
        return values

    def over_runs(self, values: Iterable[FloatArray]) -> FloatArray:
        """Return the mean of each query's values over the runs that have one."""
        by_run = np.stack([*values])
        count = (~np.isnan(by_run)).sum(axis=0)
        return np.where(count > 0, np.nansum(by_run, axis=0) / np.maximum(count, 1), np.nan)

    def column(self, values: FloatArray) -> FloatArray:
        """Return what is recorded and compared for each query: its value."""
        return values

    def of_each(self, values: Values) -> Values:
        """Return the queries' own values, ``[Q]``; empty if they have none."""
        return values

    def for_each(self, given: Given) -> Given | None:
        """Return what is given for each query, such as weights; None if it is irrelevant."""
        return given

    def sliced_by(self, attributes: Iterable[str]) -> Iterable[str]:
        """Return the attributes whose slices have means."""
        return attributes

    def refuse_parts(self, metric: object) -> None:
        """Refuse to look at only some of the queries.

        Raises:
            MetricError: no query has a value of its own.
        """

    def refuse_gate(self, metric: object, gate: object, *, looks_at_parts: bool) -> None:
        """Refuse a gate that cannot decide on the values.

        Args:
            metric: the metric, as messages name it.
            gate: the gate, as messages name it.
            looks_at_parts: whether it has limits for queries or slices.

        Raises:
            ConfigurationError: the message says what to do instead.
        """

    def refuse_test(self, metric: object, rule: object) -> None:
        """Refuse a rule that tests the differences of queries.

        Raises:
            ConfigurationError: no query has a value of its own.
        """

    def refuse_record(self, metric: object) -> None:
        """Refuse to record the values.

        Raises:
            MetricError: they mean nothing on another machine.
        """

    def is_paired(self, sides: MeasuredSides) -> bool:
        """Return whether the values of both sides belong to the same queries or sessions."""
        return True

    def compares(self, sides: MeasuredSides) -> bool:
        """Return whether values of both sides can be compared."""
        return True

    def compared_ids(self, metric: object, sides: MeasuredSides) -> tuple[str, ...]:
        """Return the queries whose values are compared.

        Raises:
            MetricError: the values of the two sides cannot be compared.
        """
        return sides.query_ids

    def kept(
        self, measured: FloatArray, now: PlaceArray, approved: FloatArray, then: PlaceArray
    ) -> FloatArray:
        """Return what is recorded if approved values stay.

        Args:
            measured: what was measured, for all queries.
            now: the places of the queries whose approved value stays.
            approved: what was recorded, for all queries then.
            then: the places of the same queries there.
        """
        values = measured.copy()
        values[now] = approved[then]
        return values


class QueryValues(MeasurementKind):
    """Each query has a value, which depends on its own ranking only."""

    takes: type[MetricInput] = JudgedHits
    usage = "queries, but these are sessions: log.to_golden_set(...) turns them into queries"

    def left_out(self, values: FloatArray, counts: BoolArray) -> FloatArray:
        """Return the values, with NaN for each query that does not count."""
        return np.where(counts, values, np.nan)


class SessionValues(MeasurementKind):
    """Each session of a log has a value; two logs rarely have the same sessions."""

    takes = Trails
    usage = "sessions: use it with evaluate_sessions(log), or with the fixture session_evaluation"
    words = ("session", "sessions")
    set_name = "session log"
    improved = "sessions like these"
    measures = "search sessions"
    recur = False

    def grade_text(self, grade: float | None) -> str:
        """Return that a document was selected; nobody has judged those that were not."""
        return " (selected)" if grade else ""

    def is_paired(self, sides: MeasuredSides) -> bool:
        """Return whether both sides have the same sessions, of the same users."""
        now, then = sides.all_ids
        users, before = sides.all_units
        if set(now) != set(then) or users is None or before is None:
            return set(now) == set(then)
        return dict(zip(now, users, strict=True)) == dict(zip(then, before, strict=True))


class RunValues(QueryValues):
    """Each query has a value, which depends on the other queries of the run."""

    takes = WholeRun
    depends_on_others = True
    usage = "the whole run: use it with evaluate(run, golden)"


class TimeValues(MeasurementKind):
    """Each query has a value: how long it took here, which means nothing on another machine."""

    takes = Timings
    usage = "a ranker's time: use it with evaluate(rank(ranker, golden), golden)"
    is_recorded = False
    is_of_documents = False

    def over_runs(self, values: Iterable[FloatArray]) -> FloatArray:
        """Return the times of the first run."""
        return next(iter(values))

    def refuse_gate(self, metric: object, gate: object, *, looks_at_parts: bool) -> None:
        """Refuse every gate."""
        raise ConfigurationError(
            f"{metric} has no gate: times of another machine mean nothing, and are never "
            f'recorded; bound it: assert_at_most(evaluation, "{metric}", 0.2)'
        )

    def refuse_record(self, metric: object) -> None:
        """Refuse to record it."""
        raise MetricError(f"{metric} is not recorded: times of another machine mean nothing")


class WholeRunValue(RunValues):
    """The whole run has one value, and no query has one.

    For the queries, the metric's function returns the values of a jackknife, whose mean is the
    value of the run. Where other kinds record the value of each query, this one records that of the
    run.
    """

    improved = "the ranker"
    single = "one value of the whole run"
    has_parts = False
    depends_on = ("fingerprint", "catalogue")

    def left_out(self, values: FloatArray, counts: BoolArray) -> FloatArray:
        """Return all values: no query can be left out of the one value."""
        return values

    def column(self, values: FloatArray) -> FloatArray:
        """Return the value of the run for each query."""
        return np.full(len(values), mean_of(values, None, "whole"))

    def of_each(self, values: Values) -> Values:
        """Return nothing."""
        return values[:0]  # type: ignore[return-value]

    def for_each(self, given: Given) -> Given | None:
        """Return None: all queries count the same and are independent."""
        return None

    def sliced_by(self, attributes: Iterable[str]) -> Iterable[str]:
        """Return nothing."""
        return ()

    def refuse_parts(self, metric: object) -> None:
        """Refuse to look at only some of the queries."""
        raise MetricError(
            f"{metric} is {self.single}, and has no value of a slice or of some queries; leave out "
            "by=, or measure golden.subset(...)"
        )

    def refuse_gate(self, metric: object, gate: object, *, looks_at_parts: bool) -> None:
        """Refuse limits for queries and slices."""
        if looks_at_parts:
            raise ConfigurationError(
                f"{metric} is {self.single}, so {gate} has no query or slice to "
                "look at; leave out max_query_drop and max_gap"
            )

    def refuse_test(self, metric: object, rule: object) -> None:
        """Refuse a rule that tests the differences of queries."""
        raise ConfigurationError(
            f"{metric} is {self.single}, and {rule} tests differences of "
            "queries; resampling queries would be wrong too: a sample with repeats has 63% of the "
            "queries, and shows fewer documents. Gate it with a "
            "tolerance, such as Gate.tolerance(abs=0.01)"
        )

    def compares(self, sides: MeasuredSides) -> bool:
        """Return whether both sides have the same queries."""
        now, then = sides.all_ids
        return set(now) == set(then)

    def compared_ids(self, metric: object, sides: MeasuredSides) -> tuple[str, ...]:
        """Return all queries."""
        if not self.compares(sides):
            raise MetricError(
                f"{metric} is one value of all queries, and the two sides have different ones; "
                "compare measurements on the same golden set"
            )
        return tuple(sides.all_ids[0])

    def kept(
        self, measured: FloatArray, now: PlaceArray, approved: FloatArray, then: PlaceArray
    ) -> FloatArray:
        """Return the approved value for all queries."""
        return np.full(len(measured), mean_of(approved, None, "whole"))
