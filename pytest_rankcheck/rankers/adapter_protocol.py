"""The adapter protocol: what a ranker is asked, what it answers, and when it is retried."""

from __future__ import annotations

import inspect
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.errors import RankcheckError, RankerError, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.ranking_forms import plain_answer

_FIRST_WAIT = 0.5
"""Seconds before the first retry; doubled before each further one."""
_LONGEST_WAIT = 30.0

RetriedError = type[BaseException] | str
"""An error worth retrying: its class, or the name of its class or of a base class."""


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """A ranker's answer to a query, or why it failed."""

    query: Query
    answer: object = None
    failure: Exception | None = None
    seconds: float = math.nan
    """How long it took; for a batch, the query's share."""
    batch: int = 1
    """How many queries were asked together."""

    def plain(self) -> QueryAnswer:
        """Return the same answer as plain data; one that is not a ranking becomes a failure."""
        if self.failure is not None:
            return self
        try:
            return replace(self, answer=plain_answer(self.answer, self.query.id))
        except Exception as error:  # a generator may raise while it is read
            return replace(self, answer=None, failure=error)


OnAnswer = Callable[[QueryAnswer], None]
"""Called with each answer as it arrives."""


@dataclass(frozen=True, slots=True)
class RankingTask:
    """The queries to rank, the depth, and how to run and retry them."""

    golden: GoldenSet
    depth: int
    concurrency: int = 8
    """How many queries an async ranker processes at the same time."""
    timeout: float | None = None
    """Time limit for one query of an async ranker, in seconds."""
    retries: int = 0
    """How often a query is retried after an error listed in `retry_on`."""
    retry_on: Sequence[str] = ()
    """The names of the classes of these errors, with or without their modules."""
    failures: int = 0
    """How many queries may fail after their retries."""

    def wait_before(self, tries: int, error: BaseException) -> float | None:
        """Return how many seconds to wait after ``tries`` tries; None if no retries are left."""
        names = {name for kind in type(error).__mro__ for name in (kind.__name__, full_name(kind))}
        if tries > self.retries or names.isdisjoint(self.retry_on):
            return None
        return float(min(_FIRST_WAIT * 2 ** (tries - 1), _LONGEST_WAIT))

    def tried(self, ask: Callable[[], object]) -> tuple[Any, Exception | None, float]:
        """Return an answer, or the error of the last allowed try, and how long that try took."""
        tries = 0
        while True:
            tries += 1
            start = time.perf_counter()
            try:
                answer = ask()
                if inspect.isgenerator(answer):  # nothing has been ranked until it is consumed
                    answer = list(answer)
            except Exception as error:  # whatever a ranker raises is reported with its query
                seconds, wait = time.perf_counter() - start, self.wait_before(tries, error)
                if wait is None:
                    return None, error, seconds
                time.sleep(wait)
            else:
                return answer, None, time.perf_counter() - start

    def checked(self) -> RankingTask:
        """Return the task, validated.

        Raises:
            RankerError: a number is out of range.
        """
        check_whole_number("depth", self.depth, 1, RankerError)
        check_whole_number("concurrency", self.concurrency, 1, RankerError)
        check_whole_number("retries", self.retries, 0, RankerError)
        if self.timeout is not None and not self.timeout > 0:
            raise RankerError(
                f"timeout={quoted(self.timeout)} is invalid; a timeout is more than 0 seconds"
            )
        return self


def full_name(kind: type) -> str:
    """Return the name of a class with that of its module."""
    return f"{kind.__module__}.{kind.__qualname__}"


class Adapter(ABC):
    """A way of asking a ranker: one query at a time, many at once, or over the network."""

    name: str
    """The ranker's name in messages."""
    honours_timeout: bool = False
    """Whether it gives up a query after `RankingTask.timeout`."""
    is_async: bool = False
    """Whether it asks several queries at the same time by itself, so it cannot use an executor."""
    notes: Sequence[str] = ()
    """What a reader of the run must know, as sentences; complete when `ask` has returned."""

    @abstractmethod
    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Ask every query of the golden set, and pass on each answer as it arrives.

        An error with a single query becomes its answer's ``failure``; only errors that affect all
        queries are raised.
        """

    @property
    def takes_depth(self) -> bool:
        """Whether the ranker receives the requested depth, so its answers may depend on it."""
        return False

    def with_size(self, size: int) -> Adapter | None:
        """Return the same ranker with batches of ``size`` queries; None if it takes no batches."""
        return None

    def sees(self, attribute: str) -> bool:
        """Whether the ranker receives this attribute, so its answers may depend on it."""
        return True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


def error_text(error: BaseException) -> str:
    """Return what an error says, with its type if it comes from the user's code."""
    if isinstance(error, RankcheckError):
        return str(error)
    return f"{type(error).__name__}: {quoted(error, 500)}"


def made_by(make: Callable[[], object], problem: str) -> object:
    """Return what a function of the user creates.

    Raises:
        RankerError: it fails; the message begins with the ``problem``.
        RankcheckError: the function raises one itself.
    """
    try:
        return make()
    except RankcheckError:
        raise
    except Exception as error:
        raise RankerError(f"{problem}: {error_text(error)}") from error


def no_text(instead: str = "") -> RankerError:
    """Return the error for a query without a text, for rankers that need one.

    Args:
        instead: what to do for a ranker that needs no text; empty if it always needs one.
    """
    other = f", or {instead}" if instead else ""
    return RankerError(
        "the query has no text to give to the ranker; add a column query, a .queries.tsv beside "
        f"TREC qrels, or a second table, GoldenSet.from_frame(judgments, queries){other}"
    )
