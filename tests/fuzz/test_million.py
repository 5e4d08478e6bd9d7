"""The session of nox that fuzzes has as many inputs as it says."""

from __future__ import annotations

import pytest
from hypothesis import settings
from samples import SAMPLES
from test_mutated_objects import INPUTS
from test_mutated_texts import GRAMMARS

from pytest_rankcheck.plugin.option_rows import option_rows
from pytest_rankcheck.plugin.option_table import Config

pytest.importorskip("polars", reason="polars is not installed")


def test_the_session_has_a_million_inputs() -> None:
    per_case = settings.get_profile("fuzz").max_examples
    whole = len(SAMPLES) + len(GRAMMARS)
    inputs = whole * per_case + len(option_rows(Config)) * (per_case // 2)
    assert inputs + len(INPUTS) * (per_case // 5) >= 1_000_000


def test_the_suite_has_some_thousands_of_inputs() -> None:
    assert (len(SAMPLES) + len(GRAMMARS)) * settings.get_profile("everyday").max_examples >= 5_000
