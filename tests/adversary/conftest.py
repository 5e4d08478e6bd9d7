"""The repositories of the pull requests, and the attempts that are not blocked yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from open_attempts import OPEN
from project import Project, undisturbed_by_this_session
from pull_request import Repositories


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
    return Repositories(Project(pytester), templates)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expect the open attempts to succeed; one that is blocked by now must leave the list."""
    for item in items:
        piece = OPEN.get(f"{item.path.stem}::{item.name}")
        if piece is not None and item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xfail(reason=f"needs {piece}", strict=True))
