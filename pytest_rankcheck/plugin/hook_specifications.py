"""The hooks that other packages can implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_rankcheck.extension_registry import ExtensionRegistry


@pytest.hookspec
def pytest_rankcheck_register(registry: ExtensionRegistry) -> None:
    """Add formats, metrics, ranker adapters, gates and reports.

    It is called once in each test session, and once in each worker of pytest-xdist, before
    configuration is read. Implement it in a plugin or in the ``conftest.py`` of the root folder.

    Args:
        registry: takes what is added.
    """
