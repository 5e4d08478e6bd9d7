"""The log of the search, in the form of User Behavior Insights, and its replay."""

import os
from pathlib import Path

import pytest

from pytest_rankcheck import SessionLog

LOGS = Path(os.environ.get("LOGS", Path(__file__).parent.parent / "logs"))


@pytest.fixture(scope="session")
def session_log():
    log = SessionLog.from_ubi(
        LOGS / "queries.jsonl",
        LOGS / "events.jsonl",
        select=("click",),
        grades={"insert": 2},
        name="week",
    )
    return log.clustered("client_id")


@pytest.fixture(scope="session")
def golden_set(session_log):
    return session_log.to_golden_set("all", propensity="power(1)")
