"""The types of numpy arrays that signatures name, and read-only arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
PlaceArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


def make_read_only(block: object) -> None:
    """Replace the arrays of a frozen dataclass by read-only views of them.

    Many metrics are computed from one block. If a metric's function wrote to its arrays, the
    values of the next metrics would be wrong. The arrays that the block was made from stay
    writable.
    """
    for name in block.__slots__:  # type: ignore[attr-defined]
        array = getattr(block, name)
        if isinstance(array, np.ndarray):
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(block, name, view)
