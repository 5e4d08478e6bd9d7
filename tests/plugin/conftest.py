"""The fixture that the tests of the plugin share."""

from __future__ import annotations

import pytest
from project import Project, undisturbed_by_this_session


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a ranker that answers every query right."""
    undisturbed_by_this_session(monkeypatch)
    return Project(pytester)
