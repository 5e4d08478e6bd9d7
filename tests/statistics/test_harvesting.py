"""Propensities from documents that rankers put at different ranks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_rankcheck.statistics.intervention_harvesting import Impressions, harvested


def seen(*cells: tuple[int, int, int, int]) -> Impressions:
    """Return impressions, each of its own session: (document, rank, impressions, selections)."""
    rows = [
        (unit, rank, place < selections)
        for unit, rank, impressions, selections in cells
        for place in range(impressions)
    ]
    unit, rank, selected = zip(*rows, strict=True)
    return Impressions(np.array(unit), np.array(rank), np.array(selected), np.arange(len(rows)))


def test_one_document_at_two_ranks() -> None:
    """Rates of 40 / 100 at rank 1 and 15 / 50 at rank 2: a propensity of 0.3 / 0.4.

    The delta method: each impression has the variance c (1 - c) of a coin, so the logarithm of the
    ratio has (1 - 0.4) / 40 + (1 - 0.3) / 15.
    """
    harvest = harvested(seen((0, 1, 100, 40), (0, 2, 50, 15)))
    assert harvest is not None
    assert harvest.ranks.tolist() == [1, 2]
    assert harvest.chances == pytest.approx([1, 0.75])
    assert harvest.errors == pytest.approx([0, (0.6 / 40 + 0.7 / 15) ** 0.5])
    assert (harvest.units, harvest.impressions, harvest.selections) == (1, 150, 55)


def test_how_good_documents_are_does_not_matter() -> None:
    """Both documents have half of the rate at rank 2; the better one is shown there more often.

    All impressions together would say (5 + 36) / (50 + 90) to (10 + 8) / (50 + 10), almost the same.
    """
    harvest = harvested(seen((0, 1, 50, 10), (0, 2, 50, 5), (1, 1, 10, 8), (1, 2, 90, 36)))
    assert harvest is not None
    assert harvest.chances == pytest.approx([1, 0.5])


def test_ranks_are_connected_by_chains() -> None:
    """Nobody compares ranks 1 and 5 directly: 1 to 3 is 1 to 1/2, and 3 to 5 is 1/2 to 1/5."""
    harvest = harvested(seen((0, 1, 100, 60), (0, 3, 100, 30), (1, 3, 100, 50), (1, 5, 100, 20)))
    assert harvest is not None
    assert harvest.ranks.tolist() == [1, 3, 5]
    assert harvest.chances == pytest.approx([1, 0.5, 0.2])


def test_selections_of_what_is_not_good() -> None:
    """Rates of 0.5 and 0.3 less betas of 0.1 and 0.05 are 0.4 and 0.25, a propensity of 0.625.

    A second document has 3 selections in 20 impressions at rank 1 and none in 20 at rank 2: 1 more
    and 1 less than the betas, none in all. So there are 40 + 1 and 12.5 - 1 beyond the betas, of
    which the first one's 52.5 are spread as 100 to 50 p: p = 2 * 11.5 / 41.
    """
    first = [(0, 1, 100, 50), (0, 2, 50, 15)]
    for cells, expected in (
        (first, 0.625),
        ([*first, (1, 1, 20, 3), (1, 2, 20, 0)], 2 * 11.5 / 41),
    ):
        shown = seen(*cells)
        harvest = harvested(replace(shown, beta=np.where(shown.rank == 1, 0.1, 0.05)))
        assert harvest is not None
        assert harvest.chances == pytest.approx([1, expected])


def test_what_says_nothing_is_left_out() -> None:
    useful = [(0, 1, 100, 40), (0, 2, 50, 10)]
    at_one_rank, never_selected = (1, 1, 70, 60), [(2, 1, 9, 0), (2, 2, 9, 0)]
    unconnected = [(3, 7, 10, 2), (3, 8, 10, 1)]
    without_selections = [(4, 1, 10, 3), (4, 9, 30, 0)]
    harvest = harvested(
        seen(*useful, at_one_rank, *never_selected, *unconnected, *without_selections)
    )
    assert harvest is not None
    assert harvest.ranks.tolist() == [1, 2]
    assert harvest.chances == pytest.approx([1, 0.5])
    assert harvest.units == 1
    assert harvested(seen(at_one_rank, *never_selected)) is None


def test_a_lower_rank_that_is_looked_at_more_often_is_the_reference() -> None:
    harvest = harvested(seen((0, 1, 100, 20), (0, 2, 100, 40)))
    assert harvest is not None
    assert harvest.chances == pytest.approx([0.5, 1])
    assert harvest.errors[1] == 0


def test_sessions_are_independent_and_impressions_are_not() -> None:
    """If every session is counted twice, the errors stay the same."""
    once = seen((0, 1, 100, 40), (0, 2, 50, 15))
    twice = Impressions(
        *(np.tile(column, 2) for column in (once.unit, once.rank, once.selected, once.session))
    )
    first, second = harvested(once), harvested(twice)
    assert first is not None
    assert second is not None
    assert second.errors == pytest.approx(first.errors)
