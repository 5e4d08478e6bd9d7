"""Evaluating a run in a Spark frame on the cluster that holds it (the extra ``[spark]``).

This module avoids the usual mistakes of hand-written code: it never cuts a query, orders ties like
every other evaluation, gives ERR the scale of the whole golden set, and raises if a part is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import ConfigurationError, RankcheckError, RunError, listed, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation_part import EvaluationPart, evaluate_part
from pytest_rankcheck.evaluation.merged_evaluation import MergedEvaluation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.ranked_columns import TOP
from pytest_rankcheck.rankers.ranking import Duplicates, IncompleteRanks, Ties
from pytest_rankcheck.rankers.run_columns import run_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from pytest_rankcheck.document_ids import DocIdRule

__all__ = ["evaluate_spark"]

_BATCH_ROWS = 1 << 18
"""How many rows are evaluated at a time; Spark sends them in batches of 10,000."""
_WHERE = "the Spark frame"


@checked_arguments
def evaluate_spark(
    frame: Any,
    golden: GoldenSet,
    *,
    name: str = "run",
    columns: Mapping[str, str] | None = None,
    ties: Ties = "doc_id",
    duplicates: Duplicates = "error",
    doc_id: DocIdRule | None = None,
    incomplete_ranks: IncompleteRanks = "error",
    depth: int | None = None,
    top: int = TOP,
    conventions: Conventions | None = None,
    partitions: int | None = None,
) -> MergedEvaluation:
    """Measure a Spark frame with one row for each ranked document.

    The rows of judged queries are grouped by query and sorted, each worker evaluates its
    partitions, and only the resulting parts, a few megabytes, come back. Workers need this
    package, pyarrow and, to be fast, polars.

    Args:
        frame: a Spark DataFrame with the columns ``query_id``, ``doc_id`` and ``score`` (highest
            first) or ``rank`` (lowest first); other usual names are recognised.
        golden: the golden set.
        name: what messages and records call the run.
        columns: ``{meaning: column}`` for columns with unusual names.
        ties: the order of equal scores: ``"doc_id"`` or ``"error"``. Rows of a Spark frame have no
            order, so ``"input"`` is an error.
        duplicates: a document twice in a ranking, as in `Run.load`.
        doc_id: maps the ids of documents, as in `Run.load`; the workers must be able to import a
            function of your own.
        incomplete_ranks: as in `Run.load`.
        depth: how many documents of each ranking count; None: all.
        top: how many of the first documents of each ranking to keep.
        conventions: as in `evaluate`. With ``extra="error"``, queries without judgments are kept,
            so that they are found.
        partitions: the number of partitions for the rows; None: Spark decides.

    Raises:
        RunError: a column is missing or of another type, a query id is null, or as in `evaluate`.
        ConfigurationError: ``ties="input"``, not a Spark DataFrame, or pyspark is missing.
    """
    if not hasattr(frame, "mapInArrow"):
        raise ConfigurationError(
            f"frame: {quoted(repr(frame), 60)} is not a Spark DataFrame; for one of pandas or "
            "polars, use evaluate(Run.from_frame(frame), golden)"
        )
    if ties == "input":
        raise ConfigurationError(
            "ties='input' does not fit a Spark frame, whose rows have no order; use 'doc_id'"
        )
    chosen = conventions or Conventions()
    _ = golden.fingerprint  # computed here once, not by every worker
    options: dict[str, Any] = {
        "ties": ties,
        "duplicates": duplicates,
        "doc_id": doc_id,
        "incomplete_ranks": incomplete_ranks,
        "depth": depth,
        "top": top,
        "conventions": chosen,
    }
    prunes = chosen.extra != "error"
    given = _role_columns(frame, columns or {})
    rows = _together(_judged(given, golden) if prunes else given, partitions)
    found = rows.mapInArrow(_PartOfFrame(golden, options), "part binary, error string").collect()
    parts = _parts(found)
    if not parts and prunes:
        _refuse_other_ids(given, golden)
    parts = parts or [evaluate_part(_no_rows(), golden, **options)]
    merged = MergedEvaluation.of(parts, golden, None, name)
    if prunes:
        merged.note("queries without judgments were left out before evaluation and are not counted")
    merged.warn_of_ids()
    return merged


def _role_columns(frame: Any, columns: Mapping[str, str]) -> Any:
    """Return the frame with only the columns that matter, under their usual names.

    Raises:
        RunError: a column is missing or of another type.
    """
    from pyspark.sql import functions
    from pyspark.sql.types import (
        ByteType,
        IntegerType,
        LongType,
        NumericType,
        ShortType,
        StringType,
    )

    ids, numbers = (StringType, ByteType, ShortType, IntegerType, LongType), (NumericType,)
    place = run_columns(list(frame.columns), columns, _WHERE)
    chosen = []
    for role, index in place.items():
        column = frame.columns[index]
        kind, is_id = frame.schema[column].dataType, role.endswith("_id")
        if not isinstance(kind, ids if is_id else numbers):
            wanted = "text or whole numbers" if is_id else "numbers"
            raise RunError(
                f"{_WHERE}: column '{quoted(column)}' has the type {kind.simpleString()}; "
                f"{role} must be {wanted}: cast it"
            )
        given = functions.col(f"`{column.replace('`', '``')}`")
        chosen.append((given if is_id else given.cast("double")).alias(role))
    return frame.select(*chosen)


def _judged(rows: Any, golden: GoldenSet) -> Any:
    """Return the rows of judged queries, and rows without a query, which raise an error later."""
    from pyspark.sql import functions

    ids = [(query_id,) for query_id in golden.query_ids]
    judged = rows.sparkSession.createDataFrame(ids, "judged_id string")
    is_same = rows["query_id"].cast("string") == judged["judged_id"]
    joined = rows.join(functions.broadcast(judged), is_same, "left")
    kept = joined.where(joined["judged_id"].isNotNull() | joined["query_id"].isNull())
    return kept.drop("judged_id")


def _refuse_other_ids(rows: Any, golden: GoldenSet) -> None:
    """Refuse a frame that has rows, but no row of a judged query.

    Raises:
        RunError: always, if there are rows; the message shows ids of both sides.
    """
    some = [str(row[0]) for row in rows.select("query_id").limit(3).collect()]
    if some:
        kind = rows.schema["query_id"].dataType.simpleString()
        raise RunError(
            f"{_WHERE} and golden set '{quoted(golden.name)}' share no query: the column query_id, "
            f"of the type {kind}, has {listed(some, 3)}, the golden set has "
            f"{listed(golden.query_ids, 3)}. If the ids differ in leading zeros, which numbers do "
            "not keep, read the column as text from the start"
        )


def _together(rows: Any, partitions: int | None) -> Any:
    """Return the rows with each query in one partition, in the order of its ranking."""
    from pyspark.sql import functions

    by = functions.col("query_id")
    moved = rows.repartition(by) if partitions is None else rows.repartition(partitions, by)
    order = [by]
    if "score" in rows.columns:
        order.append(functions.col("score").desc())
    if "rank" in rows.columns:
        order.append(functions.col("rank").asc())
    return moved.sortWithinPartitions(*order, functions.col("doc_id").cast("string").desc())


@dataclass(frozen=True)
class _PartOfFrame:
    """Evaluates one partition on a worker, and returns its part, or the text of an error.

    If a worker raised our error, it would reach the driver buried in a long traceback.
    """

    golden: GoldenSet
    options: Mapping[str, Any]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        schema = pa.schema([("part", pa.binary()), ("error", pa.string())])
        content, error = None, None
        try:
            content = self._part(iter(batches))
        except RankcheckError as failure:
            error = str(failure)
        if content is not None or error is not None:
            yield pa.RecordBatch.from_pydict({"part": [content], "error": [error]}, schema=schema)

    def _part(self, batches: Iterator[pa.RecordBatch]) -> bytes | None:
        """Return the part of a partition as Arrow's stream; None if it has no rows."""
        import pyarrow as pa
        from pyspark import TaskContext

        first = next(batches, None)
        if first is None:
            return None
        reader = pa.RecordBatchReader.from_batches(first.schema, _larger(first, batches))
        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        part = evaluate_part(reader, self.golden, name=f"partition {number}", **self.options)
        table, sink = part.to_arrow(), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        content: bytes = sink.getvalue().to_pybytes()
        return content


def _larger(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in larger batches.

    Raises:
        RunError: a row has no query or document.
    """
    import pyarrow as pa

    some, count = [first], first.num_rows
    _refuse_nulls(first)
    for batch in others:
        _refuse_nulls(batch)
        some.append(batch)
        count += batch.num_rows
        if count >= _BATCH_ROWS:
            yield from pa.Table.from_batches(some).combine_chunks().to_batches()
            some, count = [], 0
    if some:
        yield from pa.Table.from_batches(some).combine_chunks().to_batches()


def _refuse_nulls(batch: pa.RecordBatch) -> None:
    for role in ("query_id", "doc_id"):
        column = batch.column(batch.schema.get_field_index(role))
        if column.null_count:
            raise RunError(
                f"{_WHERE}: the {role} of a row is null; drop such rows, or correct the join that "
                "made them"
            )


def _parts(rows: Sequence[Any]) -> list[EvaluationPart]:
    """Return the parts that the workers made.

    Raises:
        RunError: a worker found something wrong.
    """
    import pyarrow as pa

    errors = sorted({row["error"] for row in rows if row["error"] is not None})
    if errors:
        more = f"; and in other partitions: {listed(errors[1:], 3)}" if errors[1:] else ""
        raise RunError(f"{errors[0]}{more}")
    return [EvaluationPart.from_arrow(pa.ipc.open_stream(row["part"]).read_all()) for row in rows]


def _no_rows() -> pa.Table:
    import pyarrow as pa

    columns = {"query_id": pa.string(), "doc_id": pa.string(), "score": pa.float64()}
    return pa.table({name: pa.array([], kind) for name, kind in columns.items()})
