"""Learning-to-rank models: anything that predicts scores from a table of features."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import RankerError, listed, quoted, suggestion
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask, Reorder
from pytest_rankcheck.rankers.adapters.many_queries import BatchedAdapter, checked_size
from pytest_rankcheck.rankers.adapters.model_output import one_each

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["model"]

_IDS = ("query_id", "doc_id")


def model(estimator: Any, features: Sequence[str] | None = None, *, size: int = 1000) -> Adapter:
    """Return a ranker that sorts the golden set's candidates by a model's predictions.

    Args:
        estimator: has a method ``predict`` that takes one row per candidate and returns one number
            per row, such as LightGBM's ``LGBMRanker`` and ``Booster``, XGBoost's ``XGBRanker``,
            CatBoost and scikit-learn.
        features: the columns of the candidates, or attributes of the queries, that are the
            features, in order; by default the names that the model was trained with, if the
            candidates have them, otherwise all columns of the candidates. A model that knows
            feature names gets a DataFrame, any other one a matrix.
        size: how many queries' candidates are predicted at once.

    Raises:
        RankerError: ``estimator`` has no ``predict``.
    """
    if not callable(getattr(estimator, "predict", None)):
        raise RankerError(f"model: {type(estimator).__name__} has no predict")
    return _Model(estimator, features, checked_size(size))


class _Model(BatchedAdapter):
    needs_text = False

    def __init__(self, estimator: Any, features: Sequence[str] | None, size: int | None) -> None:
        self._estimator = estimator
        self._features = None if features is None else [str(name) for name in features]
        self._order: Reorder | None = None
        self.size = size
        self.name = type(estimator).__qualname__

    def with_candidates(self, order: Reorder) -> Adapter:
        """Return the same ranker with its candidates reordered."""
        other = copy(self)
        other._order = order
        return other

    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
        __tracebackhide__ = True
        rows = task.golden.candidates_frame([query.id for query in queries])
        answers: dict[str, dict[str, float]] = {query.id: {} for query in queries}
        if self._order:
            groups = rows.groupby("query_id", sort=False).indices.values()
            order = [group[place] for group in groups for place in self._order(range(len(group)))]
            rows = rows.iloc[order].reset_index(drop=True)
        if len(rows):
            table = self._table(rows, queries, task)
            scores = one_each(self._estimator.predict(table), len(rows), f"{self.name}.predict")
            for query_id, doc_id, score in zip(
                rows["query_id"], rows["doc_id"], scores.tolist(), strict=True
            ):
                answers[query_id][doc_id] = score
        return list(answers.values())

    def _table(self, rows: pd.DataFrame, queries: Sequence[Query], task: RankingTask) -> Any:
        """Return the features of the rows, in the form that the model expects."""
        import pandas as pd

        trained = _trained_with(self._estimator)
        names = self._features or self._usual(rows, trained)
        of_queries = {query.id: query.attributes for query in queries}
        attributes = set(task.golden.attributes).difference(rows.columns)
        columns: dict[str, Any] = {}
        for name in names:
            if name in rows.columns:
                columns[name] = rows[name]
            elif name in attributes:
                columns[name] = [of_queries[query_id].get(name) for query_id in rows["query_id"]]
            elif task.golden.absent_feature == 0:
                columns[name] = [0.0] * len(rows)  # sparse files omit zeros
            else:
                available = [column for column in rows.columns if column not in _IDS]
                available += attributes
                raise RankerError(
                    f"the candidates have no column '{quoted(name)}'{suggestion(name, available)}; "
                    f"they have {listed(available, 10) or 'none'}"
                )
        table = pd.DataFrame(columns)
        return table if trained and set(names) == set(trained) else table.to_numpy()

    def _usual(self, rows: pd.DataFrame, trained: Sequence[str]) -> list[str]:
        columns = [str(name) for name in rows.columns if name not in _IDS]
        if not columns:
            raise RankerError(
                "the golden set has no candidates with features; load one that has them (CSV, "
                "Parquet, LETOR)"
            )
        return list(trained) if set(trained) & set(columns) else columns


def _trained_with(estimator: Any) -> list[str]:
    """Return the feature names of a model; empty if it does not provide them."""
    for attribute in ("feature_names_in_", "feature_names_", "feature_names"):
        try:
            names = getattr(estimator, attribute, None)
        except Exception:
            names = None
        if names is not None and len(names):
            return [str(name) for name in names]
    return []
