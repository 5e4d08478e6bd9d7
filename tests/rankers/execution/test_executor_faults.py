"""Executors that lose chunks in other ways than processes do, interrupts, and the window."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

import pytest

from pytest_rankcheck import GoldenSet, RankerError, rank
from pytest_rankcheck.rankers.execution import executor_pools
from pytest_rankcheck.rankers.execution.chunk_work import ChunkOrder, ranked_chunk
from tests.worker_rankers import GOLDEN, Unpicklable, search


class KilledWorker(Exception):
    """As Dask raises it."""


Fault = Callable[[ChunkOrder, int], BaseException | None]
"""What goes wrong with a chunk, given its number."""


class Made(Executor):
    """Runs what is submitted once the driver waits for it, with faults."""

    def __init__(self, fault: Fault, *, workers: int | None = 2) -> None:
        self.fault = fault
        self.orders: list[ChunkOrder] = []
        self.waiting: list[tuple[Future[Any], ChunkOrder]] = []
        self.most = 0
        self.was_shut_down = False
        if workers is not None:
            self._max_workers = workers

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if function is not ranked_chunk:
            future.set_result(function(*args))
            return future
        self.orders.append(args[0])
        self.waiting.append((future, args[0]))
        self.most = max(self.most, len(self.waiting))
        future.add_done_callback(lambda _: None)
        return future

    def run_all(self) -> None:
        waiting, self.waiting = self.waiting, []
        for future, order in waiting:
            fault = self.fault(order, len(self.orders))
            if fault is None:
                future.set_result(ranked_chunk(order))
            else:
                future.set_exception(fault)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.was_shut_down = True


@pytest.fixture(autouse=True)
def run_when_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run what was submitted when the driver starts to wait, in this thread."""
    from pytest_rankcheck.rankers.execution import executor_ranker

    class Waiting(executor_ranker.SimpleQueue):  # type: ignore[type-arg,misc]
        def get(self, *args: Any, **kwargs: Any) -> Any:
            if self.empty():
                for executor in MADE:
                    executor.run_all()
            return super().get(*args, **kwargs)

    MADE.clear()
    monkeypatch.setattr(executor_ranker, "SimpleQueue", Waiting)


MADE: list[Made] = []


def made(fault: Fault, **options: Any) -> Made:
    executor = Made(fault, **options)
    MADE.append(executor)
    return executor


def no_fault(order: ChunkOrder, number: int) -> None:
    return None


def asked(executor: Made) -> list[str]:
    return [query_id for order in executor.orders for query_id in order.task.golden.query_ids]


@pytest.mark.parametrize(
    "error",
    [KilledWorker("x"), CancelledError(), ConnectionResetError("gone"), EOFError(), MemoryError()],
    ids=lambda error: type(error).__name__,
)
def test_a_chunk_that_is_lost_once_is_asked_again(error: Exception) -> None:
    lost: list[str] = []

    def fault(order: ChunkOrder, number: int) -> Exception | None:
        if "q25" in order.task.golden and not lost:
            lost.append("q25")
            return error
        return None

    executor = made(fault)
    run = rank(search, GOLDEN, executor=executor, chunk=10)
    assert run.rankings() == rank(search, GOLDEN).rankings()
    assert len(asked(executor)) == 70
    assert "1 chunk of queries was lost" in run.notes[0]
    assert not executor.was_shut_down  # it is the user's


def test_an_unexpected_error_of_the_executor_is_reported_as_it_is() -> None:
    executor = made(lambda order, number: OverflowError("message too long"))
    with pytest.raises(RankerError, match="executor failed with OverflowError: message too long"):
        rank(search, GOLDEN, executor=executor, chunk=10)


def test_a_pool_that_breaks_is_replaced_by_a_new_one() -> None:
    def breaks(order: ChunkOrder, number: int) -> Exception | None:
        return BrokenExecutor("died") if len(MADE) == 1 else None

    run = rank(search, GOLDEN, executor=lambda: made(breaks), chunk=10)
    assert run.rankings() == rank(search, GOLDEN).rankings()
    first, second = MADE
    assert first.was_shut_down
    assert second.was_shut_down  # at the end, because it was made here
    assert "new workers were started 1 time" in run.notes[0]


def test_chunks_that_others_have_lost_are_asked_whole() -> None:
    """Four chunks run together and one breaks the pool: the others are not halved."""

    def breaks(order: ChunkOrder, number: int) -> Exception | None:
        is_deadly = "q12" in order.task.golden
        return BrokenExecutor("died") if is_deadly or len(MADE) == 1 else None

    with pytest.raises(RankerError, match=r"1 of 60 queries, first on 'q12'"):
        rank(search, GOLDEN, executor=lambda: made(breaks), chunk=10)
    whole = [tuple(order.task.golden.query_ids) for each in MADE[1:] for order in each.orders]
    assert whole.count(tuple(f"q{n}" for n in range(10))) == 1
    assert whole.count(("q12",)) == 3


def test_workers_that_die_of_everything_stop_the_ranking() -> None:
    executor = made(lambda order, number: KilledWorker("again"))
    with pytest.raises(RankerError, match="the workers died on 10 queries in a row"):
        rank(search, GOLDEN, executor=executor, chunk=5)


def test_executors_that_never_start_stop_the_ranking() -> None:
    class Broken(Executor):
        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
            raise BrokenExecutor("no memory")

    with pytest.raises(RankerError, match="no worker is left after ranker 'search' was sent"):
        rank(search, GOLDEN, executor=Broken)


@pytest.mark.parametrize(("workers", "most"), [(1, 2), (4, 8), (None, 128)])
def test_the_window_is_bounded_whatever_the_number_of_queries(
    workers: int | None, most: int
) -> None:
    golden = GoldenSet.from_dict(
        {f"q{n}": {"d": 1} for n in range(1000)}, {f"q{n}": f"text {n}" for n in range(1000)}
    )
    executor = made(no_fault, workers=workers)
    rank(search, golden, executor=executor, chunk=2)
    assert executor.most == most


def test_an_interrupt_cancels_what_has_not_begun() -> None:
    def interrupted(done: int, of: int) -> None:
        raise KeyboardInterrupt

    executor = made(no_fault)
    executor.run_all = lambda: first_only(executor)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        rank(search, GOLDEN, executor=executor, chunk=10, progress=interrupted)
    assert [future.cancelled() for future, _ in executor.waiting] == [True] * 3
    assert len(executor.orders) == 4  # and no further ones are submitted


def first_only(executor: Made) -> None:
    (future, order), *executor.waiting = executor.waiting
    future.set_result(ranked_chunk(order))


def test_an_interrupt_leaves_executors_that_were_made_here_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left: list[bool] = []
    monkeypatch.setattr(
        executor_pools, "_shut_down", lambda executor, *, at_once: left.append(at_once)
    )

    def interrupted(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank(search, GOLDEN, executor=lambda: made(no_fault), progress=interrupted)
    assert left == [True]


def test_a_second_failure_after_an_answer_is_a_difference() -> None:
    from pytest_rankcheck.rankers.adapter_protocol import Adapter, QueryAnswer

    class Unsure(Adapter):
        name = "unsure"

        def ask(self, task: Any, on_answer: Any) -> None:
            for query in task.golden:
                on_answer(QueryAnswer(query, ["a"]))
            on_answer(QueryAnswer(task.golden.query("q4"), failure=Unpicklable(4)))

    run = rank(Unsure(), GOLDEN)
    assert run.differing == ("q4",)
    assert run["q4"] == ("a",)
