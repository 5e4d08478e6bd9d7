"""The fixture that the tests of the plugin share."""

from __future__ import annotations

import sys

import pytest
from project import Project


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a ranker that answers every query right."""
    # These tests may themselves run in a worker; pytest inside pytest does not.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    # A module that a test rewrites within a second keeps its time and maybe its size: Python would
    # take the cached bytecode for current.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return Project(pytester)
