"""Two test sessions that write the same records at once lose nothing."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Mapping
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from promises import mean_of
from random_history import PlainStore

from pytest_rankcheck import Gate, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.update_actions import Mode
from pytest_rankcheck.files.whole_files import temporary_files

QUERIES = [f"q{number}" for number in range(10)]
APPROVED, BETTER, LOWER = {"q0": 2}, {}, {"q0": 2, "q1": 2, "q2": 2}
"""The queries whose document is not first: in the record, and in the two sessions."""


def baseline_of(path: Path, mode: Mode, ranks: Mapping[str, int]) -> Baseline:
    """Return a baseline that a passing test has compared with what it measured."""
    golden = GoldenSet.from_dict({query: {"relevant": 1} for query in QUERIES}, name="web")
    rankings = {query: ["x", "y"] for query in QUERIES}
    for query, ranking in rankings.items():
        ranking.insert(ranks.get(query, 1) - 1, "relevant")
    baseline = Baseline(lambda name: PlainStore(path), "test_x.py::test_x", mode)
    gates = {Metric.parse("RR"): Gate.tolerance(abs=0.01)}
    assert all(
        block is None
        for _, block in baseline.check_all(evaluate(Run.from_dict(rankings), golden), gates)
    )
    baseline.decide()
    return baseline


def play_session(
    paths: list[Path], mode: Mode, ranks: Mapping[str, int], everyone_has_read: Barrier
) -> None:
    """Read all records, wait for the other session to have read them, and write all of them."""
    baselines = [baseline_of(path, mode, ranks) for path in paths]
    everyone_has_read.wait(timeout=120)
    for baseline in baselines:
        baseline.write_or_keep()


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_record_and_no_approval_is_lost(tmp_path: Path, count: int) -> None:
    paths = [tmp_path / f"test_x{number}--web.json" for number in range(count)]
    baseline_of(paths[0], Mode(update=True), APPROVED).write_or_keep()
    for path in paths[1:]:
        path.write_bytes(paths[0].read_bytes())
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    sessions = [
        context.Process(target=play_session, args=(paths, Mode(update=True), BETTER, barrier)),
        context.Process(
            target=play_session,
            args=(paths[::-1], Mode(update=True, approval="another index"), LOWER, barrier),
        ),
    ]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()
    assert [session.exitcode for session in sessions] == [0, 0]
    for path in paths:
        Record.load(path)
        record = json.loads(path.read_text("utf-8"))
        assert [approval["reason"] for approval in record["approvals"]] == ["another index"]
        assert record["metrics"]["RR"]["best"] == 1.0
        mean = mean_of(record, "RR")
        assert mean == 1.0 or (mean, record["approvals"][0]["fall"]["RR"]["from"]) == (0.85, 1.0)
    assert not list(temporary_files(tmp_path))
