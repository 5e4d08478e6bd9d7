"""Evaluating arrays of scores and labels without ids, as in learning to rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, plural, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.measured_runs import evaluate
from pytest_rankcheck.files.id_columns import NumberIds, row_blocks, starts_of
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.rankers.ranked_columns import RankedColumns
from pytest_rankcheck.rankers.ranking import RankingRules, Ties
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_BLOCK_ROWS = 1 << 16
"""How many rows are ranked at once: they fit into the cache."""


def evaluate_arrays(
    scores: ArrayLike,
    labels: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    name: str = "arrays",
    ties: Ties = "input",
    scale: float | None = None,
    conventions: Conventions | str | None = None,
) -> Evaluation:
    """Measure scores of documents that are all judged, without ids.

    A document's id is its row, from 0 on, that of a query its number, from 1 on, so messages lead
    back to the arrays. The evaluation is like any other: assertions, comparisons and baselines
    accept it.

    Args:
        scores: ``[N]`` of the model under test, highest first; or ``[Q, D]``, a row for each query,
            as in scikit-learn.
        labels: the grades, in the same shape.
        groups: how many consecutive rows each query has, as in LightGBM and XGBoost; their sum is
            N. Needed unless the arrays have two dimensions.
        name: what messages and records call the run and the golden set.
        ties: the order of equal scores: ``"input"`` (that of the rows), ``"doc_id"`` or
            ``"error"``, as in ``Run.load``.
        scale: the highest grade that a document could get, as in ``GoldenSet.load``.
        conventions: as in `evaluate`; they take precedence over ``ties``.

    Raises:
        ConfigurationError: the shapes differ, the groups do not add up to the rows, or a score or a
            label is not a finite number; the message names the row. Or the labels cannot be grades.
    """
    indexes: list[Any] = [getattr(values, "index", None) for values in (scores, labels)]
    if all(hasattr(index, "equals") for index in indexes) and not indexes[0].equals(indexes[1]):
        raise ConfigurationError(
            "scores and labels have different indexes, so their rows may not belong together; "
            "align them, or give scores.to_numpy() and labels.to_numpy() if their order is the same"
        )
    ranked, grades = _numbers(scores, "scores"), _numbers(labels, "labels")
    if ranked.shape != grades.shape:
        raise ConfigurationError(
            f"scores have the shape {ranked.shape}, labels {grades.shape}; give one label for each "
            "score"
        )
    _refuse_exchanged(ranked, grades)
    starts = _starts(ranked, groups)
    documents = NumberIds(np.arange(ranked.size))
    ids = tuple(map(str, range(1, len(starts))))
    ties = Conventions.of(conventions).ties if conventions else ties
    judgments = Judgments(ids, starts, documents, grades.ravel() + 0.0)
    builder = ContentsBuilder(Source.of(scale=scale))
    builder.collected.take(judgments)
    rules = RankingRules(ties)
    blocks = []
    for first, last in row_blocks(starts, _BLOCK_ROWS):
        start, end = starts[[first, last]].tolist()
        block = RankedColumns(
            ids[first:last],
            starts[first : last + 1] - start,
            documents.part(start, end),
            ranked.ravel()[start:end],
            rules,
        )
        if ties == "error":
            block.check()
        blocks.append(block)
    run = Run(blocks, name=name, ties=ties)
    return evaluate(run, GoldenSet(builder.built(), name), conventions=conventions)


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    """Return numbers as an array of float64.

    Raises:
        ConfigurationError: one is not a finite number, or the array has another shape.
    """
    if np.ma.is_masked(values):
        raise ConfigurationError(f"{name} have masked values; leave out their rows")
    given = np.asarray(values)
    if given.dtype.kind not in "biuf":
        raise ConfigurationError(
            f"{name} hold {given.dtype}, not numbers; give an array of numbers, such as what "
            "model.predict() returns"
        )
    array = given.astype(np.float64)
    if array.ndim not in (1, 2) or not array.size:
        raise ConfigurationError(
            f"{name} have the shape {array.shape}; give [N] with groups=, or [queries, documents]"
        )
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        row = ", ".join(map(str, wrong[0]))
        raise ConfigurationError(f"{name}[{row}] is {array[tuple(wrong[0])]}; give finite numbers")
    return array


def _refuse_exchanged(scores: FloatArray, labels: FloatArray) -> None:
    """Refuse labels that cannot be grades, as when scores and labels are exchanged."""
    fractions = labels[labels % 1 != 0]
    are_distinct = len(fractions) > 0 and 2 * len(np.unique(labels)) > labels.size
    if (fractions < 0).any() or (are_distinct and np.isin(scores, range(6)).all()):
        example = min(fractions.tolist())
        raise ConfigurationError(
            f"labels such as {example:g} cannot be grades; are scores and labels exchanged? Give "
            "what the model predicts first: evaluate_arrays(scores, labels, groups)"
        )


def _starts(ranked: FloatArray, groups: ArrayLike | None) -> IntArray:
    """Return where the rows of each query begin, and where the last ones end.

    Raises:
        ConfigurationError: the sizes of the groups do not add up to the rows.
    """
    if ranked.ndim == 2 and groups is None:
        rows: IntArray = np.arange(len(ranked) + 1) * ranked.shape[1]
        return rows
    if ranked.ndim == 2 or groups is None:
        raise ConfigurationError(
            "give groups=, how many consecutive rows each query has, as LightGBM takes them; or "
            "arrays of two dimensions, [queries, documents], and no groups="
        )
    sizes: Any = np.asarray(groups)
    if sizes.ndim == 1 and sizes.dtype.kind in "iu" and sizes.sum() == len(ranked):
        starts: IntArray = starts_of(sizes.astype(np.int64))
        if (np.diff(starts) >= 0).all():
            return starts
    raise ConfigurationError(
        f"groups={quoted(groups, 60)} is invalid; give how many consecutive rows each query has, "
        f"whole numbers from 0 on that add up to {plural(len(ranked), 'row')}; from the query of "
        "each row, in sorted order: np.unique(queries, return_counts=True)[1]"
    )
