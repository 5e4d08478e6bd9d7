"""The assertions under test are not findings of this session: its summary leaves them out."""

import pytest

MODULES = ("bound_assertions", "entered_findings", "regression_assertion")


@pytest.fixture(autouse=True)
def entered(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the assertions of a test enter into the ledger."""
    findings: list[object] = []
    for module in MODULES:
        monkeypatch.setattr(f"pytest_rankcheck.assertions.{module}.enter", findings.append)
    return findings
