"""The version of this package, for what is sent to other machines and read again later."""

from __future__ import annotations

import sys

__all__ = ["package_version"]


def package_version() -> str:
    """Return the version, such as ``"1.2.0"``."""
    version: str = sys.modules["pytest_rankcheck"].__version__  # loaded: this module is in it
    return version
