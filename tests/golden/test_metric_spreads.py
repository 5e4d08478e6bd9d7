"""How much metrics change between two versions: the table is what the benchmark measures."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_rankcheck.golden.lint.metric_spreads import MEASURED
from tests import reference

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))


@pytest.mark.slow
def test_the_table_has_the_measured_values() -> None:
    reference.data("cranfield")
    pytest.importorskip("lightgbm")
    import metric_spreads

    measured = metric_spreads.measured()
    assert measured.keys() == MEASURED.keys()
    for name, values in measured.items():
        # Another version of LightGBM trains another model.
        assert values == pytest.approx(MEASURED[name], abs=0.02), name
