"""The fixture that the tests of the plugin share."""

import pytest
from project import Project, undisturbed_by_this_session


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this session reaches pytest inside pytest."""
    undisturbed_by_this_session(monkeypatch)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project with a ranker that answers every query right."""
    return Project(pytester)
