"""Two test sessions that write the same records at once lose nothing."""

import multiprocessing
import threading
from collections.abc import Mapping
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gated_test import PlainStore
from promises import mean_of
from record_entries import read_entry

from pytest_rankcheck import Gate, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.check import Mode
from pytest_rankcheck.files.whole_files import locked_folder, write_whole

QUERIES = [f"q{number}" for number in range(10)]
APPROVED, BETTER, LOWER = {"q0": 2}, {}, {"q0": 2, "q1": 2, "q2": 2}
"""The queries whose document is not first: in the record, and in the two sessions."""


class ReportingThread(threading.Thread):
    """A thread that says, as a process does, whether it ended well."""

    exitcode = 1

    def run(self) -> None:
        super().run()
        self.exitcode = 0


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
    baseline.unapproved_drops()
    return baseline


def play_session(
    paths: list[Path], mode: Mode, ranks: Mapping[str, int], everyone_has_read: Barrier
) -> None:
    """Read all records, wait for the other session to have read them, and write all of them."""
    baselines = [baseline_of(path, mode, ranks) for path in paths]
    everyone_has_read.wait(timeout=120)
    for baseline in baselines:
        baseline.write_or_keep()


PROCESSES = multiprocessing.get_context("spawn")
THREADS = SimpleNamespace(Barrier=threading.Barrier, Process=ReportingThread)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        pytest.param(THREADS, 20, id="threads-20"),
        pytest.param(PROCESSES, 200, id="processes-200", marks=pytest.mark.slow),
        pytest.param(PROCESSES, 1000, id="processes-1000", marks=pytest.mark.nightly),
    ],
)
def test_no_record_and_no_approval_is_lost(tmp_path: Path, kind: Any, count: int) -> None:
    paths = [tmp_path / f"test_x{number}--web.json" for number in range(count)]
    for path in paths:
        baseline_of(path, Mode(update=True), APPROVED).write_or_keep()
    barrier = kind.Barrier(2)
    sessions = [
        kind.Process(target=play_session, args=(order, mode, ranks, barrier))
        for order, mode, ranks in (
            (paths, Mode(update=True), BETTER),
            (paths[::-1], Mode(update=True, approval="another index"), LOWER),
        )
    ]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()
    assert [session.exitcode for session in sessions] == [0, 0]
    for path in paths:
        Record.load(path)
        record = read_entry(path)
        assert [approval["reason"] for approval in record["approvals"]] == ["another index"]
        mean = mean_of(record, "RR")
        allowed = record["approvals"][0]["keys"].get("fall:RR", {})
        assert mean == 1.0 or (mean, allowed["from"]) == (0.85, 1.0)
    assert {*tmp_path.iterdir()} == {*paths}


def write_again_and_again(path: Path, records: list[Record], has_ended: Event) -> None:
    """Replace a record by others, in turn."""
    while not has_ended.is_set():
        for record in records:
            with locked_folder(path.parent):
                write_whole(path, record.text)


@pytest.mark.slow
def test_a_reader_always_finds_a_whole_record(tmp_path: Path) -> None:
    path = tmp_path / "test_x--web.json"
    records = []
    for ranks in (APPROVED, BETTER, LOWER):
        baseline_of(path, Mode(update=True, approval="why"), ranks).write_or_keep()
        records.append(Record.load(path))
    has_ended = PROCESSES.Event()
    writer = PROCESSES.Process(target=write_again_and_again, args=(path, records, has_ended))
    writer.start()
    try:
        seen = [Record.load(path) for _ in range(2000)]
    finally:
        has_ended.set()
        writer.join()
    assert writer.exitcode == 0
    assert all(record in records for record in seen)
