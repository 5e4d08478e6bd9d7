"""Executors for rankers: given by the user, or made here."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_rankcheck.errors import ConfigurationError, RankerError, quoted
from pytest_rankcheck.rankers.adapter_protocol import made_by
from pytest_rankcheck.rankers.ranker_lookup import is_name, named_object

ExecutorLike = Executor | Callable[[], Executor] | str
"""An executor; a function that makes one; or a text, as in ``rankcheck_executor``."""

_FORMS = "processes:4 or package.module:make_pool"
_UNKNOWN_WORKERS = 64
"""The assumed number of workers of an executor that does not state one."""


@dataclass
class Pool:
    """An executor of the user's; or one that is made when needed, and shut down at the end."""

    name: str
    """What messages call it."""
    executor: Executor | None = None
    make: Callable[[], Any] | None = None

    @property
    def workers(self) -> int:
        """How many chunks it can rank at the same time, as far as it states that."""
        executor = self._opened()
        for name in ("num_workers", "_max_workers"):  # of mpi4py; of Python and loky
            workers = getattr(executor, name, None)
            if isinstance(workers, int) and workers > 0:
                return workers
        return _UNKNOWN_WORKERS

    def _opened(self) -> Executor:
        """Return the executor, and make it first if necessary."""
        if self.executor is None:
            assert self.make is not None
            made = made_by(self.make, f"executor {self.name} cannot be made")
            if not isinstance(made, Executor):
                raise RankerError(
                    f"executor {self.name} returned {type(made).__name__}; return an executor of "
                    "concurrent.futures, such as ProcessPoolExecutor(4)"
                )
            self.executor = made
        return self.executor

    def submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Submit a call; the future of a broken executor has failed already.

        Raises:
            RankerError: the executor was shut down.
        """
        try:
            return self._opened().submit(function, *arguments)
        except BrokenExecutor as error:
            broken: Future[Any] = Future()
            broken.set_exception(error)
            return broken
        except RuntimeError as error:
            if "shutdown" not in str(error):
                raise
            raise RankerError(
                f"executor {self.name} was shut down, so nothing can be ranked on it; give one "
                "that is open, or a function that makes one"
            ) from None

    def close(self, *, at_once: bool = False) -> None:
        """Shut the executor down if it was made here.

        Args:
            at_once: whether to return without waiting for running chunks.
        """
        if self.make is not None and self.executor is not None:
            self.executor.shutdown(wait=not at_once)
            client: Any = getattr(self.executor, "_client", None)  # of Dask
            if client is not None:
                client.close()
            self.executor = None


def make_pool(given: ExecutorLike) -> Pool:
    """Return the pool that an argument or the configuration describes, without starting it.

    Raises:
        ConfigurationError: the value neither is nor describes an executor.
    """
    if isinstance(given, str):
        return _named_pool(given.strip())
    if isinstance(given, Executor):
        return Pool(type(given).__name__, given)
    if callable(given):
        name = getattr(given, "__qualname__", type(given).__qualname__)
        return Pool(f"{name}()", make=given)
    raise ConfigurationError(
        f"executor={quoted(repr(given), 60)} is not an executor; give one of concurrent.futures, a "
        f"function that makes one, or a text: {_FORMS}"
    )


def _named_pool(text: str) -> Pool:
    kind, _, rest = text.partition(":")
    make: Any = None
    if kind == "processes":
        if not rest or (rest.isascii() and rest.isdecimal() and int(rest) > 0):
            make = partial(_process_pool, int(rest) if rest else None)
    elif is_name(text.removesuffix("()")):
        make = named_object(text.removesuffix("()"), "executor")
    if make is None:
        raise ConfigurationError(f"executor '{quoted(text)}' is invalid; write {_FORMS}")
    return Pool(f"'{quoted(text)}'", make=make)


def _process_pool(count: int | None) -> Executor:
    """Return a pool that spawns its processes: a fork of a process with threads can deadlock.

    Without a ``count``, there are as many as there are processors.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))
