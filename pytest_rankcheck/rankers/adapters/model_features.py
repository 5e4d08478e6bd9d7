"""Which columns a learning-to-rank model gets, in which order, and under which names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from pytest_rankcheck.errors import RankerError, listed, plural, quoted, suggestion

__all__ = ["FeatureSource", "features_of_model"]

_NAMES = ("feature_names_in_", "feature_names_", "feature_names", "feature_name", "feature_name_")
"""Where scikit-learn, CatBoost, XGBoost and LightGBM keep the names of the features."""

_COUNTS = ("n_features_in_", "num_feature", "num_features")
"""Where scikit-learn, LightGBM and XGBoost keep the number of features."""

_IMPORTANCES = ("feature_importances_", "feature_importance")

_DEFAULT_NAMES = ("Column_{}", "{}", "f{}", "x{}", "feature_{}")
"""The names, counted from 0, that libraries give to the columns of a matrix."""

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

    def column(self, name: str) -> str | None:
        """Return the column or attribute for a feature name; None if it is missing.

        LightGBM writes the spaces in names as underscores. A number that a sparse file leaves out
        is its own column, of zeros.
        """
        offered = [*self.columns, *self.attributes]
        if name in offered or (self.is_sparse and _is_number(name)):
            return name
        return next((column for column in offered if column.replace(" ", "_") == name), None)

    def require(self, names: Sequence[str], hint: str) -> list[str]:
        """Return the columns for feature names.

        Raises:
            RankerError: some are missing; the message lists them, with ``hint`` at its end.
        """
        columns = {name: self.column(name) for name in names}
        missing = [name for name, column in columns.items() if column is None]
        if missing:
            near = suggestion(missing[0], [*self.columns, *self.attributes])
            raise RankerError(
                f"the candidates have no column {listed(missing, 10)}{near}; {self.offer()}{hint}"
            )
        return [column for column in columns.values() if column is not None]

    def offer(self) -> str:
        """Return a clause about the columns and attributes that there are."""
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
    names, count = _names_of(estimator), _count_of(estimator)
    overlap = set(names).intersection(source.columns)
    is_complete = len(overlap) == len(names)
    if _are_default(names) and not is_complete and (source.is_sparse or not overlap):
        names, count = [], len(names)
    if names:
        return _named(names, features, source), True
    if features is None:
        features = _numbered(estimator, count, source) if source.is_sparse else source.columns
    columns = source.require(features, "")
    if count is not None and len(columns) != count:
        raise RankerError(
            f"the model was trained with {plural(count, 'feature')}, but gets {len(columns):,}: "
            f"{listed(columns, 10)}; name its features in their order, features=[...]; the "
            f"candidates: {source.offer()}"
        )
    return dict(zip(columns, columns, strict=True)), False


def _named(
    names: Sequence[str], features: Sequence[str] | None, source: FeatureSource
) -> Mapping[str, str]:
    """Return the column for each name that a model was trained with, in its order."""
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


def _numbered(estimator: Any, count: int | None, source: FeatureSource) -> list[str]:
    """Return all feature numbers, from the first to the highest of the file or the model."""
    unnumbered = [name for name in source.columns if not _is_number(name)]
    if unnumbered:
        raise RankerError(
            f"the feature '{quoted(unnumbered[0])}' has no number, so the order of the features "
            "is unclear; name them in the model's order, features=[...]"
        )
    highest = max(map(int, source.columns))
    first = 0 if "0" in source.columns else 1
    width = highest + 1 - first
    if count is not None and count > width and first == 1 and _ignores_first(estimator):
        raise RankerError(
            f"the model was trained with {plural(count, 'feature')} and never uses the first one; "
            f"the candidates have the features 1 to {highest}. If the model read a file like this "
            f"one (LightGBM, XGBoost), give features=range({count}); if its first column is "
            f"feature 1, give features=range(1, {count + 1})"
        )
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


def _names_of(estimator: Any) -> list[str]:
    """Return the feature names of a model; empty if it does not provide them."""
    return [str(name) for name in _first_value(estimator, _NAMES, (Sequence, np.ndarray), [])]


def _count_of(estimator: Any) -> int | None:
    """Return how many features a model was trained with; None if it does not say."""
    count = _first_value(estimator, _COUNTS, Integral, 0)
    return int(count) or None


def _ignores_first(estimator: Any) -> bool:
    """Whether a model says how important its features are, and does not use the first one."""
    importances = _first_value(estimator, _IMPORTANCES, (Sequence, np.ndarray), [1])
    return bool(importances[0] == 0)


def _first_value(
    estimator: Any, attributes: Sequence[str], kinds: type | tuple[type, ...], otherwise: Any
) -> Any:
    """Return the first of these attributes or methods with a value of the right type."""
    for attribute in attributes:
        value: Any = None
        with suppress(Exception):  # libraries raise whatever they like if they have no such value
            value = getattr(estimator, attribute, None)
            value = value() if callable(value) else value
        is_empty = isinstance(value, Sized) and not len(value)
        if isinstance(value, kinds) and not is_empty:
            return value
    return otherwise


def _are_default(names: Sequence[str]) -> bool:
    """Whether a library made up the names, because the model was trained on a matrix."""
    return any(
        all(name == pattern.format(place) for place, name in enumerate(names))
        for pattern in _DEFAULT_NAMES
    )


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdecimal()
