"""The repositories of the pull requests."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project, undisturbed_by_this_session
from pull_request import Repositories

from pytest_rankcheck.metrics import metric_registry


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each main is kept once it is made."""
    return tmp_path_factory.mktemp("mains")


@pytest.fixture
def repositories(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, templates: Path
) -> Repositories:
    """Repositories to open a pull request in."""
    undisturbed_by_this_session(monkeypatch)
    # A project of its own may register metrics, in this process.
    monkeypatch.setattr(metric_registry, "_DEFINITIONS", dict(metric_registry.definitions()))
    monkeypatch.setattr(metric_registry, "_NAMES", dict(metric_registry._NAMES))
    return Repositories(Project(pytester), templates)
