"""The golden set of the replay: what people selected, weighted by how likely they looked at it."""

import pytest


@pytest.fixture(scope="session")
def golden_set(session_log):
    return session_log.to_golden_set("all", propensity="power(1)")
