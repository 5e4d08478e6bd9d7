"""Executors that lose chunks in other ways than processes do, interrupts, and the window."""

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

    with pytest.raises(RankerError, match=r"a worker died \(BrokenExecutor\)"):
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
