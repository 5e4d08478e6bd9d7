"""Checks for ids that merge several searches into one, or split one into several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import SessionLogError, listed, quoted
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.sessions.event_columns import Events
from pytest_rankcheck.sessions.searches import RowItems

__all__ = ["refuse_shared_searches", "refuse_split_searches"]

_MANY = 0.1
"""If a larger share of searches or rows is affected, the ids are wrong, not the data."""


def refuse_shared_searches(
    search: IntArray, events: Events, column: str, names: Sequence[str], ids: Sequence[str]
) -> None:
    """Refuse ids of query texts as ids of searches: they would merge repeated searches.

    An id that occurs in several sessions may also number the searches within each session; then it
    has different query texts. A few searches may be in two sessions, because a session ended while
    a page was open.

    Args:
        search: ``[N]`` the code of the search of each row; -1 if the row does not say.
        events: one per row.
        column: the column of searches.
        names: the id of each search.
        ids: the id of each session.

    Raises:
        SessionLogError: more than a tenth of the searches are in several sessions with the same
            query text; or, without query texts, with a column that is not called search_id.
    """
    sessions = _distinct(search, events.session)
    found, counts = np.unique(sessions[0], return_counts=True)
    is_shared = counts > 1
    has_text = events.query >= 0
    texts = _distinct(search[has_text], events.query[has_text])[0]
    if not has_text.any():
        is_shared &= normalised_name(column) != "search_id"
    is_shared &= np.bincount(texts, minlength=len(names))[found] <= 1
    if not is_shared.sum() > _MANY * len(found):
        return
    most = int(np.argmax(np.where(is_shared, counts, 0)))
    shown = [ids[code] for code in sessions[1][sessions[0] == found[most]].tolist()]
    raise SessionLogError(
        f"the column '{quoted(column)}' seems to name query texts instead of searches: "
        f"'{quoted(names[found[most]])}' is in {counts[most]:,} sessions ({listed(shown, 3)}), and "
        f"{is_shared.mean():.0%} of its values are in several. Name the column that tells searches "
        "apart: columns={'search': ...}; if it is this one, because it numbers the searches of "
        f"each session, write columns={{'search': '{quoted(column)}'}}"
    )


def refuse_split_searches(events: Events, items: RowItems, source: str) -> None:
    """Refuse rows if several of them belong to one search, but no column says to which.

    Each row would count as an event that showed one document.

    Args:
        events: one per row.
        items: the documents of the rows.
        source: the log, for messages.

    Raises:
        SessionLogError: more than a tenth of the rows have the session, the time and the query of
            another row, with a document at another rank.
    """
    alone = np.flatnonzero((items.search < 0) & np.isnan(events.event) & (items.rank > 0))
    if not len(alone):
        return
    times = np.unique(np.nan_to_num(events.time[alone], nan=-1.0), return_inverse=True)[1]
    keys = np.lexsort((items.rank[alone], events.query[alone], times, events.session[alone]))
    columns = [each[keys] for each in (events.session[alone], times, events.query[alone])]
    ranks = items.rank[alone][keys]
    is_same = np.all([column[1:] == column[:-1] for column in columns], axis=0)
    is_same &= ranks[1:] != ranks[:-1]
    in_search = np.append(is_same, False) | np.append(False, is_same)
    if not in_search.sum() > _MANY * len(events):
        return
    raise SessionLogError(
        f"{source}: {in_search.mean():.0%} of the rows have the session, the time and the query of "
        "another row with another rank, so they are parts of one search, but no column says which. "
        "Name the column that tells searches apart: columns={'search': ...}. Without one, the "
        "column of the query text serves, if few people search for the same text twice: "
        "columns={'search': 'query'}"
    )


def _distinct(search: IntArray, other: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs of two codes; both codes must be 0 or more."""
    rows = np.flatnonzero(search >= 0)
    width = 1 + int(other.max(initial=0))
    return divmod(np.unique(search[rows] * width + other[rows]), width)
