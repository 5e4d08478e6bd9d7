"""Ranking that can be interrupted: answers are kept as they arrive and not requested again."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.golden_chunks import chunk_of
from pytest_rankcheck.rankers.adapter_protocol import Adapter, OnAnswer, QueryAnswer, RankingTask
from pytest_rankcheck.rankers.execution.kept_answers import KeptAnswer, KeptAnswers
from pytest_rankcheck.rankers.execution.plain_answers import plain_answer
from pytest_rankcheck.rankers.execution.undeclared_inputs import (
    InputRule,
    unwatched,
    watched_inputs,
)

__all__ = ["ResumedRanker"]

_MOST_SECONDS = 30.0
"""After this time, answers are written even if a chunk is incomplete."""


class ResumedRanker(Adapter):
    """A ranker that is asked only the queries without a kept answer."""

    def __init__(
        self, ranker: Adapter, kept: KeptAnswers, chunk: int, watched: InputRule | None
    ) -> None:
        """Prepare to ask.

        Args:
            ranker: the ranker.
            kept: the folder, already opened.
            chunk: how many answers are written together.
            watched: the inputs that the ranker may read in this process; None if not watched.
        """
        self._ranker = ranker
        self._kept = kept
        self._chunk = chunk
        self._watched = watched
        self._new: dict[str, KeptAnswer] = {}
        self._answered: set[str] = set()
        """The queries whose first answer, the one that counts, has arrived."""
        self._written = time.monotonic()
        self.name = ranker.name
        self.honours_timeout = ranker.honours_timeout

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Pass on the kept answers, and ask the other queries."""
        __tracebackhide__ = True
        golden, kept = task.golden, self._kept.answers
        known = [query for query in golden if query.id in kept]
        for query in known:
            found = kept[query.id]
            on_answer(QueryAnswer(query, found.answer.value, seconds=found.seconds))
        unknown = [query_id for query_id in golden.query_ids if query_id not in kept]
        try:
            if unknown:
                part = golden if not known else chunk_of(golden, unknown)
                self._ask(replace(task, golden=part), on_answer)
        finally:
            self._keep()
        self.notes = [*self._ranker.notes, *self._resumed_note(len(known), len(unknown))]

    def _ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        __tracebackhide__ = True
        rule = self._watched
        with watched_inputs(active=rule is not None) as inputs:

            def kept(answer: QueryAnswer) -> None:
                with unwatched():
                    if rule is not None:
                        rule.check(inputs.taken())
                    on_answer(self._noted(answer))

            self._ranker.ask(task, kept)

    def _noted(self, answer: QueryAnswer) -> QueryAnswer:
        """Keep an answer, unless the query failed; return it in the form that is read back."""
        if answer.failure is not None:
            return answer
        try:
            plain = plain_answer(answer.answer, answer.query.id)
        except Exception as error:  # a generator may raise while it is read
            return replace(answer, answer=None, failure=error)
        if answer.query.id not in self._answered:
            self._answered.add(answer.query.id)
            self._new[answer.query.id] = KeptAnswer(plain, answer.seconds)
        is_late = time.monotonic() - self._written >= _MOST_SECONDS
        if len(self._new) >= self._chunk or is_late:
            self._keep()
        return replace(answer, answer=plain.value)

    def _keep(self) -> None:
        if self._new:
            self._kept.keep(self._new)
            self._new = {}
        self._written = time.monotonic()

    def _resumed_note(self, known: int, unknown: int) -> list[str]:
        if not known:
            return []
        times = sorted(self._kept.times)
        first, last = f"{times[0]:%Y-%m-%d %H:%M}", f"{times[-1]:%Y-%m-%d %H:%M}"
        when = first if first == last else f"{first} to {last}"
        folder = self._kept.folder
        shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
        were = "was" if known == 1 else "were"
        now = f"{unknown:,} {'was' if unknown == 1 else 'were'} ranked now"
        text = (
            f"{known:,} of {plural(known + unknown, 'query', 'queries')} {were} ranked before "
            f"({when} UTC) and read from {quoted(shown.as_posix(), 200)}; {now}"
        )
        return [text]
