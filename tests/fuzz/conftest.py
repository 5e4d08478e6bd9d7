"""Nothing that these tests write needs to survive a power failure."""

import os
import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Do not wait for the disk, and let readers warn of what they find."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
