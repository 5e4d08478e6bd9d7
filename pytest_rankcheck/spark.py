"""Evaluating a run in a Spark frame on its own cluster (the extra ``[spark]``)."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import ConfigurationError, RankcheckError, RunError, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.evaluation_part import EvaluationPart, evaluate_part
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.ranked_columns import TOP
from pytest_rankcheck.rankers.ranking import ReadingOptions
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.rankers.run_tables import run_columns

if TYPE_CHECKING:
    import pandas as pd


_WHERE = "the Spark frame"
_SCHEMA = "part binary, problem string"
"""What a worker returns for each query: its pickled part, or what is wrong."""


@checked_arguments
def evaluate_spark(
    frame: Any,
    golden: GoldenSet,
    *,
    name: str = "run",
    depth: int | None = None,
    top: int = TOP,
    conventions: Conventions | str | None = None,
    **reading: Unpack[ReadingOptions],
) -> Evaluation:
    """Measure a Spark frame with one row for each ranked document.

    Spark groups the rows by query, and only the judged hits and the top of each ranking come back.
    Workers need this package and pyarrow.

    Args:
        frame: a Spark DataFrame with the columns ``query_id``, ``doc_id`` and ``score`` (highest
            first) or ``rank`` (lowest first); other usual names are recognised.
        golden: the golden set.
        name: what messages and records call the run.
        depth: how many documents of each ranking count; None: all.
        top: how many of the first documents of each ranking to keep.
        conventions: as in `evaluate`.
        **reading: ``columns``, ``ties``, ``duplicates``, ``doc_id`` and ``incomplete_ranks``, as
            in `Run.load`. Rows of a Spark frame have no order, so ``ties="input"`` is an error. The
            workers must be able to import a function that maps ids.

    Raises:
        RunError: a column is missing or of another type, an id is null, or as in `evaluate`.
        ConfigurationError: ``ties="input"`` is given, or ``frame`` is not a Spark DataFrame.
    """
    if not hasattr(frame, "mapInArrow"):
        raise ConfigurationError(
            f"frame: {quoted(repr(frame), 60)} is not a Spark DataFrame; for one of pandas or "
            "polars, use evaluate(Run.from_frame(frame), golden)"
        )
    if reading.get("ties") == "input":
        raise ConfigurationError(
            "ties='input' does not fit a Spark frame, whose rows have no order; use 'doc_id'"
        )
    _ = golden.fingerprint  # computed here once, not by every worker
    frame = _role_columns(frame, reading.pop("columns", None) or {})
    options: Any = {"name": name, "depth": depth, "top": top, "conventions": conventions}

    def part_of_query(rows: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        part, problem = None, None
        try:
            part = evaluate_part(rows, golden, **options, **reading)
        except RankcheckError as error:  # Spark would bury it in a long traceback
            problem = str(error)
        return pd.DataFrame({"part": [part and pickle.dumps(part)], "problem": [problem]})

    returned = frame.groupBy("query_id").applyInPandas(part_of_query, _SCHEMA).collect()
    problems = sorted(row["problem"] for row in returned if row["problem"] is not None)
    if problems:
        raise RunError(problems[0])
    parts = [replace(pickle.loads(row["part"]), notes=()) for row in returned]
    parts = parts or [evaluate_part(Run.from_dict({}), golden, top=top, conventions=conventions)]
    return EvaluationPart.merged(parts, golden, len(parts), name)


def _role_columns(frame: Any, columns: Mapping[str, str]) -> Any:
    """Return the frame with only the columns that matter, under their usual names.

    Raises:
        RunError: a column is missing or of another type.
    """
    from pyspark.sql import functions

    ids, chosen = ("string", "tinyint", "smallint", "int", "bigint"), []
    for role, index in run_columns(list(frame.columns), columns, _WHERE).items():
        column = frame.columns[index]
        kind, is_id = frame.schema[column].dataType.simpleString(), role.endswith("_id")
        numbers = (*ids[1:], "float", "double") if not kind.startswith("decimal") else (kind,)
        if kind not in (ids if is_id else numbers):
            wanted = "text or whole numbers" if is_id else "numbers"
            raise RunError(
                f"{_WHERE}: column '{quoted(column)}' has the type {kind}; {role} must be "
                f"{wanted}: cast it"
            )
        given = functions.col(f"`{column.replace('`', '``')}`")
        chosen.append(given.cast("string" if is_id else "double").alias(role))
    return frame.select(*chosen)
