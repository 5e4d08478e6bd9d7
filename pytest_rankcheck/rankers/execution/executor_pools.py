"""Executors: given, made by a function, or named in a text; broken ones are replaced."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from typing import Any

from pytest_rankcheck.errors import (
    ConfigurationError,
    RankcheckError,
    RankerError,
    plural,
    quoted,
)
from pytest_rankcheck.rankers.ranker_lookup import check_ranker_name, named_object

__all__ = ["ExecutorLike", "Pool", "make_pool"]

ExecutorLike = Executor | Callable[[], Executor] | str
"""An executor; a function that makes one; or a text, as in ``rankcheck_executor``."""

_FORMS = "processes:4, dask:tcp://scheduler:8786 or package.module:make_pool"
_UNKNOWN_WORKERS = 64
"""The assumed number of workers of an executor that does not state one."""
_MOST_FAILED_STARTS = 3


class Pool:
    """An executor, and a way to make another one."""

    def __init__(
        self, executor: Executor | None, make: Callable[[], Executor] | None, name: str
    ) -> None:
        self._executor = executor
        self._make = make
        self._name = name
        self.is_broken = False
        self.replacements = 0

    @property
    def can_be_replaced(self) -> bool:
        """Whether another executor can be made."""
        return self._make is not None

    @property
    def workers(self) -> int:
        """How many chunks it can rank at the same time, as far as it states that."""
        executor: Any = self.opened()
        client = getattr(executor, "_client", None)  # of Dask
        with suppress(Exception):
            if client is not None:
                return max(1, int(sum(client.nthreads().values())))
        for name in ("num_workers", "_max_workers"):  # of mpi4py; of Python and loky
            workers = getattr(executor, name, None)
            if isinstance(workers, int) and workers > 0:
                return workers
        return _UNKNOWN_WORKERS

    def opened(self) -> Executor:
        """Return the executor, and make it first if necessary.

        Raises:
            RankerError: the function that should make one returned something else.
        """
        if self._executor is None or (self.is_broken and self._make is not None):
            assert self._make is not None
            if self._executor is not None:
                self.replacements += 1
                _shut_down(self._executor, at_once=True)
            made = self._made(self._make)
            if not isinstance(made, Executor):
                raise RankerError(
                    f"executor {self._name} returned {type(made).__name__}; return an executor of "
                    "concurrent.futures, such as ProcessPoolExecutor(4)"
                )
            self._executor, self.is_broken = made, False
        return self._executor

    def _made(self, make: Callable[[], object]) -> object:
        try:
            return make()
        except RankcheckError:
            raise
        except Exception as error:
            raise RankerError(
                f"executor {self._name} cannot be made: {type(error).__name__}: "
                f"{quoted(error, 300)}"
            ) from error

    def submit(self, function: Callable[..., Any], argument: object) -> Future[Any]:
        """Submit a call; a broken executor that can be replaced is replaced first.

        Raises:
            BrokenExecutor: it is broken and cannot be replaced, or its replacements break at once.
            RankerError: it was shut down.
        """
        for _ in range(_MOST_FAILED_STARTS):
            executor = self.opened()
            try:
                return executor.submit(function, argument)
            except BrokenExecutor:
                self.is_broken = True
                if self._make is None:
                    raise
            except RuntimeError as error:
                if "shutdown" not in str(error):
                    raise
                raise RankerError(
                    f"executor {self._name} was shut down, so nothing can be ranked on it; give "
                    "one that is open, or a function that makes one"
                ) from None
        raise BrokenExecutor(f"executor {self._name} broke {_MOST_FAILED_STARTS} times at once")

    def close(self, *, at_once: bool = False) -> None:
        """Shut the executor down if it was made here.

        Args:
            at_once: whether to return without waiting for running chunks.
        """
        if self._make is not None and self._executor is not None:
            _shut_down(self._executor, at_once=at_once or self.is_broken)
            self._executor = None

    @property
    def remedy(self) -> str:
        """What to do about an executor that broke and cannot be replaced."""
        return (
            "a broken executor cannot be used again: give a function that makes one "
            "(executor=make_pool), or a text such as executor='processes:4', so that it can be "
            "replaced; with resume=DIR, finished answers are kept"
        )


def _shut_down(executor: Executor, *, at_once: bool) -> None:
    try:
        executor.shutdown(wait=not at_once, cancel_futures=at_once)
    except TypeError:  # of Dask, which does not take cancel_futures
        executor.shutdown(wait=not at_once)


def make_pool(given: ExecutorLike) -> Pool:
    """Return the pool that an argument or the configuration describes, without starting it.

    Raises:
        ConfigurationError: the value neither is nor describes an executor.
    """
    if isinstance(given, str):
        return _named_pool(given.strip())
    if isinstance(given, Executor):
        return Pool(given, None, type(given).__name__)
    if callable(given):
        name = getattr(given, "__qualname__", type(given).__qualname__)
        return Pool(None, given, f"{name}()")
    raise ConfigurationError(
        f"executor={quoted(repr(given), 60)} is not an executor; give one of concurrent.futures, a "
        f"function that makes one, or a text: {_FORMS}"
    )


def _named_pool(text: str) -> Pool:
    kind, _, rest = text.partition(":")
    if kind == "processes":
        count = _processes(text, rest)
        return Pool(None, lambda: _process_pool(count), plural(count, "process", "processes"))
    if kind == "dask":
        if not rest:
            raise ConfigurationError(
                f"executor '{quoted(text)}' has no address; write dask:tcp://scheduler:8786"
            )
        return Pool(None, lambda: _dask_executor(rest), quoted(text))
    try:
        check_ranker_name(text)
    except ConfigurationError:
        raise ConfigurationError(f"executor '{quoted(text)}' is invalid; write {_FORMS}") from None
    name = text.removesuffix("()")
    make: Any = named_object(name, "executor")
    if isinstance(make, Executor):
        raise ConfigurationError(
            f"executor '{quoted(text)}' is an executor, which could not be replaced if it broke; "
            "name a function that makes one"
        )
    if not callable(make):
        raise ConfigurationError(
            f"executor '{quoted(text)}' is {type(make).__name__}; name a function that makes an "
            "executor of concurrent.futures"
        )
    return Pool(None, make, f"'{quoted(text)}'")


def _processes(text: str, rest: str) -> int:
    if not rest and text == "processes":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if not (rest.isascii() and rest.isdecimal() and int(rest) > 0):
        raise ConfigurationError(
            f"executor '{quoted(text)}' is invalid; write processes:4 for four processes"
        )
    return int(rest)


def _process_pool(count: int) -> Executor:
    """Return a pool that spawns its processes: a fork of a process with threads can deadlock."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


def _dask_executor(address: str) -> Executor:
    """Return the executor of a Dask client; shutting it down also closes the client."""
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ConfigurationError(
            f"executor 'dask:{quoted(address)}' needs distributed, which is not installed: pip "
            "install distributed"
        ) from None
    try:
        client = Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RankerError(
            f"executor 'dask:{quoted(address)}': the scheduler does not answer: "
            f"{quoted(error, 300)}"
        ) from None
    executor: Any = client.get_executor(pure=False)
    shut_down = executor.shutdown

    def shutdown(wait: bool = True) -> None:
        shut_down(wait=wait)
        client.close()

    executor.shutdown = shutdown
    made: Executor = executor
    return made
