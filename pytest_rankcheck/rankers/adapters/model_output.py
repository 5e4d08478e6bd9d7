"""Checking the numbers that models return as lists, numpy arrays or tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import RankerError, listed, quoted


def one_each(
    answer: object, count: int, what: str, labels: Sequence[object] | None = None
) -> FloatArray:
    """Return ``count`` numbers ``[count]``; a column ``[count, 1]`` is also accepted.

    Args:
        answer: numbers in order; or a pandas Series whose index has the labels, in any order.
        count: how many there must be.
        what: what returned them, for messages.
        labels: the labels of an index, in order; by default 0, 1, 2, ....
    """
    numbers = _array(_in_order(answer, count, what, labels), what)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.shape != (count,):
        raise RankerError(
            f"{what} returned numbers of the shape {_shape(numbers)}, not one for each of {count:,}"
        )
    return numbers


def matrix_of(answer: object, count: int, what: str) -> FloatArray:
    """Return one row of numbers for each of ``count`` items, ``[count, d]``."""
    numbers = _array(_in_order(answer, count, what), what)
    if numbers.ndim != 2 or len(numbers) != count:
        raise RankerError(
            f"{what} returned numbers of the shape {_shape(numbers)}, not one row for each of "
            f"{count:,}"
        )
    is_finite = np.isfinite(numbers).all(axis=1)
    if not is_finite.all():
        row = int(np.argmin(is_finite)) + 1
        raise RankerError(f"{what} returned a number that is not finite, in row {row}")
    return numbers


def _in_order(answer: Any, count: int, what: str, labels: Sequence[object] | None = None) -> object:
    """Return a pandas object in the order of its labels; anything else unchanged."""
    if not (hasattr(answer, "iloc") and hasattr(answer, "index")) or len(answer) != count:
        return answer
    given, places = answer.index.tolist(), list(range(count))
    if given == places:
        return answer
    expected = places if labels is None else list(labels)
    if answer.index.is_unique and set(given) == set(expected):
        return answer.loc[expected]
    raise RankerError(
        f"{what} returned a pandas {type(answer).__name__} with the index {listed(given, 3)}, not "
        f"{listed(expected, 3)}; return its .to_numpy() if its rows are in the order of the input"
    )


def _array(answer: Any, what: str) -> FloatArray:
    for step in ("detach", "cpu"):  # a tensor with gradients, or on a device
        answer = getattr(answer, step)() if hasattr(answer, step) else answer
    try:
        values = list(answer) if hasattr(answer, "__next__") else answer
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise RankerError(
            f"{what} returned {type(answer).__name__}, not numbers: {quoted(answer)}"
        ) from None


def _shape(numbers: FloatArray) -> str:
    return " x ".join(map(str, numbers.shape)) or "a single number"
