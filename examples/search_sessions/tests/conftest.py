"""The golden set of the replay: selections, weighted by how likely people look at their rank."""

import pytest


@pytest.fixture(scope="session")
def golden_set(session_log):
    return session_log.to_golden_set("all", propensity="power(1)")
