"""The benchmark runs from end to end, on a hundredth of its data. No time is asserted."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
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


def test_the_benchmark_of_the_slide_makes_its_tables() -> None:
    script = SCRIPT.with_name("slide.py")
    command = [sys.executable, str(script), "--histories", "60", "--processes", "kept"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = re.findall(r"^\| (.+?) \| ([\d.]*) \| (.*) \|$", done.stdout, flags=re.MULTILINE)
    assert len(rows) == 8
    cells = {name: (loss, cells.split(" | ")) for name, loss, cells in rows}
    assert cells["every change is merged"][0] == "0.150"
    assert all("(0.0%)" in cell for cell in cells["`tolerance(abs=0.01)`"][1][:4])
    losses = [float(cell.split()[0]) for cell in cells["`significant()`"][1]]
    assert losses == sorted(losses, reverse=True), "a higher alpha lets less pass"
    assert losses[-1] < 0.06 < float(cells["`significant()`"][0])


@pytest.mark.parametrize("process", ["kept", "renewed"])
def test_histories_played_side_by_side_are_those_of_pull_requests(
    process: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    slide, pull_requests = map(importlib.import_module, ("slide", "pull_requests"))
    for gate in slide.GATES.values():
        together = slide.played(gate, slide.PROCESSES[process], 3, seed=7)
        rules = {"raise_rule": pull_requests.never} if gate is slide.MERGES_ALL else {}
        for place, history in enumerate(slide.PROCESSES[process].histories(3, 7)):
            steps: list[int] = []
            alone = pull_requests.play(
                history, gate, guard=lambda _, k, steps=steps: bool(steps.append(k)), **rules
            )
            assert np.array_equal(together.merged[place], alone.merged)
            assert together.steps[place][alone.merged].tolist() == steps
