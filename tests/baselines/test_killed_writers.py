"""A writer that is killed at any step leaves the old record or the new one."""

import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.files.whole_files import locked_folder, write_whole

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="forks processes to kill them"
)
RR = Metric.parse("RR")
STEPS = ("open", "os.", "shutil.", "tempfile.")
"""The audit events of steps that a file system sees."""
KILLED = 77


def record_of(count: int, wrong: int) -> Record:
    ids = [f"q{number:03}" for number in range(count)]
    golden = GoldenSet.from_dict({query: {"good": 1} for query in ids}, name="web")
    answers = {query: ["bad", "good"] if n < wrong else ["good"] for n, query in enumerate(ids)}
    return Record.of(evaluate(Run.from_dict(answers), golden), [RR])


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
        write_whole(path, record.text)


def test_an_update_that_is_killed(tmp_path: Path) -> None:
    old, new = record_of(12, 3), record_of(12, 1)
    path = tmp_path / "test_mrr--web.json"
    found: list[Record] = []
    step = 1
    while True:
        update(path, old)
        was_killed = killed_at(step, lambda: update(path, new))
        found.append(Record.load(path))
        update(path, found[-1])
        assert list(tmp_path.iterdir()) == [path], "the next update tidies up"
        if not was_killed:
            break
        step += 1
    assert found[0] == old
    assert found[-1] == new
    switch = found.index(new)
    assert found == [old] * switch + [new] * (len(found) - switch)
    assert step > 5
