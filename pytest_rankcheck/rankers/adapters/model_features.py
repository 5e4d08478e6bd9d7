"""Which columns a learning-to-rank model gets, in which order, and under which names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from pytest_rankcheck.errors import RankerError, listed, plural, quoted, suggestion
from pytest_rankcheck.golden.reranking_candidates import is_feature_number

__all__ = ["FeatureSource", "features_of_model", "is_feature"]

_NAMES = {
    "feature_name_": "Column_{}",
    "feature_name": "Column_{}",
    "feature_names_": "{}",
    "feature_names": "f{}",
    "feature_names_in_": None,
}
"""Where LightGBM, CatBoost, XGBoost and scikit-learn keep the names of the features, and the names,
counted from 0, that they make up for the columns of a matrix. Scikit-learn makes up no names."""

_COUNTS = ("n_features_in_", "num_feature", "num_features")
"""Where scikit-learn, LightGBM and XGBoost keep the number of features."""

_LISTS = (Sequence, np.ndarray)

_WIDEST = 1 << 16
"""The highest feature number for which a model of unknown width gets a matrix."""


@dataclass(frozen=True)
class FeatureSource:
    """The columns that a golden set offers to a model."""

    columns: Sequence[str]
    """The columns of the candidates."""
    attributes: Collection[str]
    """The attributes of the queries."""
    is_sparse: bool
    """Whether features have numbers, and those that the file leaves out are 0 (LETOR)."""
    first: int | None
    """Whether numbered features are counted from 0 or from 1; None if that is unknown."""

    def column(self, name: str) -> str | None:
        """Return the column or attribute for a feature name; None if it is missing.

        LightGBM writes the spaces in names as underscores. A number that a sparse file leaves out
        is its own column, of zeros.
        """
        offered = [*self.columns, *self.attributes]
        if name in offered or (self.is_sparse and is_feature_number(name)):
            return name
        return next((column for column in offered if column.replace(" ", "_") == name), None)

    def require(self, names: Sequence[str], hint: str) -> list[str]:
        """Return the columns for feature names."""
        columns = {name: self.column(name) for name in names}
        missing = [name for name, column in columns.items() if column is None]
        if missing:
            near = suggestion(missing[0], [*self.columns, *self.attributes])
            raise RankerError(
                f"the candidates have no column {listed(missing, 10)}{near}; {self.offer()}{hint}"
            )
        return [column for column in columns.values() if column is not None]

    def offer(self) -> str:
        """Return a clause about the existing columns and attributes."""
        attributes = sorted(self.attributes)
        also = f", and the attributes {listed(attributes, 10)}" if attributes else ""
        return f"they have {listed(self.columns, 10) or 'no columns'}{also}"


def features_of_model(
    estimator: Any, features: Sequence[str] | None, source: FeatureSource
) -> tuple[Mapping[str, str], bool]:
    """Return the column for each feature of a model, in its order, and whether it knows the names.

    Args:
        estimator: the model.
        features: the columns that the user chose, in the model's order; None if not chosen.
        source: the columns of the golden set.

    Raises:
        RankerError: a feature is missing, their number is not the model's, or their order is
            unclear.
    """
    (names, is_made_up), count = _names_of(estimator), _count_of(estimator)
    overlap = set(names).intersection(source.columns)
    is_complete = len(overlap) == len(names)
    if is_made_up and not is_complete and (source.is_sparse or not overlap):
        names, count = [], len(names)
    if names:
        return _named(names, features, source), True
    if features is None:
        features = _numbered(count, source) if source.is_sparse else _in_order(source.columns)
    columns = source.require(features, "")
    if count is not None and len(columns) != count:
        raise RankerError(
            f"the model was trained with {plural(count, 'feature')}, but gets {len(columns):,}: "
            f"{listed(columns, 10)}; name its features in their order, features=[...]; the "
            f"candidates: {source.offer()}"
        )
    return dict(zip(columns, columns, strict=True)), False


def is_feature(name: str, estimator: Any, features: Sequence[str] | None) -> bool:
    """Whether a model uses a column or attribute with this name."""
    used = {*(features or ()), *_names_of(estimator)[0]}
    return name in used or name.replace(" ", "_") in used


def _named(
    names: Sequence[str], features: Sequence[str] | None, source: FeatureSource
) -> Mapping[str, str]:
    """Return the column for each name that a model was trained with, in its order."""
    if features is None and "0" in names and all(map(is_feature_number, names)):
        _check_first(len(names), source)
    if features is None or set(features) == set(names):
        hint = (
            f". The model was trained with {listed(names, 10)}; if the columns have other names, "
            "list them in this order, features=[...]"
        )
        return dict(zip(names, source.require(names, hint), strict=True))
    if len(features) != len(names) or set(features) & set(names):
        raise RankerError(
            f"features={listed(features, 10)} does not match the names that the model was trained "
            f"with: {listed(names, 10)}; leave features= out, or list one column for each name"
        )
    return dict(zip(names, source.require(features, ""), strict=True))


def _in_order(columns: Sequence[str]) -> Sequence[str]:
    """Return the columns of a table, which are a matrix in this order."""
    if all(map(is_feature_number, columns)) and list(columns) != sorted(columns, key=int):
        raise RankerError(
            f"the features {listed(columns, 10)} are numbers, but not in their order; give the "
            "order in which the model was trained, features=[...]"
        )
    return columns


def _check_first(count: int | None, source: FeatureSource) -> None:
    """Check that it is clear which feature of a file is the first one of a model.

    LightGBM, XGBoost and scikit-learn with ``zero_based=True`` put feature 1 into the second
    column. A file in which feature 0 never occurs looks like one that counts from 1.
    """
    highest = max((int(name) for name in source.columns if is_feature_number(name)), default=0)
    if source.is_sparse and source.first is None and count is not None and count > highest:
        raise RankerError(
            f"the model was trained with {plural(count, 'feature')}, and the highest feature of "
            f"the candidates is {highest}, so the number of the model's first feature is unclear. "
            "If it is 0 (LightGBM, XGBoost and scikit-learn count so when they read a LETOR file), "
            f"give features=range({count}); if it is 1, give features=range(1, {count + 1})"
        )


def _numbered(count: int | None, source: FeatureSource) -> list[str]:
    """Return all feature numbers, from the first to the highest of the file or the model."""
    unnumbered = [name for name in source.columns if not is_feature_number(name)]
    if unnumbered:
        raise RankerError(
            f"the feature '{quoted(unnumbered[0])}' has no number, so the order of the features "
            "is unclear; name them in the model's order, features=[...]"
        )
    _check_first(count, source)
    highest = max(map(int, source.columns))
    first = 1 if source.first is None else source.first
    width = highest + 1 - first
    if count is None and width > _WIDEST:
        raise RankerError(
            f"the highest feature is {highest}, so the matrix would have {width:,} columns; name "
            "the features that the model was trained with, features=[...]"
        )
    if count is not None and width > count:
        raise RankerError(
            f"the model was trained with {plural(count, 'feature')}, but the candidates have the "
            f"features {first} to {highest}; name its features in their order, features=[...]"
        )
    return [str(number) for number in range(first, first + (count or width))]


def _names_of(estimator: Any) -> tuple[list[str], bool]:
    """Return the feature names of a model, and whether its library may have made them up.

    The names are empty if the model does not provide any.
    """
    for attribute, pattern in _NAMES.items():
        names = [str(name) for name in _first_value(estimator, [attribute], _LISTS, [])]
        if names:
            made_up = [pattern.format(place) for place in range(len(names))] if pattern else []
            return names, names == made_up
    return [], False


def _count_of(estimator: Any) -> int | None:
    """Return how many features a model was trained with; None if it does not say."""
    count = _first_value(estimator, _COUNTS, Integral, 0)
    return int(count) or None


def _first_value(
    estimator: Any, attributes: Sequence[str], kinds: type | tuple[type, ...], otherwise: Any
) -> Any:
    """Return the first of these attributes or methods with a value of the right type."""
    for attribute in attributes:
        value: Any = None
        with suppress(Exception):  # libraries raise different errors without the value
            value = getattr(estimator, attribute, None)
            value = value() if callable(value) else value
        is_empty = isinstance(value, Sized) and not len(value)
        if isinstance(value, kinds) and not is_empty:
            return value
    return otherwise
