"""A writer that is killed at any step leaves the old record or the new one."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

from pytest_rankcheck import BaselineError, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines import data_file
from pytest_rankcheck.baselines.record_writer import write_record
from pytest_rankcheck.command_line.main import main
from pytest_rankcheck.files.folder_lock import locked_folder

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="forks processes to kill them"
)
RR = Metric.parse("RR")
STEPS = ("open", "os.", "shutil.", "tempfile.")
"""The audit events of steps that a file system sees."""
KILLED = 77


@pytest.fixture(autouse=True)
def compact_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let records of ten queries be large."""
    monkeypatch.setattr(data_file, "COMPACT_FROM", 10)


def record_of(count: int, wrong: int) -> Record:
    ids = [f"q{number:03}" for number in range(count)]
    golden = GoldenSet.from_dict({query: {"good": 1} for query in ids}, name="web")
    answers = {query: ["bad", "good"] if n < wrong else ["good"] for n, query in enumerate(ids)}
    return Record.of(evaluate(Run.from_dict(answers), golden), [RR], test="test_mrr")


def _work(step: int, work: Callable[[], object]) -> None:
    """Do the work in a process that dies before its step of this number."""
    steps = 0

    def die(event: str, arguments: object) -> None:
        nonlocal steps
        if event.startswith(STEPS):
            steps += 1
            if steps == step:
                os._exit(KILLED)

    sys.addaudithook(die)
    work()
    os._exit(0)


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do the work in another process, and kill it before a step. Return whether it had so many."""
    context: BaseContext = multiprocessing.get_context("fork")
    process = context.Process(target=_work, args=(step, work))  # type: ignore[attr-defined]
    process.start()
    process.join()
    assert process.exitcode in (0, KILLED)
    return bool(process.exitcode == KILLED)


def update(path: Path, record: Record) -> None:
    with locked_folder(path.parent):
        write_record(path, record)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (record_of(12, 3), record_of(12, 1)),
        (record_of(12, 3), record_of(9, 1)),
        (record_of(9, 3), record_of(12, 1)),
        (record_of(12, 3), replace(record_of(12, 3), test="x")),
    ],
    ids=["large", "large to small", "small to large", "header only"],
)
def test_an_update_that_is_killed(tmp_path: Path, old: Record, new: Record) -> None:
    path = tmp_path / "test_mrr--web.json"
    found: list[Record] = []
    step = 1
    while True:
        update(path, old)
        was_killed = killed_at(step, lambda: update(path, new))
        found.append(Record.load(path))
        update(path, found[-1])
        names = {path.name, *(file.name for file in [data_file.named_data(path)] if file)}
        assert {file.name for file in tmp_path.iterdir()} == names, "the next update tidies up"
        if not was_killed:
            break
        step += 1
    assert found[0] == old
    assert found[-1] == new
    switch = found.index(new)
    assert found == [old] * switch + [new] * (len(found) - switch)
    assert step > 5


def test_a_move_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("test_b.py").write_text("", "utf-8")
    old = Path("baselines/test_a/test_mrr--web.json")
    new = Path("baselines/test_b/test_rr--web.json")
    arguments = ["retire", str(old), "--to", "test_b.py::test_rr"]
    record, step = record_of(12, 3), 1
    while True:
        for folder in (old.parent, new.parent):
            folder.mkdir(parents=True, exist_ok=True)
            for file in folder.iterdir():
                file.unlink()
        update(old, record)
        was_killed = killed_at(step, lambda: main(arguments))
        found = [each for path in (old, new) if (each := _readable(path)) is not None]
        assert found, f"no record is left after step {step}"
        assert all(replace(each, test="test_mrr") == record for each in found)
        if not was_killed:
            break
        step += 1
    assert [path.exists() for path in (old, new)] == [False, True]
    assert len(list(old.parent.iterdir())) == 0
    assert step > 5


def _readable(path: Path) -> Record | None:
    """Return the record of a header that exists, which must be readable."""
    try:
        return Record.load(path)
    except BaselineError:
        assert not path.exists()
        return None
