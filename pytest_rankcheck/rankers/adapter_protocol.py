"""How rankers are asked: what they are told, what comes back, and trying again."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pytest_rankcheck.errors import RankerError, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query

__all__ = ["Adapter", "Answered", "Asking", "Done", "Order", "Retried", "no_text"]

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0

Retried = type[BaseException] | str
"""An error that is worth another try: its class, or the name of it or of a class it comes from."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What a ranker answered to a query, or why it did not."""

    query: Query
    answer: object = None
    failure: Exception | None = None
    seconds: float = math.nan
    """How long it took: of a batch, its share."""


Order = Callable[[Sequence[int]], Sequence[int]]
"""Puts places into another order."""

Done = Callable[[Answered], None]
"""Is handed each answer as it comes."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What a ranker is asked, and under which conditions."""

    golden: GoldenSet
    depth: int
    concurrency: int = 8
    """How many queries an async ranker works on at the same time."""
    timeout: float | None = None
    """Seconds for one query of an async ranker."""
    retries: int = 0
    """How often a query is tried again after an error of `retry_on`."""
    retry_on: Sequence[Retried] = ()
    first_wait: float = field(default=_FIRST_WAIT)
    """Seconds before the second try; twice as long before each further one."""

    def wait_before(self, tries: int, error: BaseException) -> float | None:
        """Return how long to wait after ``tries`` tries; None if there is no other."""
        if tries > self.retries or not any(_is_named(error, named) for named in self.retry_on):
            return None
        return float(min(self.first_wait * 2 ** (tries - 1), _LONGEST_WAIT))

    def checked(self) -> Asking:
        """Return itself.

        Raises:
            RankerError: a number is out of its range.
        """
        for what, value, least in (
            ("depth", self.depth, 1),
            ("concurrency", self.concurrency, 1),
            ("retries", self.retries, 0),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise RankerError(
                    f"{what}={quoted(value)}: {what} is a whole number of at least {least}"
                )
        if self.timeout is not None and not self.timeout > 0:
            raise RankerError(f"timeout={quoted(self.timeout)}: a timeout is more than 0 seconds")
        return self


def _is_named(error: BaseException, named: Retried) -> bool:
    if isinstance(named, type):
        return isinstance(error, named)
    return any(
        named in (kind.__name__, f"{kind.__module__}.{kind.__qualname__}")
        for kind in type(error).__mro__
    )


class Adapter(ABC):
    """A ranker that is asked in a way of its own: many queries at once, or over the network."""

    name: str
    """What messages call it."""

    @abstractmethod
    def ask(self, asking: Asking, done: Done) -> None:
        """Ask for every query of the golden set; hand on each answer as it comes.

        What goes wrong with a query is its answer's ``failure``; only what makes all of them
        impossible is raised.
        """

    def with_size(self, size: int) -> Adapter | None:
        """Return the same ranker, asked for ``size`` queries at once; None: it is not."""
        return None

    def with_candidates(self, order: Order) -> Adapter | None:
        """Return the same ranker, given its candidates in another order; None if it is given none.

        Args:
            order: takes the places of a query's candidates, and returns them in another order.
        """
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


def no_text() -> RankerError:
    """Return the error of a query without a text, for rankers that want one."""
    return RankerError(
        "the query has no text to give to the ranker; add its text to the golden set "
        "(TREC qrels: a .queries.tsv beside them), or let the ranker take a Query"
    )
