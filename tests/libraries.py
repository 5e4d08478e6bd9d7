"""What tests need that may not be installed: where it is not, tests/conftest.py deselects them."""

from importlib.util import find_spec
from typing import Any

import pytest

HAS_POLARS = find_spec("polars") is not None
NEEDS_POLARS = pytest.mark.needs("polars", "pyarrow")

_FORMS_OF_POLARS = ("parquet", "polars", "arrow", "columns")


def forms(*names: str) -> list[Any]:
    """Return parameters, of which those that are named after a form of polars need polars."""
    return [
        pytest.param(name, marks=NEEDS_POLARS if _needs_polars(name) else (), id=name)
        for name in names
    ]


def _needs_polars(name: str) -> bool:
    return any(form in name for form in _FORMS_OF_POLARS)
