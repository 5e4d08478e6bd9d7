"""The version of this package, to mark data that other machines or later sessions read."""

from __future__ import annotations

import sys


def package_version() -> str:
    """Return the version, such as ``"1.2.0"``."""
    version: str = sys.modules["pytest_rankcheck"].__version__  # the parent is loaded
    return version
