"""Checking that a ranker is deterministic: ``assert_deterministic``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.determinism_check import check_determinism
from pytest_rankcheck.behaviour.determinism_options import (
    PROCESS_TIMEOUT,
    VARIED,
    Clock,
    DeterminismOptions,
    Varied,
)
from pytest_rankcheck.behaviour.ranker_sources import Fresh, RankerSources
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.rank import RankOptions
from pytest_rankcheck.rankers.ranker_lookup import load_ranker, specification_of
from pytest_rankcheck.reports.ledger import enter
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.determinism_text import determinism_note, determinism_text

__all__ = ["assert_deterministic"]


@checked_arguments
def assert_deterministic(
    ranker: object,
    golden_set: GoldenSet,
    repeats: int = 3,
    *,
    insensitive_to: Varied | Sequence[Varied] = VARIED,
    threads: int = 4,
    batch_sizes: Sequence[int] = (),
    fresh: Fresh | None = None,
    processes: int | None = None,
    process_timeout: float = PROCESS_TIMEOUT,
    clock: Clock | None = None,
    **options: Unpack[RankOptions],
) -> None:
    """Fail if a ranker does not always rank the documents of a query in the same order.

    It ranks all queries ``repeats`` times, and then again under each condition that applies: with
    other batch sizes (``batch``, ``model``, ``embedder``, ``transformer``), with the queries
    in another order, with its candidates in another order (``scorer``, ``model``), from several
    threads at the same time (an async ranker: one query at a time instead of several), by a new
    instance in reverse order, in new processes, and with the clock shifted.

    A ranker that is given by name, ``package.module:name``, is also asked in new processes; if the
    name ends with ``()``, a new instance is asked too. The fixture ``ranker`` counts as given by
    name if the configuration names it.

    The manual states the number of calls per query with the defaults, and the summary of the test
    session the actual number. If ranking is slow, pass a sample of the golden set. If answers
    differ, more calls confirm the cause: a condition is named if the answers differ in all 5
    further requests under it (or in 7 of 10), and in none of the 5 (or 10) requests without it.

    Args:
        ranker: as for ``rank``; or its name, ``package.module:name``.
        golden_set: the queries; the judgments only matter as candidates.
        repeats: how often the ranker ranks under the same conditions, at least 2.
        insensitive_to: what must not matter: ``"batch"``, ``"order"``, ``"candidates"``,
            ``"threads"``, ``"fresh"``, ``"processes"`` and ``"clock"``; with ``()`` only the
            repeats are compared. It is an error if each of them lacks the argument that it needs.
        threads: how many threads rank at the same time.
        batch_sizes: the batch sizes to try; without it, 1 and half of the ranker's own size.
        fresh: makes a new ranker: a function or class that is called without arguments, or its
            name, ``package.module:make_ranker``.
        processes: how many new processes to ask, each with another hash seed (PYTHONHASHSEED),
            another number of threads (OMP_NUM_THREADS), another locale (LC_ALL) and another time
            zone (TZ), the first, third and so on in reverse order. They import the ranker, or
            ``fresh``, by its name, so it must be at the top level of a module. The default is 2 if
            the name is known, otherwise 0.
        process_timeout: seconds that a new process may take.
        clock: a function that takes a number of seconds and returns a context manager that shifts
            the time by that number.
        options: ``depth``, ``ties``, ``duplicates``, ``doc_id``, ``concurrency``, ``timeout``,
            ``retries`` and ``retry_on``, as for ``rank``.

    Raises:
        AssertionError: a query was ranked differently, or failed; the text says under which
            condition, and shows both rankings.
        RankerError: the ranker fails the first time, or in a new process, or ``fresh`` fails.
        RunError: every ranking is empty.
        ConfigurationError: an argument is invalid, or a new process cannot import the ranker.
    """
    __tracebackhide__ = True
    name = ranker.strip() if isinstance(ranker, str) else specification_of(ranker)
    ranker = load_ranker(ranker) if isinstance(ranker, str) else ranker
    ways = DeterminismOptions(
        repeats,
        (insensitive_to,) if isinstance(insensitive_to, str) else insensitive_to,
        threads,
        batch_sizes,
        has_fresh=fresh is not None,
        has_processes=bool(processes),
        clock=clock,
        process_timeout=process_timeout,
    )
    asked = RepeatedRanker.of(ranker, golden_set, options)
    sources = RankerSources.of(ranker, name, fresh, processes)
    result = check_determinism(asked, golden_set, ways, sources)
    text = determinism_text(golden_set, result) if result.broken else None
    enter(Note(Topic.DETERMINISM, determinism_note(golden_set, result), failure=text))
    if text is not None:
        raise AssertionError(text)
