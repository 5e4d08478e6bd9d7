"""Learning-to-rank models: anything that predicts scores from a table of features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, quoted
from pytest_rankcheck.files.checked_cells import checked_number
from pytest_rankcheck.files.delimited_tables import decimal_comma_hint
from pytest_rankcheck.files.plain_values import as_booleans, is_missing
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask, Reorder
from pytest_rankcheck.rankers.adapters.many_queries import BatchedAdapter, checked_size
from pytest_rankcheck.rankers.adapters.model_features import (
    FeatureSource,
    features_of_model,
    is_feature,
)
from pytest_rankcheck.rankers.adapters.model_output import one_each

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["model"]

_IDS = ("query_id", "doc_id")


@checked_arguments
def model(
    estimator: Any, features: Iterable[str | int] | None = None, *, size: int = 1000
) -> Adapter:
    """Return a ranker that sorts the golden set's candidates by a model's predictions.

    Args:
        estimator: has a method ``predict`` that takes one row per candidate and returns one number
            per row, such as LightGBM's ``LGBMRanker`` and ``Booster``, XGBoost's ``XGBRanker``,
            CatBoost and scikit-learn.
        features: the columns of the candidates, or attributes of the queries, that are the
            features, in the model's order. By default, a model that was trained with names gets a
            DataFrame with exactly these. Any other model gets a matrix: of numbered features
            (LETOR), all numbers up to the highest one of the file, with 0 for those that do not
            occur, or an error if a wider model may count them from 0 or from 1; of a table, all
            columns of the candidates.
        size: how many queries' candidates are predicted at once.

    Raises:
        RankerError: ``estimator`` has no ``predict``, or ``features`` is text, not a list.
    """
    if not callable(getattr(estimator, "predict", None)):
        raise RankerError(f"model: {type(estimator).__name__} has no predict")
    names = None if features is None else [str(name) for name in features]
    return _Model(estimator, names, checked_size(size))


@dataclass(repr=False, eq=False)
class _Model(BatchedAdapter):
    estimator: Any
    features: Sequence[str] | None
    size: int | None
    order: Reorder | None = None
    needs_text = False

    def __post_init__(self) -> None:
        self.name = type(self.estimator).__qualname__

    def sees(self, attribute: str) -> bool:
        """Whether the attribute is one of the model's features."""
        return is_feature(attribute, self.estimator, self.features)

    def with_candidates(self, order: Reorder) -> Adapter:
        """Return the same ranker with its candidates reordered."""
        return replace(self, order=order)

    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
        __tracebackhide__ = True
        rows = task.golden.candidates_frame([query.id for query in queries])
        answers: dict[str, dict[str, float]] = {query.id: {} for query in queries}
        if self.order:
            groups = rows.groupby("query_id", sort=False).indices.values()
            order = [group[place] for group in groups for place in self.order(range(len(group)))]
            rows = rows.iloc[order].reset_index(drop=True)
        if len(rows):
            table = self._table(rows, queries, task)
            scores = one_each(self.estimator.predict(table), len(rows), f"{self.name}.predict")
            for query_id, doc_id, score in zip(
                rows["query_id"], rows["doc_id"], scores.tolist(), strict=True
            ):
                answers[query_id][doc_id] = score
        return list(answers.values())

    def _table(self, rows: pd.DataFrame, queries: Sequence[Query], task: RankingTask) -> Any:
        """Return the features of the rows, in the form that the model expects."""
        import pandas as pd

        columns = [str(name) for name in rows.columns if name not in _IDS]
        if not columns:
            raise RankerError(
                "the golden set has no candidates with features; load one that has them (CSV, "
                "Parquet, LETOR)"
            )
        attributes = set(task.golden.attributes).difference(columns)
        source = FeatureSource(
            columns,
            attributes,
            is_sparse=task.golden.has_numbered_features,
            first=task.golden.first_feature,
        )
        features, is_named = features_of_model(self.estimator, self.features, source)
        of_queries = {query.id: query.attributes for query in queries}
        table: dict[str, Any] = {}
        for name, column in features.items():
            if column in columns:
                table[name] = rows[column]
            elif column in attributes:
                table[name] = [of_queries[query_id].get(column) for query_id in rows["query_id"]]
            else:
                table[name] = np.zeros(len(rows))  # sparse files omit zeros
        frame = pd.DataFrame(
            {name: _numeric(pd.Series(cells, name=name)) for name, cells in table.items()}
        )
        return _with_categories(frame, self.estimator) if is_named else frame.to_numpy()


def _with_categories(frame: pd.DataFrame, estimator: Any) -> pd.DataFrame:
    """Return columns of text with the categories that a LightGBM model was trained with."""
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    categories = getattr(getattr(estimator, "booster_", estimator), "pandas_categorical", None)
    texts = [name for name in frame.columns if not is_numeric_dtype(frame[name])]
    if not categories or len(categories) != len(texts):
        return frame
    of_texts = zip(texts, categories, strict=True)
    return frame.assign(
        **{name: pd.Categorical(frame[name], categories=values) for name, values in of_texts}
    )


def _numeric(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return booleans as 1 and 0, also those that a CSV file holds as text; others unchanged."""
    import pandas as pd
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(column) and not is_bool_dtype(column):
        return column
    booleans = as_booleans([None if is_missing(cell) else cell for cell in column])
    if booleans is not None:
        return pd.Series(booleans, column.index, dtype=float)
    texts = [cell for cell in column.dropna() if checked_number(cell) is None]
    hints = [decimal_comma_hint(cell) for cell in texts]
    if texts and all(hints):
        raise RankerError(
            f"the feature '{quoted(column.name)}' is '{quoted(texts[0], 40)}'{hints[0]}"
        )
    return column
