"""Learning-to-rank models: anything that predicts scores from a table of features."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, listed, quoted, suggestion
from pytest_rankcheck.files.plain_values import as_booleans, is_missing
from pytest_rankcheck.golden.judged_queries import candidates_frame
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import is_feature_number
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask
from pytest_rankcheck.rankers.adapters.batch_ranker import BatchedAdapter, checked_size, one_each

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.golden.golden_set import GoldenSet


_IDS = ("query_id", "doc_id")
_FEW_MISSING = 0.005
"""Below this share of the candidates, missing values of a feature are not reported."""
_MOST = 0.9
"""A feature has a sign if at least this share of its nonzero values have that sign."""


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
            DataFrame with exactly these. Any other model gets a matrix of all columns of the
            candidates. Required if these are numbered (LETOR), such as ``range(1, 137)``; a number
            that does not occur is 0.
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
    needs_text = False

    def __post_init__(self) -> None:
        self.name = type(self.estimator).__qualname__

    def sees(self, attribute: str) -> bool:
        """Whether the attribute is one of the model's features."""
        return attribute in {*(self.features or ()), *_names_of(self.estimator)[0]}

    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
        rows = candidates_frame(task.golden, [query.id for query in queries])
        answers: dict[str, dict[str, float]] = {query.id: {} for query in queries}
        if len(rows):
            table = self._table(rows, task.golden)
            scores = one_each(self.estimator.predict(table), len(rows), f"{self.name}.predict")
            for query_id, doc_id, score in zip(
                rows["query_id"], rows["doc_id"], scores.tolist(), strict=True
            ):
                answers[query_id][doc_id] = score
        return [
            dict(sorted(answer.items(), key=itemgetter(1), reverse=True))
            for answer in answers.values()
        ]

    def _table(self, rows: pd.DataFrame, golden: GoldenSet) -> Any:
        """Return the features of the rows, in the form that the model expects."""
        import pandas as pd

        cells, is_named = self.cells(rows, golden)
        table = pd.DataFrame(
            {name: _numeric(pd.Series(column, name=name)) for name, column in cells.items()}
        )
        return _with_categories(table, self.estimator) if is_named else table.to_numpy()

    def cells(self, rows: pd.DataFrame, golden: GoldenSet) -> tuple[Mapping[str, Any], bool]:
        """Return the cells of each feature in some candidates, and whether the model knows names.

        Raises:
            RankerError: the candidates have no features, or not those of the model.
        """
        columns = [str(name) for name in rows.columns if name not in _IDS]
        if not columns:
            raise RankerError(
                "the golden set has no candidates with features; load one that has them (CSV, "
                "Parquet, LETOR)"
            )
        attributes = set(golden.attributes).difference(columns)
        source = FeatureSource(columns, attributes, golden.contents.candidates.is_sparse)
        features, is_named = features_of_model(self.estimator, self.features, source)
        table: dict[str, Any] = {}
        for name, column in features.items():
            if column in columns:
                table[name] = rows[column]
            elif column in attributes:
                table[name] = [
                    golden.query(each).attributes.get(column) for each in rows["query_id"]
                ]
            else:
                table[name] = np.zeros(len(rows))  # sparse files omit zeros
        return table, is_named


def model_features(ranker: object, golden: GoldenSet) -> Mapping[str, str]:
    """Return the state of each feature of a model in the candidates of a golden set.

    For example ``{"feature price": "varying (order of 100), 3% missing"}``.

    Raises:
        RankerError: the ranker is not one of ``model``, or a feature is not in the golden set.
    """
    import pandas as pd

    if not isinstance(ranker, _Model):
        raise RankerError(
            f"the features of ranker {quoted(ranker, 100)} are not known; remove "
            "model:features from rankcheck_world, or rank with rankers.model"
        )
    table, _ = ranker.cells(candidates_frame(golden, golden.query_ids), golden)
    return {f"feature {name}": _state(pd.Series(column)) for name, column in table.items()}


def _state(cells: pd.Series[Any]) -> str:
    """Return whether a feature varies over all candidates, and how often it is missing."""
    missing = float(cells.isna().mean())
    state = _size(cells) if cells.nunique() > 1 else "constant" if missing < 1 else "missing"
    return f"{state}, {missing:.0%} missing" if _FEW_MISSING <= missing < 1 else state


def _size(cells: pd.Series[Any]) -> str:
    """Return the word "varying", with the sign and the power of ten of a feature of numbers.

    These reveal a changed unit or sign. They are coarse, so that fresher values stay the same.
    """
    from pandas.api.types import is_numeric_dtype

    numbers = _numeric(cells)
    if not is_numeric_dtype(numbers):
        return "varying"
    values = numbers[numbers != 0].dropna().to_numpy(dtype=float)
    positive = (values > 0).mean()
    sign = "" if positive >= _MOST else "-" if positive <= 1 - _MOST else "±"
    return f"varying (order of {sign}{10 ** np.floor(np.log10(np.median(np.abs(values)))):g})"


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
    """Return booleans, even as text from a CSV file, as 1 and 0; other values unchanged."""
    import pandas as pd
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(column) and not is_bool_dtype(column):
        return column
    booleans = as_booleans([None if is_missing(cell) else cell for cell in column])
    return column if booleans is None else pd.Series(booleans, column.index, dtype=float)


_NAMES = {
    "feature_name_": "Column_{}",
    "feature_name": "Column_{}",
    "feature_names_": "{}",
    "feature_names": "f{}",
    "feature_names_in_": "",
}
"""Where LightGBM, CatBoost, XGBoost and scikit-learn keep the names of features, and the names,
counted from 0, that they invent for the columns of a matrix (scikit-learn invents none)."""


@dataclass(frozen=True)
class FeatureSource:
    """The columns that a golden set offers to a model."""

    columns: Sequence[str]
    """The columns of the candidates."""
    attributes: Collection[str]
    """The attributes of the queries."""
    is_sparse: bool
    """Whether features have numbers, and those that the file leaves out are 0 (LETOR)."""

    def require(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of features, all of which have a column.

        A number that a sparse file leaves out gives a column of zeros.
        """
        offered = [*self.columns, *self.attributes]
        missing = [
            name
            for name in names
            if name not in offered and not (self.is_sparse and is_feature_number(name))
        ]
        if missing:
            raise RankerError(
                f"the candidates have no column {listed(missing, 10)}"
                f"{suggestion(missing[0], offered)}; they have {listed(offered, 10)}. If the "
                "model's features have other names, list their columns in its order, features=[...]"
            )
        return names


def features_of_model(
    estimator: Any, features: Sequence[str] | None, source: FeatureSource
) -> tuple[Mapping[str, str], bool]:
    """Return the column for each feature of a model, in its order, and whether it knows the names.

    Args:
        estimator: the model.
        features: the columns that the user chose, in the model's order; None if not chosen.
        source: the columns of the golden set.

    Raises:
        RankerError: a feature is missing, features do not match the names that the model knows, or
            their order is unclear.
    """
    names, is_made_up = _names_of(estimator)
    if is_made_up and not set(names).issubset(source.columns):
        names = []
    if features is None and source.is_sparse and (not names or "0" in names):
        last = max((int(name) for name in source.columns if is_feature_number(name)), default=0)
        raise RankerError(
            f"the features of the candidates are numbered, up to {last}, and the model does not "
            "say with which number it begins; give them in its order, such as "
            f"features=range(1, {last + 1}), or features=range({last + 1}) if a library read a "
            "LETOR file for the training (LightGBM, XGBoost and scikit-learn count from 0)"
        )
    if not names:
        columns = source.require(features or source.columns)
        if (
            not features
            and all(map(str.isdecimal, columns))
            and [*columns] != sorted(columns, key=int)
        ):
            raise RankerError(
                f"the features {listed(columns, 10)} are numbers, but not in their order; give "
                "the order in which the model was trained, features=[...]"
            )
        return dict(zip(columns, columns, strict=True)), False
    if features is None or set(features) == set(names):
        features = names
    if len(features) != len(names):
        raise RankerError(
            f"features={listed(features, 10)} does not match the names that the model was trained "
            f"with: {listed(names, 10)}; leave features= out, or list one column for each name"
        )
    return dict(zip(names, source.require(features), strict=True)), True


def _names_of(estimator: Any) -> tuple[list[str], bool]:
    """Return the feature names of a model, and whether its library may have invented them.

    The names are empty if the model does not provide any.
    """
    for attribute, pattern in _NAMES.items():
        names: list[str] = []
        with suppress(Exception):  # libraries raise different errors without the value
            value = getattr(estimator, attribute)
            names = list(map(str, value() if callable(value) else value))
        if names:
            return names, names == list(map(pattern.format, range(len(names))))
    return [], False
