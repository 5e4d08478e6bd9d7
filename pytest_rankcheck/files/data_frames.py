"""Making pandas DataFrames of ids and texts that may hold any character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["frame_of_columns"]


def frame_of_columns(columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> pd.DataFrame:
    """Return a DataFrame of columns of equal length.

    The texts of pandas 3 cannot hold lone surrogates, which JSON can. A column with one has Python
    objects instead.
    """
    import pandas as pd

    try:
        return pd.DataFrame(columns)
    except UnicodeEncodeError:
        series = [_series(values) for values in columns.values()]
        frame = pd.DataFrame(dict(enumerate(series)))
        frame.columns = pd.Index(list(columns), dtype=object)
        return frame


def _series(values: Sequence[Any] | NDArray[Any]) -> pd.Series[Any]:
    import pandas as pd

    try:
        return pd.Series(values)
    except UnicodeEncodeError:
        return pd.Series(values, dtype=object)
