"""Workers have files of their own, which may be those of last week."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import GoldenSet, RankerError, rank
from pytest_rankcheck.rankers.execution.stale_modules import project_code, refuse_other_code

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {"d1": 1} for n in range(6)}, {f"q{n}": f"query {n}" for n in range(6)}
)
RANKER = "from deployed.helper import ranking\n\ndef search(text):\n    return ranking()\n"


def deploy(folder: Path, doc_id: str, line_end: str = "\n") -> Path:
    """Write a package whose module ``helper`` decides what is ranked."""
    (folder / "deployed").mkdir(parents=True)
    for name, text in (
        ("__init__", ""),
        ("engine", RANKER),
        ("helper", f"def ranking():\n    return [{doc_id!r}]\n"),
    ):
        file = folder / "deployed" / f"{name}.py"
        file.write_bytes(text.replace("\n", line_end).encode())
    return folder


def worker_with(folder: Path) -> Callable[[], Executor]:
    """Return what makes a process that imports from another folder first."""
    first = f"import sys; sys.path.insert(0, {str(folder)!r})"
    return lambda: ProcessPoolExecutor(
        1, mp_context=get_context("spawn"), initializer=exec, initargs=(first,)
    )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The code that is tested, on the path of this process."""
    folder = deploy(tmp_path / "here", "new")
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_answers_of_a_worker_with_other_files_are_refused(here: Path, tmp_path: Path) -> None:
    """The module of the ranker is the same; the one that it imports is older there."""
    there = deploy(tmp_path / "there", "old")
    with pytest.raises(
        RankerError, match=r"^worker \S+, process \d+ has another version"
    ) as caught:
        rank("deployed.engine:search", GOLDEN, executor=worker_with(there))
    assert f"of {here / 'deployed' / 'helper.py'} than this process" in str(caught.value)


def test_the_same_files_elsewhere_are_the_same_code(here: Path, tmp_path: Path) -> None:
    there = deploy(tmp_path / "there", "new", line_end="\r\n")
    run = rank("deployed.engine:search", GOLDEN, executor=worker_with(there))
    assert run["q1"] == ("new",)


def test_modules_that_only_one_side_has_are_not_compared(tmp_path: Path) -> None:
    there = deploy(tmp_path / "there", "old")
    run = rank("deployed.engine:search", GOLDEN, executor=worker_with(there))
    assert run["q1"] == ("old",)


def test_all_modules_of_this_process_are_those_here() -> None:
    code = project_code()
    assert any(name.endswith("test_code_of_workers") for name in code)
    assert not any(name.startswith("pytest_rankcheck") for name in code)
    refuse_other_code(code, "this process")


# --- faulty executors -------------------------------------------------------------------------


class Answers(Executor):
    """Answers every call with None."""

    def submit(self, *call: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(None)
        return future


def no_cluster() -> Executor:
    raise RuntimeError("the cluster is down for maintenance")


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        (no_cluster, r"^executor no_cluster\(\) cannot be made: RuntimeError: the cluster is down"),
        (Answers(), "the executor returned NoneType"),
    ],
)
def test_a_fault_of_the_executor_is_not_blamed_on_the_ranker(executor: Any, message: str) -> None:
    with pytest.raises(RankerError, match=message):
        rank("tests.worker_rankers:search", GOLDEN, executor=executor)
