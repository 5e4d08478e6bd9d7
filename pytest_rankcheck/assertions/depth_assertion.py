"""Checking that the top of a ranking does not depend on its depth: ``assert_consistent_depth``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.depth_consistency import check_depths
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.rank import RankOptions
from pytest_rankcheck.rankers.ranker_lookup import load_ranker
from pytest_rankcheck.reports.depth_findings import DepthFinding
from pytest_rankcheck.reports.ledger import enter
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.depth_text import depth_note, depth_text

__all__ = ["assert_consistent_depth"]


@checked_arguments
def assert_consistent_depth(
    ranker: object,
    golden_set: GoldenSet,
    depths: Sequence[int] = (10, 20, 50),
    **options: Unpack[RankOptions],
) -> None:
    """Fail if the top of a ranking changes when the ranker is asked for more documents.

    An approximate index searches further when it is asked for more documents: its top 10 at depth
    100 is better than the top 10 that users see. Every query is ranked once at each depth; for
    every two depths, the ranking at the smaller one must be the start of the ranking at the larger
    one. If it is not, more calls confirm that the depth is the cause.

    Args:
        ranker: as for ``rank``, with a parameter ``depth`` or ``k``; or its name,
            ``package.module:name``.
        golden_set: the queries; with judgments, the failure shows nDCG, cut at the smallest depth,
            for each requested depth.
        depths: two or more depths.
        options: ``ties``, ``duplicates``, ``doc_id``, ``concurrency``, ``timeout``, ``retries`` and
            ``retry_on``, as for ``rank``.

    Raises:
        AssertionError: the top of a query differs between two depths; the text shows both tops.
        RankerError: the ranker fails.
        RunError: every ranking is empty.
        ConfigurationError: an argument is invalid; or the ranker does not take the depth, so the
            check could not fail.
    """
    __tracebackhide__ = True
    if "depth" in options:
        _refuse_depth()
    asked = load_ranker(ranker) if isinstance(ranker, str) else ranker
    result = check_depths(RepeatedRanker.of(asked, golden_set, options), golden_set, depths)
    text = depth_text(golden_set, result) if result.broken else None
    enter(Note(Topic.DEPTH, depth_note(golden_set, result), failure=text))
    if text is None:
        return
    if not result.is_random:
        for pair in result.broken:
            enter(
                DepthFinding(
                    golden_set.name,
                    result.ranker,
                    pair.shallow,
                    pair.deep,
                    len(pair.differences),
                    result.queries,
                )
            )
    raise AssertionError(text)


def _refuse_depth() -> None:
    from pytest_rankcheck.errors import ConfigurationError

    raise ConfigurationError("depth= has no effect here; give depths=(10, 20, 50)")
