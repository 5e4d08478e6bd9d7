"""The types of numpy arrays that signatures name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoolArray", "FloatArray", "IntArray", "PlaceArray"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
PlaceArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
