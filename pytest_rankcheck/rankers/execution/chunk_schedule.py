"""Deciding which chunk is asked next: a bounded window, and halves of lost chunks.

A chunk is lost if its worker dies. When a pool of processes breaks, all running chunks are lost
together, and any of them may be the cause. So they become suspects, which are asked whole, one at a
time. A chunk that is lost while it runs alone is guilty: it is halved until it holds one query, and
that query is given up after its third try.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

__all__ = ["MOST_TRIES", "Chunk", "ChunkSchedule"]

MOST_TRIES = 3
"""How often a query is asked alone before it is given up."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Queries that are sent together."""

    number: int
    """Identifies this try."""
    query_ids: Sequence[str]
    tries: int = 0
    """How often this chunk was lost while it ran alone, so that it is guilty."""
    together: int = 0
    """How often it was lost together with others."""
    is_suspect: bool = False
    """Whether it, or the chunk that it is a half of, was lost before; then it is asked alone."""


class ChunkSchedule:
    """The chunks of a run that are waiting, running, or suspected of killing workers."""

    def __init__(self, query_ids: Iterable[str], size: int, window: int) -> None:
        """Divide queries into chunks, which are made only when needed.

        Args:
            query_ids: the queries to rank.
            size: the most queries in a chunk.
            window: the most chunks that are running at the same time.
        """
        self._fresh = _chunks(query_ids, size)
        self._window = window
        self._number = 0
        self._next: Sequence[str] | None = next(self._fresh, None)
        self._running: dict[int, Chunk] = {}
        self._accompanied: set[int] = set()
        self._suspects: deque[Chunk] = deque()

    @property
    def is_done(self) -> bool:
        """Whether every chunk has been answered or given up."""
        return self._next is None and not self._running and not self._suspects

    def start(self) -> Chunk | None:
        """Return a chunk to submit now, and count it as running; None if no chunk may start."""
        if self._suspects:
            if self._running:
                return None
            return self._started(self._suspects.popleft())
        if self._next is None or len(self._running) >= self._window or self._is_on_trial:
            return None
        query_ids, self._next = self._next, next(self._fresh, None)
        return self._started(Chunk(0, query_ids))

    @property
    def _is_on_trial(self) -> bool:
        """Whether a chunk that was lost before is running, so that no other may start."""
        return any(chunk.is_suspect for chunk in self._running.values())

    def _started(self, chunk: Chunk) -> Chunk:
        self._number += 1
        started = replace(chunk, number=self._number)
        self._running[started.number] = started
        if len(self._running) > 1:
            self._accompanied.update(self._running)
        return started

    def answered(self, chunk: Chunk) -> None:
        """Note that the answers of a running chunk have arrived."""
        self._ended(chunk)

    def lost(self, chunk: Chunk) -> bool:
        """Note that a running chunk was lost, and return whether its only query is given up."""
        if self._ended(chunk):
            again = replace(chunk, together=chunk.together + 1, is_suspect=True)
            self._suspects.append(again)
            return False
        if len(chunk.query_ids) > 1:
            middle = (len(chunk.query_ids) + 1) // 2
            halves = (chunk.query_ids[:middle], chunk.query_ids[middle:])
            self._suspects.extendleft(Chunk(0, half, is_suspect=True) for half in reversed(halves))
            return False
        # The query is known to kill workers now, so it also caused the earlier losses.
        tries = chunk.tries + 1 + chunk.together
        if tries >= MOST_TRIES:
            return True
        self._suspects.appendleft(replace(chunk, tries=tries, together=0, is_suspect=True))
        return False

    def _ended(self, chunk: Chunk) -> bool:
        """Remove a running chunk, and return whether others were running at the same time."""
        del self._running[chunk.number]
        was_accompanied = chunk.number in self._accompanied
        self._accompanied.discard(chunk.number)
        return was_accompanied


def _chunks(query_ids: Iterable[str], size: int) -> Iterator[Sequence[str]]:
    waiting = iter(query_ids)
    while chunk := tuple(islice(waiting, size)):
        yield chunk
