"""Ranking on processes: the same run as here, and lost workers lose no query."""

from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import ConfigurationError, RankerError, rank, rankers
from tests import worker_rankers as workers
from tests.worker_rankers import GOLDEN


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


def test_the_run_is_that_of_a_serial_ranking(processes: Executor) -> None:
    here = rank(workers.search, GOLDEN)
    for ranker in (name("search"), workers.search):
        for chunk in (1, 7, 1000):
            done: list[tuple[int, int]] = []
            run = rank(
                ranker,
                GOLDEN,
                executor=processes,
                chunk=chunk,
                progress=lambda now, of: done.append((now, of)),  # noqa: B023
            )
            assert run.rankings() == here.rankings(), (ranker, chunk)
            assert list(run) == list(here) == list(GOLDEN.query_ids)
            assert run.depth == here.depth
            assert done == [(now, 60) for now in range(1, 61)]
            assert all(0 <= run.seconds[query_id] < 60 for query_id in GOLDEN.query_ids)
            assert run.notes == ()


HOURS = {f"q{n}": 3600.0 * n for n in range(60)}


def test_the_time_of_each_query_is_that_of_its_worker() -> None:
    """The clock of the worker moves by an hour for ``text 1``; here, next to nothing passes."""
    run = rank(name("Clocked()"), GOLDEN, executor="processes:1", chunk=7)
    assert run.seconds == HOURS


SAME: list[tuple[str, dict[str, Any]]] = [
    ("tied", {}),
    ("tied", {"ties": "input"}),
    ("tied", {"depth": 2, "doc_id": str.upper}),
    ("repeated", {"duplicates": "close_gaps"}),
    ("repeated", {"duplicates": "keep_places", "depth": 2}),
    ("by_locale", {"depth": 3}),
    ("batched", {}),
    ("scored", {}),
    ("embedded", {"depth": 4}),
]


def test_every_adapter_and_convention_gives_the_serial_run(processes: Executor) -> None:
    for ranker, options in SAME:
        run = rank(name(ranker), GOLDEN, executor=processes, chunk=11, **options)
        here = rank(getattr(workers, ranker), GOLDEN, **options)
        assert run.rankings() == here.rankings(), (ranker, options)
        assert list(run) == list(here)
        assert (run.ties, run.duplicates, run.depth) == (here.ties, here.duplicates, here.depth)


def test_a_ranker_that_raises_fails_exactly_its_queries(processes: Executor) -> None:
    """Two of 60, whose exceptions cannot be pickled, with what they said and where."""
    with pytest.raises(RankerError, match=r"failed on 2 of 60 queries.*'q3'") as failure:
        rank(name("raising"), GOLDEN, executor=processes, chunk=20)
    assert "Unpicklable: bad 3" in str(failure.value)
    assert "also failed: q47" in str(failure.value)
    assert "raise Unpicklable(number(text))" in failure.value.__cause__.__notes__[0]  # type: ignore[union-attr]


def test_sys_exit_of_a_ranker_ends_the_ranking_and_not_the_process(processes: Executor) -> None:
    with pytest.raises(RankerError, match=r"quits' cannot be asked on a worker: SystemExit: 3"):
        rank(name("quits"), GOLDEN, executor=processes, chunk=20)


def test_an_adapter_must_answer_each_query_once(processes: Executor) -> None:
    for executor in (processes, None):
        with pytest.raises(RankerError, match=r"1 of 60 queries.*'q5'.*did not answer"):
            rank(workers.Odd(left_out="q5"), GOLDEN, executor=executor)
        with pytest.raises(RankerError, match="the adapter answered query 'q6' twice"):
            rank(workers.Odd(twice="q6"), GOLDEN, executor=executor)


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


def test_a_query_that_kills_its_worker_stops_the_ranking(folder: Path) -> None:
    with pytest.raises(RankerError, match=r"a worker died \(BrokenProcessPool\), perhaps of"):
        rank(name("always_exits"), GOLDEN, executor=workers.make_processes, chunk=4)
    with (
        workers.make_processes() as pool,
        pytest.raises(RankerError, match=r"a worker died .* resume=DIR"),
    ):
        rank(name("always_exits"), GOLDEN, executor=pool, chunk=10)


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
    with pytest.raises(RankerError, match=r"ThreadPoolExecutor takes no queries: .*shutdown"):
        rank(workers.search, GOLDEN, executor=pool)


def test_an_invalid_executor_is_an_error() -> None:
    for executor, message in (
        (4, "executor=4 is invalid; give an executor of concurrent.futures"),
        ("processes:none", "is invalid; .* processes:4 or package.module:make_pool"),
        ("processes:0", "a text: processes:4"),
        ("dask:tcp://scheduler:8786", "is invalid"),
        ("threads", "is invalid"),
        (name("missing"), "there is no 'missing'"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            rank(workers.search, GOLDEN, executor=executor)


def test_a_timeout_has_no_effect_on_an_executor() -> None:
    with pytest.raises(ConfigurationError, match="no effect on an executor"):
        rank(workers.search, GOLDEN, executor="processes:1", timeout=1)


@pytest.mark.parametrize("chunk", [0, 1.5])
def test_an_invalid_chunk_is_an_error(chunk: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^chunk"):
        rank(workers.search, GOLDEN, chunk=chunk)


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
