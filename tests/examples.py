"""How many examples hypothesis tries, and runs of examples."""

from typing import Any

from hypothesis import reject, settings

from pytest_rankcheck import Run, RunError


def examples(count: int) -> settings:
    """Return the settings of a test that tries ``count`` examples in the profile of every day.

    ``pytest --hypothesis-profile=campaign`` multiplies it; see ``tests/conftest.py``.
    """
    return settings(max_examples=count * settings.default.max_examples // 100)


def run_of(rankings: Any, **reading: Any) -> Run:
    """Make a run, unless its lists or dicts look as if they were worst first, or ranks."""
    try:
        return Run.from_dict(rankings, **reading)
    except RunError as error:
        known = ("the scores rise down the list", "the scores of {id: score} are ranks")
        if not any(each in str(error) for each in known):
            raise
        reject()
