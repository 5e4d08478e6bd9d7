"""The repositories of the pull requests."""

from pathlib import Path

import pytest
from project import Project, undisturbed_by_this_session
from pull_request import Repositories


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each main is kept once it is made."""
    return tmp_path_factory.mktemp("mains")


@pytest.fixture
def repositories(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, templates: Path, own_metrics: None
) -> Repositories:
    """Repositories to open a pull request in."""
    undisturbed_by_this_session(monkeypatch)
    for name in ("GIT_DIR", "GIT_WORK_TREE"):  # which a conftest may set
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return Repositories(Project(pytester), templates)
