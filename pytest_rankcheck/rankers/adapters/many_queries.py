"""Asking for several queries at once: what all such adapters share."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import islice

from pytest_rankcheck.errors import RankerError, quoted
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, Answered, Asking, Done, no_text

__all__ = ["AtOnce", "checked_size"]


class AtOnce(Adapter):
    """A ranker that is asked for some queries at once."""

    size: int | None
    """How many queries are asked for at once; None for all."""
    needs_text = True

    @abstractmethod
    def answers(self, queries: Sequence[Query], asking: Asking) -> Sequence[object]:
        """Return an answer for each query, in their order.

        Raises:
            Exception: whatever goes wrong; all these queries have failed then.
        """

    def with_size(self, size: int) -> Adapter | None:
        """Return the same ranker, asked for ``size`` queries at once."""
        other = copy(self)
        other.size = size
        return other

    def ask(self, asking: Asking, done: Done) -> None:
        """Ask for one batch after the other; each query is told its share of the time."""
        __tracebackhide__ = True
        queries = iter(asking.golden)
        while batch := list(islice(queries, self.size or len(asking.golden))):
            for answered in self._answered(batch, asking):
                done(answered)

    def _answered(self, batch: Sequence[Query], asking: Asking) -> Iterator[Answered]:
        __tracebackhide__ = True
        asked = [query for query in batch if query.text is not None or not self.needs_text]
        start = time.perf_counter()
        answers, failure = self._tried(asked, asking) if asked else ({}, None)
        share = (time.perf_counter() - start) / max(1, len(asked))
        for query in batch:
            if query.text is None and self.needs_text:
                yield Answered(query, failure=no_text())
            elif failure is not None:
                yield Answered(query, failure=failure, seconds=share)
            else:
                yield Answered(query, answers[query.id], seconds=share)

    def _tried(
        self, asked: Sequence[Query], asking: Asking
    ) -> tuple[dict[str, object], Exception | None]:
        """Return the answers by query, or why there are none, after as many tries as allowed."""
        __tracebackhide__ = True
        tries = 0
        while True:
            tries += 1
            try:
                given = self.answers(asked, asking)
                return dict(zip((query.id for query in asked), given, strict=True)), None
            except Exception as error:  # whatever a ranker raises is reported with its query
                wait = asking.wait_before(tries, error)
                if wait is None:
                    return {}, error
                time.sleep(wait)


def checked_size(size: int | None, what: str = "size") -> int | None:
    """Return the size of a batch.

    Raises:
        RankerError: it is less than 1.
    """
    is_size = isinstance(size, int) and not isinstance(size, bool) and size >= 1
    if size is not None and not is_size:
        raise RankerError(f"{what}={quoted(size)}: {what} is a whole number of at least 1")
    return size
