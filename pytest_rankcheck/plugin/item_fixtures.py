"""The fixtures that a test gets, and whether they come from this plugin or from its project.

pytest imports this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_rankcheck.plugin import fixtures

__all__ = ["fixtures_of", "has_param", "is_our_fixture", "users_of_our_fixtures"]


def fixtures_of(item: pytest.Item) -> dict[str, Sequence[pytest.FixtureDef[Any]]]:
    """Return the fixtures that a test sees, by name; the last of each is the one it gets."""
    info = getattr(item, "_fixtureinfo", None)
    return info.name2fixturedefs if info else {}


def users_of_our_fixtures(items: Sequence[pytest.Item]) -> Mapping[str, Sequence[pytest.Item]]:
    """Return the tests that get a fixture from this plugin, not from their project, by its name."""
    users: dict[str, list[pytest.Item]] = {}
    for item in items:
        definitions = fixtures_of(item)
        for name in fixtures.NAMES:
            if definitions.get(name) and is_our_fixture(definitions[name][-1]):
                users.setdefault(name, []).append(item)
    return users


def is_our_fixture(definition: pytest.FixtureDef[Any]) -> bool:
    """Return whether a fixture is this plugin's own."""
    return bool(definition.func.__module__ == fixtures.__name__)


def has_param(item: pytest.Item, name: str) -> bool:
    """Return whether a test is parametrised with this fixture."""
    callspec = getattr(item, "callspec", None)
    return callspec is not None and name in callspec.params
