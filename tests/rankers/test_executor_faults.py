"""Executors that lose chunks in other ways than processes do, and interrupts."""

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

import pytest

from pytest_rankcheck import RankerError, rank
from pytest_rankcheck.rankers import executor_ranker
from tests.worker_rankers import GOLDEN, search


class KilledWorker(Exception):
    """As Dask raises it."""


Fault = Callable[[list[str]], BaseException | None]
"""What goes wrong with a chunk, given its queries."""


class Made(Executor):
    """Runs what is submitted once the driver waits for it, with faults."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.chunks: list[list[str]] = []
        self.waiting: list[tuple[Future[Any], Any]] = []
        self.was_shut_down: list[bool] = []
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
    as_completed = executor_ranker.as_completed

    def waiting(futures: Any) -> Any:
        for executor in MADE:
            executor.run_all()
        return as_completed(futures)

    MADE.clear()
    monkeypatch.setattr(executor_ranker, "as_completed", waiting)


def test_a_worker_that_dies_stops_the_ranking() -> None:
    for error in (KilledWorker("x"), CancelledError(), ConnectionResetError(), EOFError()):
        executor = Made(lambda chunk: error if "q25" in chunk else None)  # noqa: B023
        message = (
            rf"a worker died \({type(error).__name__}\), .* of the queries q20, q21.*resume=DIR"
        )
        with pytest.raises(RankerError, match=message):
            rank(search, GOLDEN, executor=executor, chunk=10)
        assert not executor.was_shut_down, "it is the user's"
    with pytest.raises(RankerError, match="a worker died"):
        rank(search, GOLDEN, executor=lambda: Made(lambda chunk: BrokenExecutor("died")))
    assert MADE[-1].was_shut_down == [True], "it was made here"


def test_an_error_of_the_executor_is_reported_as_it_is() -> None:
    executor = Made(lambda chunk: OverflowError("message too long"))
    with pytest.raises(RankerError, match=r"cannot be sent .*OverflowError: message too long"):
        rank(search, GOLDEN, executor=executor, chunk=10)


def test_executors_that_never_start_stop_the_ranking() -> None:
    class Broken(Executor):
        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
            raise BrokenExecutor("no memory")

    with pytest.raises(RankerError, match=r"executor Broken takes no queries: BrokenExec.* no mem"):
        rank(search, GOLDEN, executor=Broken)


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
    assert len(made.waiting) > 3
    assert all(future.cancelled() for future, _ in made.waiting)
    MADE.clear()
    with pytest.raises(KeyboardInterrupt):
        rank(search, GOLDEN, executor=lambda: Made(lambda chunk: None), progress=interrupted)
    assert MADE[-1].was_shut_down == [True], "executors that were made here are left at once"
