"""The kinds of measurement: what has a value of a metric, and what follows from it.

A metric names its kind. The kind owns how the metric is called, how its values are averaged,
sliced, paired, gated and recorded, and what messages call what has a value. Everybody else calls
the kind, and nobody asks which one it is. What a kind cannot do it refuses, in its own words. A
new kind is a class in a module beside this one, its line in ``metric_definition.KINDS``, and its
test.
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
    """A kind of measurement. What is said of queries holds for what has a value: see `words`."""

    takes: type[MetricInput]
    """What a metric's function takes."""
    usage: str
    """What has values, and what to do with anything else."""
    words = ("query", "queries")
    """What messages call one of those that are counted, and several."""
    set_name = "golden set"
    """What messages call all of them together."""
    improved = "these queries"
    """What must become better if the values are beyond a bound."""
    single = ""
    """What messages call the only value, if no query has a value of its own."""
    recur = True
    """Whether later measurements have the same ones, as the queries of a golden set do."""
    has_parts = True
    """Whether those that are counted have values of their own, and slices of them means."""
    depends_on: tuple[str, ...] = ()
    """What of the golden set every value depends on, so that no value can be compared if it has
    changed: names of the fields of a record."""
    is_recorded = True
    """Whether records keep the values."""
    is_of_documents = True
    """Whether the values come from the documents, so that these explain them."""
    depends_on_others = False
    """Whether the value of a query depends on the rankings of other queries."""
    measures = "a whole run"
    """What its metrics measure, where laws of judged rankings do not apply to them."""

    @property
    def is_of_judgments(self) -> bool:
        """Whether each value comes from one judged ranking alone, and others would change it."""
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
        """Return the values, with NaN for each query that does not count, where one can be."""
        return values

    def over_runs(self, values: Iterable[FloatArray]) -> FloatArray:
        """Return the mean of each query's values in several runs, of those that have one."""
        by_run = np.stack([*values])
        count = (~np.isnan(by_run)).sum(axis=0)
        return np.where(count > 0, np.nansum(by_run, axis=0) / np.maximum(count, 1), np.nan)

    def column(self, values: FloatArray) -> FloatArray:
        """Return what is recorded and compared for each query: its value."""
        return values

    def of_each(self, values: Values) -> Values:
        """Return what the queries have of their own, ``[Q]``; empty if they have nothing."""
        return values

    def for_each(self, given: Given) -> Given | None:
        """Return what is given for each query, such as weights; None if it does not matter."""
        return given

    def sliced_by(self, attributes: Iterable[str]) -> Iterable[str]:
        """Return the attributes by whose slices there are means."""
        return attributes

    def refuse_parts(self, metric: object) -> None:
        """Refuse to look at some of the queries only.

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
            ConfigurationError: naming what to do instead.
        """

    def refuse_test(self, metric: object, rule: object) -> None:
        """Refuse a rule that tests the differences of queries.

        Raises:
            ConfigurationError: no query has a value of its own.
        """

    def refuse_record(self, metric: object) -> None:
        """Refuse to record the values.

        Raises:
            MetricError: they mean nothing elsewhere.
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
            measured: what was measured, of all queries.
            now: the places of those whose approved value stays.
            approved: what was recorded, of all queries then.
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
    """Each query has a value: how long it took here, which means nothing elsewhere."""

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

    What the metric's function returns for the queries are the values of its jackknife, whose mean
    it is. Where others have the value of each query, it is that of the run.
    """

    improved = "the ranker"
    single = "one value of the whole run"
    has_parts = False
    depends_on = ("fingerprint", "catalogue")

    def left_out(self, values: FloatArray, counts: BoolArray) -> FloatArray:
        """Return all values: a query cannot be left out of what it is one value of."""
        return values

    def column(self, values: FloatArray) -> FloatArray:
        """Return the value of the run for each query."""
        return np.full(len(values), mean_of(values, None, "whole"))

    def of_each(self, values: Values) -> Values:
        """Return nothing."""
        return values[:0]  # type: ignore[return-value]

    def for_each(self, given: Given) -> Given | None:
        """Return None: all queries count the same, and each is for itself."""
        return None

    def sliced_by(self, attributes: Iterable[str]) -> Iterable[str]:
        """Return nothing."""
        return ()

    def refuse_parts(self, metric: object) -> None:
        """Refuse to look at some of the queries only."""
        raise MetricError(
            f"{metric} is {self.single}, and has no value of a slice or of some queries; leave out "
            "by=, or measure golden.subset(...)"
        )

    def refuse_gate(self, metric: object, gate: object, *, looks_at_parts: bool) -> None:
        """Refuse limits for queries and slices."""
        if looks_at_parts:
            raise ConfigurationError(
                f"{metric} is {self.single}, so {gate} has no query or slice to "
                "look at; leave out max_query_drop, max_gap and standardise"
            )

    def refuse_test(self, metric: object, rule: object) -> None:
        """Refuse a rule that tests the differences of queries."""
        raise ConfigurationError(
            f"{metric} is {self.single}, and {rule} tests differences of "
            "queries; a test that draws queries anew would be wrong too: a sample with "
            "repeats has 63% of the queries, and shows fewer documents. Gate it with a "
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
