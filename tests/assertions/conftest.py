"""The assertions under test are not findings of this session: its summary leaves them out."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("bound_assertions", "regression_assertion"):
        monkeypatch.setattr(f"pytest_rankcheck.assertions.{module}.enter", lambda finding: None)
