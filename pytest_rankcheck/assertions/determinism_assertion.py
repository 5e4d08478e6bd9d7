"""Checking that a ranker is deterministic: ``assert_deterministic``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.determinism_check import (
    VARIED,
    Condition,
    DeterminismOptions,
    check_determinism,
)
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.rank import RankOptions
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
    insensitive_to: Condition | Sequence[Condition] = VARIED,
    threads: int = 4,
    batch_sizes: Sequence[int] = (),
    **options: Unpack[RankOptions],
) -> None:
    """Fail if a ranker does not always rank the documents of a query in the same order.

    It ranks all queries ``repeats`` times, and then under other conditions, as far as they apply:
    with the queries in another order, with other batch sizes (``batch``, ``model``, ``embedder``,
    ``transformer``), with its candidates in another order (``scorer``, ``model``), and from
    several threads at the same time (an async ranker: one query at a time instead of several).
    With the defaults that is up to 13 times; if ranking is slow, pass a sample of the golden set.

    Args:
        ranker: as for ``rank``.
        golden_set: the queries; the judgments only matter as candidates.
        repeats: how often the ranker ranks under the same conditions, at least twice.
        insensitive_to: what must not matter: ``"order"``, ``"batch"``, ``"candidates"`` and
            ``"threads"``; with ``()`` only the repeats are compared.
        threads: how many threads rank at the same time.
        batch_sizes: the batch sizes to try; without it, 1 and half of the ranker's own size.
        options: ``depth``, ``ties``, ``duplicates``, ``doc_id``, ``concurrency``, ``timeout``,
            ``retries`` and ``retry_on``, as for ``rank``.

    Raises:
        AssertionError: a query was ranked differently, or failed; the text says under which
            condition, and shows both rankings.
        RankerError: the ranker fails the first time.
        RunError: every ranking is empty.
        ConfigurationError: an argument is invalid.
    """
    __tracebackhide__ = True
    conditions = (insensitive_to,) if isinstance(insensitive_to, str) else insensitive_to
    ways = DeterminismOptions(repeats, conditions, threads, batch_sizes)
    result = check_determinism(RepeatedRanker.of(ranker, golden_set, options), golden_set, ways)
    text = determinism_text(golden_set, result) if result.broken else None
    enter(Note(Topic.DETERMINISM, determinism_note(golden_set, result), failure=text))
    if text is not None:
        raise AssertionError(text)
