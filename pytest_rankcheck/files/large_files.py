"""Which text files polars reads: large ones, since importing it costs 0.1 s."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from pytest_rankcheck.files.packed_files import is_packed
from pytest_rankcheck.files.regular_files import size_of

__all__ = ["polars_should_read"]

LARGE_FILE = 4 << 20
"""In bytes."""
_PACKING = 4
"""How much smaller a packed file is, at least."""


def polars_should_read(path: Path) -> bool:
    """Whether a text file is large, and polars is installed.

    Raises:
        OSError: the file cannot be opened.
    """
    size = size_of(path) * (_PACKING if is_packed(path) else 1)
    return size >= LARGE_FILE and find_spec("polars") is not None
