"""The benchmark runs from end to end, on a hundredth of its data. No time is asserted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "compare.py"


@pytest.mark.oracle
def test_the_benchmark_makes_its_table() -> None:
    command = [sys.executable, str(SCRIPT), "--quick", "--peers", "pytrec_eval"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(lines) == 1 + 2 + 4 + 1 + 4
    assert "Imports: rankcheck" in done.stdout
    assert "the five metrics alone" in done.stdout.lower()


def test_the_calibration_makes_its_tables() -> None:
    """With five draws per cell; the rates themselves are tested with the gates."""
    script = SCRIPT.with_name("calibration.py")
    done = subprocess.run(
        [sys.executable, str(script), "--draws", "5"], capture_output=True, text=True, check=True
    )
    assert "| **significant**, symmetric, 30% changed |" in done.stdout
    assert "| significant blocks the smallest detectable fall |" in done.stdout
    assert "5 draws per cell" in done.stdout


def test_the_benchmark_of_verdicts_makes_its_table() -> None:
    script = SCRIPT.with_name("verdicts.py")
    command = [sys.executable, str(script), "--queries", "640", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| 210 verdicts | time | of the evaluation's" in done.stdout
    assert done.stdout.count("| `") == 4
