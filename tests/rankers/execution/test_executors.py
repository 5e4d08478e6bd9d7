"""Ranking on processes: the same run as here, and lost workers lose no query."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import ConfigurationError, GoldenSet, RankerError, evaluate, rank, rankers
from pytest_rankcheck.rankers.execution import chunk_work, executor_pools
from pytest_rankcheck.reports.text.measurement_notes import evaluation_notes
from tests import worker_rankers as workers
from tests.worker_rankers import DEADLY, GOLDEN

LETOR = """\
2 qid:1 1:0.5 2:1 # d1
0 qid:1 1:0.1 3:4 # d2
1 qid:2 1:0.7 # d3
0 qid:2 1:0.9 # d4
1 qid:3 2:2 # d5
"""


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(workers.FOLDER, str(tmp_path))
    return tmp_path


def name(function: str) -> str:
    return f"tests.worker_rankers:{function}"


@pytest.mark.parametrize("ranker", [name("search"), workers.search], ids=["by name", "by object"])
@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_the_run_is_that_of_a_serial_ranking(
    processes: Executor, ranker: object, chunk: int
) -> None:
    done: list[tuple[int, int]] = []
    run = rank(
        ranker,
        GOLDEN,
        executor=processes,
        chunk=chunk,
        progress=lambda now, of: done.append((now, of)),
    )
    here = rank(workers.search, GOLDEN)
    assert run.rankings() == here.rankings()
    assert list(run) == list(here) == list(GOLDEN.query_ids)
    assert run.depth == here.depth
    assert done == [(now, 60) for now in range(1, 61)]
    assert set(run.seconds) == set(GOLDEN.query_ids)
    assert all(0 <= seconds < 60 for seconds in run.seconds.values())
    assert run.notes == ()


HOURS = {f"q{n}": 3600.0 * n for n in range(60)}


def test_the_time_of_each_query_is_that_of_its_worker() -> None:
    """The clock of the worker moves by an hour for ``text 1``; here, next to nothing passes."""
    run = rank(name("Clocked()"), GOLDEN, executor="processes:1", chunk=7)
    assert run.seconds == HOURS


def test_the_times_that_an_adapter_measures_count(processes: Executor) -> None:
    assert rank(workers.Timed(), GOLDEN, executor=processes, chunk=7).seconds == HOURS


@pytest.mark.parametrize(
    ("ranker", "options"),
    [
        ("tied", {}),
        ("tied", {"ties": "input"}),
        ("tied", {"depth": 2, "doc_id": str.upper}),
        ("repeated", {"duplicates": "close_gaps"}),
        ("repeated", {"duplicates": "keep_places", "depth": 2}),
        ("by_locale", {"depth": 3}),
        ("batched", {}),
        ("scored", {}),
        ("embedded", {"depth": 4}),
    ],
)
def test_every_adapter_and_convention_gives_the_serial_run(
    processes: Executor, ranker: str, options: dict[str, Any]
) -> None:
    run = rank(name(ranker), GOLDEN, executor=processes, chunk=11, **options)
    here = rank(getattr(workers, ranker), GOLDEN, **options)
    assert run.rankings() == here.rankings()
    assert list(run) == list(here)
    assert (run.ties, run.duplicates, run.depth) == (here.ties, here.duplicates, here.depth)


@pytest.mark.parametrize("chunk", [1, 2])
def test_a_model_has_the_features_of_the_whole_set_in_each_chunk(
    processes: Executor, tmp_path: Path, chunk: int
) -> None:
    """Query 2 has only feature 1: alone, its matrix would have one column."""
    (tmp_path / "ltr.txt").write_text(LETOR)
    golden = GoldenSet.load(tmp_path / "ltr.txt", format="letor")
    run = rank(name("modelled"), golden, executor=processes, chunk=chunk)
    assert run.rankings() == rank(workers.modelled, golden).rankings()


def test_a_ranker_that_raises_fails_exactly_its_queries(processes: Executor) -> None:
    """Two of 60, whose exceptions cannot be pickled, with what they said and where."""
    with pytest.raises(RankerError, match=r"failed on 2 of 60 queries.*'q3'") as failure:
        rank(name("raising"), GOLDEN, executor=processes, chunk=20)
    assert "Unpicklable: bad 3" in str(failure.value)
    assert "also failed: q47" in str(failure.value)
    assert "raise Unpicklable(number(text))" in str(failure.value.__cause__)


@pytest.mark.parametrize("chunk", [60, 5])
def test_a_batch_fails_only_for_the_queries_that_fail_alone(
    processes: Executor, chunk: int
) -> None:
    with pytest.raises(RankerError, match="failed on 2 of 60 queries") as failure:
        rank(name("batched_raising"), GOLDEN, executor=processes, chunk=chunk)
    assert "also failed: q47" in str(failure.value)


def test_sys_exit_is_the_failure_of_its_query(processes: Executor) -> None:
    with pytest.raises(RankerError, match=rf"1 of 60 queries.*'q{DEADLY}'.*sys.exit\(3\)"):
        rank(name("quits"), GOLDEN, executor=processes, chunk=20)


def test_an_adapter_that_leaves_a_query_out_fails_for_it(processes: Executor) -> None:
    for executor in (processes, None):
        with pytest.raises(RankerError, match=r"1 of 60 queries.*'q5'.*did not answer"):
            rank(workers.Forgetful(), GOLDEN, executor=executor)


def test_the_first_answer_counts_and_a_different_second_one_is_listed(processes: Executor) -> None:
    for executor in (processes, None):
        run = rank(workers.Twice(["q2", "q9"]), GOLDEN, executor=executor, chunk=7)
        assert run["q9"] == ("first", "d9")
        assert run.differing == ("q2", "q9")
        evaluation = evaluate(run, GOLDEN)
        assert evaluation.unstable == ("q2", "q9")
        texts = [note.text for note in evaluation_notes(evaluation)]
        assert any("2 of 60 queries were answered twice, differently (q2, q9)" in t for t in texts)


def test_a_ranker_by_name_is_made_once_on_each_worker(folder: Path) -> None:
    run = rank(name("Engine()"), GOLDEN, executor="processes:2", chunk=3)
    made = (folder / "made").read_text().split()
    assert 1 <= len(made) <= 2
    assert len(set(made)) == len(made)
    assert run.rankings() == rank(workers.search, GOLDEN).rankings()


def test_processes_are_spawned_and_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "FOUND", ["of this process"])
    assert rank(workers.found, GOLDEN)["q1"] == ("of this process",)
    run = rank(name("found"), GOLDEN.subset(["q1"]), executor="processes:1")
    assert run["q1"] == ("of the module",)


def test_threads_share_one_ranker(folder: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        run = rank(name("Engine()"), GOLDEN, executor=threads, chunk=2)
    assert len((folder / "made").read_text().split()) == 1
    assert run.rankings() == rank(workers.search, GOLDEN).rankings()


def test_a_worker_that_exits_once_loses_no_query(folder: Path) -> None:
    run = rank(name("exits_once"), GOLDEN, executor="processes:2", chunk=10)
    assert (folder / "exited").exists()
    assert run.rankings() == rank(workers.search, GOLDEN).rankings()
    (note,) = run.notes
    assert "lost when a worker died, and asked again" in note
    assert note in evaluate(run, GOLDEN).notes


def test_one_query_that_always_kills_its_worker_fails_alone(folder: Path) -> None:
    with pytest.raises(RankerError, match=rf"1 of 60 queries, first on 'q{DEADLY}'") as failure:
        rank(name("always_exits"), GOLDEN, executor=workers.make_processes, chunk=4)
    assert "the worker died 3 times" in str(failure.value)
    assert "also failed" not in str(failure.value)


def test_a_query_alone_in_its_chunk_is_asked_at_most_three_times(folder: Path) -> None:
    few = GOLDEN.subset([f"q{n}" for n in range(DEADLY - 2, DEADLY + 3)])
    with pytest.raises(RankerError, match="1 of 5 queries"):
        rank(name("always_exits"), few, executor="processes:2", chunk=1)
    assert len((folder / "asked").read_text().split("\n")) - 1 <= 3


def test_an_executor_that_breaks_and_cannot_be_replaced_is_an_error(folder: Path) -> None:
    with (
        workers.make_processes() as pool,
        pytest.raises(
            RankerError, match=r"executor broke .* of 60 queries had no answer"
        ) as failure,
    ):
        rank(name("always_exits"), GOLDEN, executor=pool, chunk=10)
    assert "executor='processes:4'" in str(failure.value)
    assert "resume=DIR" in str(failure.value)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (lambda text: [text], r"cannot be sent to the workers.*Give it by name"),
        (name("nothing"), r"cannot be made on a worker: .*there is no 'nothing' in tests"),
        ("no.such:search", r"cannot be made on a worker: .*no module named 'no'.*process \d+"),
        (name("BrokenEngine()"), r"cannot be made on a worker: OSError: no such model"),
        (name("ExitingEngine()"), r"cannot be made on a worker: SystemExit: 4"),
        (name("search_async"), r"is async.*remove executor="),
        (workers.search_async, r"is async.*remove executor="),
    ],
    ids=["lambda", "no name", "no module", "broken", "exits", "async by name", "async"],
)
def test_a_ranker_that_cannot_run_on_a_worker_is_one_clear_error(
    processes: Executor, ranker: object, message: str
) -> None:
    asked: list[int] = []
    with pytest.raises(RankerError, match=message):
        rank(ranker, GOLDEN, executor=processes, progress=lambda now, of: asked.append(now))
    assert not asked
    rank(workers.search, GOLDEN, executor=processes)  # which can still be used


def test_an_executor_that_was_shut_down_is_an_error() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(RankerError, match="ThreadPoolExecutor was shut down"):
        rank(workers.search, GOLDEN, executor=pool)


def test_another_version_on_a_worker_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_work, "package_version", lambda: "0.0.1")
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(RankerError, match=r"a worker has pytest-rankcheck 0\.0\.1"),
    ):
        rank(workers.search, GOLDEN, executor=pool)


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        (4, "executor=4 is not an executor"),
        ("processes:none", "write processes:4"),
        ("processes:0", "write processes:4"),
        ("dask:", "has no address"),
        ("threads", r"is invalid; write processes:4, dask:tcp"),
        (name("GOLDEN"), "GoldenSet; name a function that makes an executor"),
        (name("missing"), "there is no 'missing'"),
    ],
)
def test_an_invalid_executor_is_an_error(executor: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        rank(workers.search, GOLDEN, executor=executor)


def test_a_function_that_makes_no_executor_is_an_error() -> None:
    with pytest.raises(RankerError, match=r"make_nothing.* returned NoneType"):
        rank(workers.search, GOLDEN, executor=name("make_nothing"))


def test_a_timeout_has_no_effect_on_an_executor() -> None:
    with pytest.raises(ConfigurationError, match="no effect on an executor"):
        rank(workers.search, GOLDEN, executor="processes:1", timeout=1)


def test_processes_without_a_number_are_as_many_as_there_are_cpus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []

    def threads(count: int) -> Executor:
        made.append(count)
        return ThreadPoolExecutor(count)

    monkeypatch.setattr(executor_pools, "_process_pool", threads)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 5}, raising=False)
    rank(workers.search, GOLDEN, executor="processes")
    assert made == [3]


@pytest.mark.parametrize("chunk", [0, -1, 1.5])
def test_an_invalid_chunk_is_an_error(chunk: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^chunk"):
        rank(workers.search, GOLDEN, executor="processes:1", chunk=chunk)
    with pytest.raises(ConfigurationError, match=r"^chunk"):
        rank(workers.search, GOLDEN, chunk=chunk)


def test_a_ranker_by_name_needs_no_executor() -> None:
    assert rank(name("search"), GOLDEN).rankings() == rank(workers.search, GOLDEN).rankings()
    with pytest.raises(ConfigurationError, match="there is no 'nothing'"):
        rank(name("nothing"), GOLDEN)


def test_errors_of_retry_on_are_known_on_workers_by_name(processes: Executor) -> None:
    class Local(Exception):
        """A class that cannot be pickled."""

    run = rank(workers.search, GOLDEN, executor=processes, retries=1, retry_on=[Local, "OSError"])
    assert len(run) == 60


def test_an_adapter_is_sent_as_it_is(processes: Executor) -> None:
    local = rankers.scorer(workers.score, candidates={"q1": ["d1", "d22"]})
    run = rank(local, GOLDEN, executor=processes)
    assert run["q1"] == ("d1", "d22")
    assert run["q2"] == ()


def test_a_worker_with_old_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads stand for the workers of a cluster, which live on between two sessions."""
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "edited_engine.py"
    module.write_text("def search(text):\n    return ['old']\n")
    with ThreadPoolExecutor(1) as threads:
        for _ in range(2):
            assert rank("edited_engine:search", GOLDEN, executor=threads)["q1"] == ("old",)
        module.write_text("def search(text):\n    return ['new']\n")
        os.utime(module, ns=(1, 1))
        with pytest.raises(
            RankerError, match=r"imported them: .*edited_engine\.py\. .*restart the workers"
        ):
            rank("edited_engine:search", GOLDEN, executor=threads)
        importlib.invalidate_caches()
        importlib.reload(sys.modules["edited_engine"])
        assert rank("edited_engine:search", GOLDEN, executor=threads)["q1"] == ("new",)
    del sys.modules["edited_engine"]
