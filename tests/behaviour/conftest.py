"""The assertions under test are not findings of this session: its summary leaves them out."""

import pytest

from pytest_rankcheck.reports.findings import Note


@pytest.fixture(autouse=True)
def entered(monkeypatch: pytest.MonkeyPatch) -> list[Note]:
    """Return the entries that the assertions of a test make in the ledger."""
    entries: list[Note] = []
    for module in ("entered_findings", "behaviour_assertions"):
        monkeypatch.setattr(f"pytest_rankcheck.assertions.{module}.enter", entries.append)
    return entries
