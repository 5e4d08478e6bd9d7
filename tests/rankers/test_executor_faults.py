"""Executors that lose chunks in other ways than processes do, interrupts, and the window."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

import pytest

from pytest_rankcheck import GoldenSet, RankerError, rank
from pytest_rankcheck.rankers import executor_ranker
from tests.worker_rankers import GOLDEN, search


class KilledWorker(Exception):
    """As Dask raises it."""


Fault = Callable[[list[str]], BaseException | None]
"""What goes wrong with a chunk, given its queries."""


class Made(Executor):
    """Runs what is submitted once the driver waits for it, with faults."""

    def __init__(self, fault: Fault, *, workers: int | None = 2) -> None:
        self.fault = fault
        self.chunks: list[list[str]] = []
        self.waiting: list[tuple[Future[Any], Any]] = []
        self.most = 0
        self.was_shut_down: list[bool] = []
        if workers is not None:
            self._max_workers = workers
        MADE.append(self)

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        chunk = list(args[-1].golden.query_ids)
        self.chunks.append(chunk)

        def run() -> None:
            fault = self.fault(chunk)
            if fault is not None:
                future.set_exception(fault)
            else:
                future.set_result(function(*args))

        self.waiting.append((future, run))
        self.most = max(self.most, len(self.waiting))
        if len(chunk) == 1:  # its result is waited for at once
            self.run_all()
        return future

    def run_all(self) -> None:
        waiting, self.waiting = self.waiting, []
        for _, run in waiting:
            run()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.was_shut_down.append(not wait)


MADE: list[Made] = []


@pytest.fixture(autouse=True)
def run_when_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run what was submitted when the driver starts to wait, in this thread."""
    wait = executor_ranker.wait

    def waiting(*args: Any, **kwargs: Any) -> Any:
        for executor in MADE:
            executor.run_all()
        return wait(*args, **kwargs)

    MADE.clear()
    monkeypatch.setattr(executor_ranker, "wait", waiting)


def test_a_chunk_that_is_lost_once_is_asked_again() -> None:
    for error in (KilledWorker("x"), CancelledError(), ConnectionResetError(), EOFError()):
        faults = [None, error]
        executor = Made(lambda chunk: faults.pop() if "q25" in chunk else None)  # noqa: B023
        run = rank(search, GOLDEN, executor=executor, chunk=10)
        assert run.rankings() == rank(search, GOLDEN).rankings(), error
        assert sum(map(len, executor.chunks)) == 70, error
        assert run.notes == ("10 queries were lost when a worker died, and asked again",)
        assert not executor.was_shut_down, "it is the user's"


def test_an_error_of_the_executor_is_reported_as_it_is() -> None:
    executor = Made(lambda chunk: OverflowError("message too long"))
    with pytest.raises(RankerError, match=r"cannot be sent .*OverflowError: message too long"):
        rank(search, GOLDEN, executor=executor, chunk=10)


def test_a_pool_that_breaks_is_replaced_and_its_chunks_are_asked_query_by_query() -> None:
    """Four chunks run together, and one query breaks each pool that it is asked on."""

    def breaks(chunk: list[str]) -> BaseException | None:
        is_broken = "q12" in chunk or len(MADE) == 1
        return BrokenExecutor("died") if is_broken else None

    with pytest.raises(RankerError, match=r"1 of 60 queries, first on 'q12'.*worker died again"):
        rank(search, GOLDEN, executor=lambda: Made(breaks), chunk=10)
    first, second, third = MADE
    assert first.was_shut_down == [True]
    assert second.chunks[-1] == ["q12"]
    assert third.chunks[:2] == [["q13"], ["q14"]]
    assert third.chunks[-1] == [f"q{n}" for n in range(50, 60)]
    assert third.was_shut_down == [False]


def test_workers_that_die_of_everything_stop_the_ranking() -> None:
    with pytest.raises(RankerError, match="the workers died on 3 queries in a row: q0, q1, q2"):
        rank(search, GOLDEN, executor=Made(lambda chunk: KilledWorker("again")), chunk=5)


def test_executors_that_never_start_stop_the_ranking() -> None:
    class Broken(Executor):
        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
            raise BrokenExecutor("no memory")

    with pytest.raises(RankerError, match="the workers died on 3 queries in a row"):
        rank(search, GOLDEN, executor=Broken)


def test_the_window_is_bounded_whatever_the_number_of_queries() -> None:
    ids = [f"q{n}" for n in range(1000)]
    golden = GoldenSet.from_dict({each: {"d": 1} for each in ids}, dict(zip(ids, ids, strict=True)))
    for workers, most in [(1, 2), (4, 8), (None, 128)]:
        executor = Made(lambda chunk: None, workers=workers)
        rank(lambda text: ["d"], golden, executor=executor, chunk=2)
        assert executor.most == most


def test_an_interrupt_cancels_what_has_not_begun() -> None:
    def interrupted(done: int, of: int) -> None:
        raise KeyboardInterrupt

    def first_only() -> None:
        (_, run), *made.waiting = made.waiting
        run()

    made = Made(lambda chunk: None)
    made.run_all = first_only  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        rank(search, GOLDEN, executor=made, chunk=10, progress=interrupted)
    assert [future.cancelled() for future, _ in made.waiting] == [True] * 3
    assert len(made.chunks) == 4, "and no further ones are submitted"
    MADE.clear()
    with pytest.raises(KeyboardInterrupt):
        rank(search, GOLDEN, executor=lambda: Made(lambda chunk: None), progress=interrupted)
    assert MADE[-1].was_shut_down == [True], "executors that were made here are left at once"
