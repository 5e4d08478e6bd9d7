"""The numbers that models answer: lists, numpy arrays, tensors; checked, one for each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_rankcheck.errors import RankerError, quoted
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["matrix_of", "one_each"]


def one_each(answer: object, count: int, what: str) -> FloatArray:
    """Return ``count`` numbers ``[count]``; a column of them will do.

    Raises:
        RankerError: there are more or fewer, or they are no numbers.
    """
    numbers = _array(answer, what)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.shape != (count,):
        raise RankerError(
            f"{what} answered numbers of the shape {_shape(numbers)}, not one for each of {count:,}"
        )
    return numbers


def matrix_of(answer: object, count: int, what: str) -> FloatArray:
    """Return one row of numbers for each of ``count`` things, ``[count, d]``.

    Raises:
        RankerError: the shape is another, or a number is not finite.
    """
    numbers = _array(answer, what)
    if numbers.ndim != 2 or len(numbers) != count:
        raise RankerError(
            f"{what} answered numbers of the shape {_shape(numbers)}, not one row for each of "
            f"{count:,}"
        )
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])
        raise RankerError(f"{what} answered a number that is not finite, in row {row}")
    return numbers


def _array(answer: Any, what: str) -> FloatArray:
    for step in ("detach", "cpu"):  # a tensor on a device, or of a training
        answer = getattr(answer, step)() if hasattr(answer, step) else answer
    try:
        given = list(answer) if hasattr(answer, "__next__") else answer
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise RankerError(
            f"{what} answered {type(answer).__name__}, not numbers: {quoted(answer)}"
        ) from None


def _shape(numbers: FloatArray) -> str:
    return " x ".join(map(str, numbers.shape)) or "a single number"
