"""How many examples hypothesis tries: a share of its profile's, so that a campaign tries more."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int) -> settings:
    """Return the settings of a test that tries ``count`` examples in the profile of every day.

    ``pytest --hypothesis-profile=campaign`` multiplies it; see ``tests/conftest.py``.
    """
    return settings(max_examples=count * settings.default.max_examples // 100)
