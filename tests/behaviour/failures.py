"""The texts of failed assertions."""

from collections.abc import Callable

import pytest


def failure_of(check: Callable[[], None]) -> str:
    """Return the text of the assertion that fails in ``check``."""
    with pytest.raises(AssertionError) as failure:
        check()
    return str(failure.value)
