"""Checking the numbers that models return as lists, numpy arrays or tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_rankcheck.errors import RankerError, quoted
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["matrix_of", "one_each"]


def one_each(answer: object, count: int, what: str) -> FloatArray:
    """Return ``count`` numbers ``[count]``; a column ``[count, 1]`` is also accepted.

    Raises:
        RankerError: there are more or fewer, or they are not numbers.
    """
    numbers = _array(answer, what)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.shape != (count,):
        raise RankerError(
            f"{what} returned numbers of the shape {_shape(numbers)}, not one for each of {count:,}"
        )
    return numbers


def matrix_of(answer: object, count: int, what: str) -> FloatArray:
    """Return one row of numbers for each of ``count`` items, ``[count, d]``.

    Raises:
        RankerError: the shape is wrong, or a number is not finite.
    """
    numbers = _array(answer, what)
    if numbers.ndim != 2 or len(numbers) != count:
        raise RankerError(
            f"{what} returned numbers of the shape {_shape(numbers)}, not one row for each of "
            f"{count:,}"
        )
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0]) + 1
        raise RankerError(f"{what} returned a number that is not finite, in row {row}")
    return numbers


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
