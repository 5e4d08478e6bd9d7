"""The documents of a run: the tops of all rankings as numbers, and what is known about each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import MetricError, listed, plural, quoted, suggestion
from pytest_rankcheck.evaluation.run_golden_join import Joined, join
from pytest_rankcheck.evaluation.unfit_runs import Notes, are_many
from pytest_rankcheck.files.plain_values import finite_number
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.metrics.judged_hits import padded_columns
from pytest_rankcheck.metrics.metric_inputs import ABSENT, WholeRun

if TYPE_CHECKING:
    from pytest_rankcheck.golden.documents import Documents, Interactions
    from pytest_rankcheck.rankers.run import Run


class EvaluatedDocuments:
    """The documents of an evaluation, looked up when a metric asks for them.

    Args:
        golden: the golden set.
        joined: a run, joined with it.
        run: the run, if it is in memory; otherwise, its join has the tops of the rankings.
        notes: receives what a reader must know.
    """

    def __init__(self, golden: GoldenSet, joined: Joined, run: Run | None, notes: Notes) -> None:
        self._golden, self._joined, self._run, self._notes = golden, joined, run, notes
        self._tops: tuple[int, WholeRun] | None = None

    def whole_run(self, depth: int) -> WholeRun:
        """Return the tops of all rankings, at least to a depth."""
        if self._tops is None or self._tops[0] < depth:
            tops, doc_ids = self._joined_to(depth).tops()
            known = RunDocuments(self._golden, doc_ids, self._notes)
            retrieved = self._joined.retrieved.astype(np.float64)
            self._tops = depth, WholeRun(_without_repeats(tops), retrieved, known)
        return self._tops[1]

    def of_block(self, start: int, rankings: Sequence[Sequence[str]]) -> BlockDocuments:
        """Return the documents of the block of queries that begins at a place."""
        judgments = self._golden.columns
        return BlockDocuments(rankings, self._with_rows, judgments, self._judged, start)

    @cached_property
    def _with_rows(self) -> Joined:
        return self._joined_to(1)

    @cached_property
    def _judged(self) -> RunDocuments:
        return RunDocuments(self._golden, (), self._notes)

    def _joined_to(self, depth: int) -> Joined:
        """Return the judged hits with the top of each ranking, and the rows of the judgments."""
        return join(self._run, self._golden, top=depth) if self._run is not None else self._joined


def _without_repeats(tops: IntArray) -> IntArray:
    """Return rankings in which the later places of a document are empty."""
    order = np.argsort(tops, axis=1, kind="stable")
    ordered = np.take_along_axis(tops, order, axis=1)
    is_again = ordered[:, 1:] == ordered[:, :-1]
    if not is_again.any():
        return tops
    ordered[:, 1:][is_again] = ABSENT
    kept = np.empty_like(tops)
    np.put_along_axis(kept, order, ordered, axis=1)
    return kept


class RunDocuments:
    """What is known about the documents of a run: see `KnownDocuments`."""

    def __init__(self, golden: JudgedQueries, doc_ids: Sequence[str], notes: Notes) -> None:
        self._golden, self._notes = golden, notes
        self.doc_ids = doc_ids
        """The ranked documents, by their numbers."""
        self._numbers: dict[str, FloatArray] = {}

    @cached_property
    def catalogue_size(self) -> int:
        """The number of documents in the catalogue, ranked or not."""
        return self._catalogue.size

    @cached_property
    def in_catalogue(self) -> BoolArray:
        """``[N]`` whether the catalogue has the document."""
        has_row = np.array(self._catalogue.has(self.doc_ids), dtype=np.bool_)
        self._report(~has_row, "without a row in", self._catalogue.name)
        return has_row

    @property
    def user_count(self) -> int:
        """The number of users who have interacted with any item."""
        return self._interactions.user_count

    @cached_property
    def popularity(self) -> IntArray:
        """``[N]`` how many users have interacted with each document."""
        counts = self._interactions.popularity(self.doc_ids)
        self._report(counts == 0, "without an interaction in", self._interactions.name)
        return counts

    def seen(self, documents: IntArray) -> BoolArray:
        """Return which of the documents, ``[Q, D]``, the user of the query has interacted with."""
        interactions, query_ids = self._interactions, self._golden.query_ids
        users = interactions.users(query_ids)
        if (users < 0).all():
            raise MetricError(
                f"no query of golden set '{quoted(self._golden.name)}' is a user of "
                f"{interactions.name}, which has no user '{quoted(query_ids[0])}', for example: "
                "the id of a query must be that of its user"
            )
        if unknown := [*compress(query_ids, users < 0)]:
            count = f"{len(unknown):,} of {plural(len(users), 'query', 'queries')}"
            text = f"{count} not among the users of {interactions.name}: {listed(unknown)}"
            self._notes[text] = are_many(len(unknown), len(users))
        return interactions.seen(users, self.doc_ids, documents)

    def values(self, attribute: str) -> Sequence[object]:
        """Return the attribute of each document, ``[N]``; None where it is unknown."""
        _ = self.in_catalogue  # raises an error if no document has a row
        values = self._looked_up(attribute, self.doc_ids)
        is_unknown = np.fromiter((value is None for value in values), np.bool_, len(values))
        what = f"without a value of {quoted(attribute)} in"
        self._report(is_unknown, what, self._catalogue.name)
        return values

    def judged(self, attribute: str) -> tuple[IntArray, FloatArray, Sequence[object]]:
        """Return the query, the grade and the attribute of each judgment."""
        judgments = self._golden.columns
        queries = np.repeat(np.arange(len(judgments.query_ids)), np.diff(judgments.starts))
        values = self._looked_up(attribute, judgments.documents.texts())
        if unknown := sum(value is None for value in values):
            count = f"{unknown:,} of {plural(len(values), 'judgment')}"
            text = f"{count} without a value of {quoted(attribute)} in {self._catalogue.name}"
            self._notes[text] = are_many(unknown, len(values))
        return queries, judgments.grades, values

    def judged_numbers(self, attribute: str) -> FloatArray:
        """Return the known number for the document of each judgment; NaN if it is unknown."""
        if attribute not in self._numbers:
            _, _, values = self.judged(attribute)
            numbers = [math.nan if value is None else finite_number(value) for value in values]
            if None in numbers:
                place = numbers.index(None)
                doc_id = self._golden.columns.documents.texts(np.array([place]))[0]
                raise MetricError(
                    f"{self._catalogue.name}: the {quoted(attribute)} of document "
                    f"'{quoted(doc_id)}' is {quoted(repr(values[place]), 60)}, not a number"
                )
            self._numbers[attribute] = np.array(numbers, dtype=np.float64)
        return self._numbers[attribute]

    def _looked_up(self, attribute: str, doc_ids: Sequence[str]) -> Sequence[object]:
        catalogue = self._catalogue
        values = catalogue.values(attribute, doc_ids)
        if attribute not in catalogue.attributes:
            raise MetricError(
                f"{catalogue.name} has no column '{quoted(attribute)}'"
                f"{suggestion(attribute, catalogue.attributes)}; it has "
                f"{listed(catalogue.attributes, 10) or 'only ids'}"
            )
        return values

    @property
    def _catalogue(self) -> Documents:
        if self._golden.catalogue is None:
            raise self._unknown("documents", "a table with a row for each")
        return self._golden.catalogue

    @property
    def _interactions(self) -> Interactions:
        interactions = self._golden.contents.interactions
        if interactions is None:
            raise self._unknown("interactions", "a table with the columns user and item")
        return interactions

    def _unknown(self, what: str, table: str) -> MetricError:
        return MetricError(
            f"the {what} of golden set '{quoted(self._golden.name)}' are unknown: set "
            f"rankcheck_{what} to {table}, or give {what}= where the golden set is made"
        )

    def _report(self, is_meant: BoolArray, what: str, where: str) -> None:
        """Note for how many ranked documents something is unknown; an error if for all of them."""
        meant = [self.doc_ids[number] for number in np.flatnonzero(is_meant).tolist()]
        total = plural(len(self.doc_ids), "ranked document")
        if meant and len(meant) == len(self.doc_ids):
            raise MetricError(
                f"all {total} are {what} {where}, such as {listed(meant)}; are the ids spelled "
                "in another way? doc_id= (rankcheck_doc_id) maps them"
            )
        if meant:
            text = f"{len(meant):,} of {total} {what} {where}: {listed(meant)}"
            self._notes[text] = are_many(len(meant), len(self.doc_ids))


@dataclass(frozen=True, slots=True)
class BlockDocuments:
    """What is known about the documents of a block of queries: see `HitDocuments`."""

    documents: Sequence[Sequence[str]]
    """The ids of the first documents of each query."""
    joined: Joined
    """The run with the rows of its judged documents."""
    judgments: Judgments
    known: RunDocuments
    start: int
    """The place of the first query of the block."""

    @property
    def _begins(self) -> slice:
        return slice(self.start, self.start + len(self.documents) + 1)

    def attribute(self, name: str) -> FloatArray:
        """Return the number that is known about each judged document that was retrieved."""
        numbers = self.known.judged_numbers(name)[self.joined.judged]
        return padded_columns(numbers, self.joined.starts[self._begins])

    def ideal_attribute(self, name: str) -> FloatArray:
        """Return the number that is known about each judged document, highest grade first."""
        begins = self.judgments.starts[self._begins]
        numbers = padded_columns(self.known.judged_numbers(name), begins)
        order = np.argsort(-padded_columns(self.judgments.grades, begins), axis=1)
        return np.take_along_axis(numbers, order, axis=1)
