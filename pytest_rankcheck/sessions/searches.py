"""Merging the rows of one search into one event, in logs with a row per impression or click."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.sessions.event_frames import Events, FrameLike
from pytest_rankcheck.sessions.log_cells import Cells
from pytest_rankcheck.sessions.log_sources import Problems
from pytest_rankcheck.sessions.selections import not_shown

_OF_SEARCHES = {
    "event": "min",
    "time": "min",
    "start": "min",
    "end": "max",
    "count": "max",
}
"""How each column of an event is made from its rows."""


def merged(events: Events, problems: Problems) -> Events:
    """Return one event for each search, from one event for each row.

    Rows of a session belong to one search if they have the same search id; without a search id, if
    they have the same event index. An event has the first query, the first list of results and the
    first time of its rows, and all their selections. Without a list, it showed the documents of its
    rows, if these have the ranks from 1 on without a gap and the log has rows that are not
    selections; otherwise what was shown is unknown.

    Args:
        events: one per row, in order.
        problems: collects searches that contradict themselves.
    """
    rows = events.frame
    of_row = _search_of_row(rows)
    _, firsts = np.unique(of_row, return_index=True)
    grouped = rows.groupby(of_row)
    frame = rows[["position", "session"]].iloc[firsts].reset_index(drop=True)
    for name, how in _OF_SEARCHES.items():
        frame[name] = grouped[name].agg(how)
    known = grouped[["query", "results"]].first().astype(object)  # the first that is not missing
    known = known.where(known.notna(), None)
    frame["query"], results = known["query"], known["results"].to_numpy(copy=True)
    clashes = _add_impressions(rows, of_row, results)
    shown = [-1 if each is None else len(each) for each in results]
    lengths = np.array(shown, dtype=np.int64)
    frame["results"] = pd.Series(results, dtype=object)
    frame["count"] = np.where(lengths >= 0, lengths, frame["count"])
    selections = _selections_of_searches(events, of_row, results)
    _note_contradictions(events, of_row, frame, selections["rank"].to_numpy(), problems)
    clash = {row: _clash(rows["document"].iat[row]) for row in clashes.tolist()}
    events.note(clash, problems, "two documents at one rank")
    selections = selections.sort_values("event", kind="stable", ignore_index=True)
    return Events(frame, selections, events.session_ids)


def _selections_of_searches(events: Events, of_row: IntArray, results: Cells) -> FrameLike:
    """Return the selections with their searches as events, in the order of the rows.

    If the row has no rank, it is that of the document; 0 if that is not among the results.
    """
    rows, selections = events.frame, events.selections
    row = selections["event"].to_numpy()
    search, documents = of_row[row], rows["document"].to_numpy()
    ranks = selections["rank"].to_numpy(copy=True)
    for place in np.flatnonzero(ranks == 0).tolist():
        shown, document = results[search[place]] or (), documents[row[place]]
        ranks[place] = shown.index(document) + 1 if document in shown else 0
    times, is_single = selections["time"], np.bincount(of_row)[search] == 1
    times = times.where(times.notna() | is_single, rows["time"].to_numpy()[row])
    return selections.assign(event=search, rank=ranks, time=times)


def _note_contradictions(
    events: Events, of_row: IntArray, searches: FrameLike, ranks: IntArray, problems: Problems
) -> None:
    """Note selections that contradict what their search showed.

    Args:
        events: one per row.
        of_row: the search of each row.
        searches: what each search showed.
        ranks: the rank of each selection, 0 where it is unknown.
        problems: collects the rows.
    """
    rows, row = events.frame, events.selections["event"].to_numpy()
    documents, about = rows["document"].tolist(), rows["rank"].tolist()
    results, counts = searches["results"].tolist(), searches["count"].tolist()
    unknown, beyond, elsewhere = dict[int, str](), dict[int, str](), dict[int, str]()
    for each, rank, search in zip(row.tolist(), ranks.tolist(), of_row[row].tolist(), strict=True):
        document, given, shown = documents[each], about[each], results[search]
        if document is not None and given > 0:
            if shown is not None and shown[given - 1 : given] != (document,):
                elsewhere[each] = (
                    f"the selected document '{quoted(document)}' is not result {given} of its "
                    "search, as its rank says; is first_rank right?"
                )
        elif rank == 0:
            unknown[each] = not_shown(document, shown)
        elif 0 <= counts[search] < rank:
            beyond[each] = (
                f"the search showed {plural(counts[search], 'result')}, fewer than the selected "
                "rank needs; is first_rank right?"
            )
    for reason, wrong in (
        ("unknown rank", unknown),
        ("rank beyond the results", beyond),
        ("rank and document disagree", elsewhere),
    ):
        events.note(wrong, problems, reason)


def _clash(document: str) -> str:
    """Return the problem that a search shows another document at the same rank."""
    return (
        f"'{quoted(document)}' and another document have the same rank in one search; name the "
        "column with the id of the search: columns={'search': ...}"
    )


def _search_of_row(rows: FrameLike) -> IntArray:
    """Return the number of each row's search, in the order of their first rows, ``[N]``."""
    search, event = rows["search"], rows["event"]
    kind = np.where(search.notna(), 0, np.where(event.notna(), 1, 2))
    codes = (pd.factorize(search)[0], pd.factorize(event)[0], np.arange(len(rows)))
    keys = (rows["session"].to_numpy() * 3 + kind) * (len(rows) + 1) + np.choose(kind, codes)
    numbers: IntArray = pd.factorize(keys)[0]
    return numbers


def _add_impressions(rows: FrameLike, of_row: IntArray, results: Cells) -> IntArray:
    """Add what searches without a list showed, by their rows; return rows that contradict others.

    There is no list if the ranks have a gap, or if only selections are logged. Two documents
    at one rank are a contradiction.
    """
    about = rows[["document", "rank", "is_selection"]].assign(search=of_row)
    about = about[about["document"].notna() & (about["rank"] > 0)]
    if about["is_selection"].all():
        return of_row[:0]
    about = about.sort_values(["search", "rank"], kind="stable")
    is_again = about.duplicated(["search", "rank"])
    is_clash = is_again & (about["document"] != about["document"].shift())
    about = about[~is_again]
    search, rank = about["search"].to_numpy(), about["rank"].to_numpy()
    documents = about["document"].tolist()
    starts = np.flatnonzero(np.diff(search, prepend=-1))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(search)], strict=True):
        if results[search[start]] is None and rank[end - 1] == end - start:
            results[search[start]] = tuple(documents[start:end])
    clashes: IntArray = is_clash.index[is_clash].to_numpy()
    return clashes
