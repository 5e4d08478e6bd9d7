"""User Behavior Insights: queries and events are joined to one row for each search.

The fields are those of the schemas 1.0 to 1.3 (https://github.com/o19s/ubi), as OpenSearch and
Elasticsearch record them. A dump may have them within ``_source``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from pytest_rankcheck.argument_checks import library_of_frame
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import (
    ConfigurationError,
    SessionLogError,
    listed,
    plural,
    quoted,
    suggestion,
)
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.row_numbering import JoinedNumbering
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.sessions.event_frames import FrameLike, description
from pytest_rankcheck.sessions.event_sessions import names_by_start
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import (
    Cells,
    Errors,
    converted,
    id_lists,
    id_of,
    is_placeholder,
    numbers,
    objects,
)
from pytest_rankcheck.sessions.log_contents import LogContents
from pytest_rankcheck.sessions.log_files import LogFiles, table_of_records
from pytest_rankcheck.sessions.log_layouts import ROLES
from pytest_rankcheck.sessions.log_options import LogOptions, Reading, checked_grade, choices_text
from pytest_rankcheck.sessions.log_problems import LogSource, Problems, positions
from pytest_rankcheck.sessions.log_reader import read_log
from pytest_rankcheck.sessions.nested_columns import object_in, with_nested
from pytest_rankcheck.sessions.selections import UsableRows

if TYPE_CHECKING:
    from pytest_rankcheck.files.frame_tables import Frame


UbiSource: TypeAlias = (
    "str | PathLike[str] | Sequence[str | PathLike[str]] | Iterable[Mapping[str, object]] | Frame"
)
"""Files, a table in memory, or dicts."""

_IMPRESSION = "impression"
_ROWS = 1 << 31
"""More rows than the queries have; the events are numbered from here on."""
_HITS = "query_response_hit_ids"
_IDS = ("query_id", "session_id", "client_id", "user_id", "object_id", "internal_id")
_FIELDS: dict[str, Sequence[str]] = {
    **{name: (name,) for name in (*_IDS[:4], "timestamp", "user_query", "query_attributes")},
    _HITS: (_HITS, "query_response_objects_ids"),
    "action_name": ("action_name",),
    "object_id": ("event_attributes.object.object_id", "object_id"),
    "internal_id": ("event_attributes.object.internal_id", "internal_id"),
    "ordinal": ("event_attributes.position.ordinal", "ordinal"),
}
"""The fields of queries and events, and the columns that they may be in: the last three are nested,
or columns of a table."""

_TAKEN = frozenset(name for role in ROLES for name in (role.name, *role.names, *role.otherwise))
"""The names of columns that mean something in a log; attributes must have others."""


def ubi_log(
    queries: UbiSource,
    events: UbiSource,
    *,
    select: str | Sequence[str],
    grades: Mapping[str, float] | None,
    columns: Mapping[str, str],
    is_lenient: bool,
    reading: Reading,
) -> LogContents:
    """Read queries and events as a log; `SessionLog.from_ubi` describes the arguments.

    Raises:
        SessionLogError: a file or a row cannot be read, or no event has one of the actions.
        ConfigurationError: an argument is invalid.
    """
    # The join finds which events are selections, and which were delivered twice.
    options = LogOptions.of({**reading, "selections_where": "all", "duplicates": "keep"})
    if options.gap is None:
        raise ConfigurationError('session_gap=None is invalid; give a pause, such as "30min"')
    of_actions = _grades(select, grades)
    _check_fields(columns)
    problems, numbering = Problems("queries", is_lenient=is_lenient), JoinedNumbering("queries")
    problems.numbering = numbering
    asked, done = (
        _source(name, source, columns, problems, numbering)
        for name, source in (("queries", queries), ("events", events))
    )
    _check_sources(asked, done, columns)
    searches = _Join(of_actions, options, problems).searches(asked.rows, done.rows)
    problems.source = numbering.parts[0][1].source
    given = {
        "grades": of_actions,
        "session_gap": options.gap,
        "columns": columns,
        "first_rank": options.first_rank,
        "lenient": is_lenient or None,
        "drop_sessions_over": options.drop_sessions_over,
    }
    table = _table(searches, numbering)
    log = read_log(table, replace(options, first_rank=None, gap=None, is_ubi=True), problems)
    return replace(log, reading=f"ubi({choices_text(given)})")


def _grades(select: str | Sequence[str], grades: Mapping[str, float] | None) -> dict[str, float]:
    """Return the grade of each action that is a selection, by its name in lower case."""
    found = dict.fromkeys([select] if isinstance(select, str) else select, 1.0) | dict(grades or {})
    if not found:
        raise ConfigurationError('no action is a selection; give one, such as select=("click",)')
    return {str(name).strip().casefold(): checked_grade(name, each) for name, each in found.items()}


def _check_fields(columns: Mapping[str, str]) -> None:
    for name in columns:
        if name not in _FIELDS:
            raise ConfigurationError(
                f"columns: unknown field '{quoted(name)}'{suggestion(name, _FIELDS)}; the fields "
                f"of User Behavior Insights are {', '.join(_FIELDS)}"
            )


@dataclass(frozen=True, slots=True)
class _Source:
    """The queries or the events."""

    rows: FrameLike
    """One row for each that can be used, in the order of their times (those without one last): a
    column for each field, None or NaN where it is unknown; ``seconds``; and the row's ``number``.
    """
    times: Collection[str]
    """The kinds of its times."""
    known: Mapping[str, None]
    """The columns of the source, and the dotted names of fields in them."""


def _source(
    name: str,
    source: UbiSource,
    columns: Mapping[str, str],
    problems: Problems,
    numbering: JoinedNumbering,
) -> _Source:
    """Return the queries or the events, and add their numbering to that of both.

    Raises:
        SessionLogError: a file cannot be read, or its times are of several kinds.
    """
    clock, after, known = Clock(None), len(numbering.parts) * _ROWS, dict[str, None]()
    table = _opened(source, name, problems, after)
    numbering.parts.append((after, table.numbering))
    places = {
        field: [*filter(None, [columns.get(field)]), *usual, *(f"_source.{each}" for each in usual)]
        for field, usual in _FIELDS.items()
    }
    wanted = [path for paths in places.values() for path in paths]
    frames = [pd.DataFrame(columns=["number", *_FIELDS], dtype=object)]
    for batch in table.batches():
        columns_of_batch = {each: batch.column(at) for at, each in enumerate(batch.header)}
        found = with_nested(columns_of_batch, wanted)
        known |= dict.fromkeys(found)
        size, at = len(batch), [number + after for number in batch.numbers]
        nobody, all_rows = objects([None] * size), np.ones(size, dtype=bool)
        usable = UsableRows(nobody, positions(at), problems, all_rows)
        frame: dict[str, Any] = {"number": at}
        for field, paths in places.items():
            column = next((found[path] for path in paths if path in found), None)
            frame[field] = nobody
            if column is not None:
                cells, errors = _cells(field, column, clock, usable)
                usable.refuse(errors, f"bad {field}", f"{field}: ")
                frame[field] = pd.Series(cells, dtype=object)
        frames.append(pd.DataFrame(frame)[usable.mask])
    clock.refuse_mixture(problems.place, are_seconds=True)
    rows = pd.concat(frames, ignore_index=True).rename(columns={"timestamp": "seconds"})
    rows = rows.astype(dict.fromkeys(("number", "seconds", "ordinal"), float))
    rows = rows.sort_values(["seconds", "number"], kind="stable", ignore_index=True)
    return _Source(rows, clock.kinds, known)


def _cells(
    field: str, column: Column, clock: Clock, usable: UsableRows
) -> tuple[Sequence[object] | FloatArray | Cells, Errors]:
    """Return the cells of a field, and why a cell is invalid."""
    if field == "timestamp":
        return clock.column(column, usable.positions, usable.mask)
    if field == "ordinal":
        return numbers(column)
    if field == _HITS:
        return id_lists(column)
    if field in _IDS:
        return converted(column, id_of)
    return list(column.cells()), {}


def _opened(source: UbiSource, name: str, problems: Problems, after: int) -> Table:
    """Return a source as a table."""
    if library_of_frame(source) is not None:
        return read_table(source, SessionLogError, name=name)
    some = source if isinstance(source, (list, tuple)) else [source]
    if some and all(isinstance(each, (str, PathLike)) for each in some):
        return LogFiles.of(some).table(None, None, problems, after)  # type: ignore[arg-type]
    return table_of_records(source, LogSource(Path(name), problems, after))  # type: ignore[arg-type]


def _check_sources(asked: _Source, done: _Source, columns: Mapping[str, str]) -> None:
    """Check that queries and events are not swapped, have the columns, and can be compared."""
    if "action_name" in asked.known and "action_name" not in done.known:
        raise SessionLogError(
            "the queries have actions (action_name), and the events do not: the arguments are "
            "swapped; write from_ubi(queries, events)"
        )
    known = {**asked.known, **done.known}
    for column in columns.values():
        if known and column not in known:
            raise SessionLogError(
                f"neither the queries nor the events have a column '{quoted(column)}'"
                f"{suggestion(column, known)}"
            )

    for kind, words in (("local", "text without a time zone"), ("relative", "no times since 1970")):
        if asked.times and done.times and (kind in asked.times) != (kind in done.times):
            which = "queries" if kind in asked.times else "events"
            raise SessionLogError(
                f"the times of the {which} are {words}, those of the other file are not, so they "
                "cannot be compared; write all times in the same way"
            )


class _Join:
    """The searches of queries, and what was selected in them."""

    def __init__(
        self, grades: Mapping[str, float], options: LogOptions, problems: Problems
    ) -> None:
        self._grades, self._options, self._problems = grades, options, problems

    def searches(self, queries: FrameLike, events: FrameLike) -> FrameLike:
        """Return a row for each search: its fields, the ``session`` and the ``clicks``.

        What does not count and what is unusual becomes a note.

        Raises:
            SessionLogError: no event has one of the actions, or no event belongs to a query.
        """
        is_nameless = queries["query_id"].isna()
        self._refuse(queries[is_nameless], "no query_id", "the query has no query_id; give it one")
        queries = queries[queries["query_id"].notna()]
        events["action"] = [str(name or "").strip().casefold() for name in events["action_name"]]
        self._note_actions(Counter(events["action"]))
        of_query = events[events["query_id"].isin(queries["query_id"])]
        given = events["query_id"].dropna()
        if len(queries) and len(given) and not len(of_query):
            raise SessionLogError(
                "no event belongs to a query: their query_ids are such as "
                f"'{quoted(given.iat[0])}', those of the queries such as "
                f"'{quoted(queries['query_id'].iat[0])}'; are both of the same time, or is "
                "the query_id in another column? columns={'query_id': ...}"
            )
        searches = queries.drop_duplicates("query_id").set_index("query_id")
        both = pd.concat([queries, of_query])  # an id is that of the query, or else of an event
        ids = both.groupby("query_id")[["session_id", "client_id", "user_id"]].first()
        searches[ids.columns] = ids.astype(object).where(ids.notna(), None).loc[searches.index]
        gap, unknown = self._options.gap or 0.0, int(searches["session_id"].isna().sum())
        if unknown:
            lack = plural(unknown, "search lacks", "searches lack")
            self._problems.notes.append(
                f"{'no search has' if unknown == len(searches) else lack} a session_id: there, a "
                f"session is what a client does without a pause of more than {gap / 60:g} minutes"
            )
        shown = _shown(queries, of_query)
        found = shown.groupby("query_id")["document"].agg(list).to_dict()
        found = {key: [] for key in queries["query_id"][queries[_HITS].notna()]} | found
        searches["results"] = pd.Series(found, dtype=object).reindex(searches.index)
        clicks = self._clicks(events, searches, shown)
        searches["clicks"] = clicks.groupby("query_id")["click"].agg(list)
        searches["session"] = sessions_of(searches, gap)
        return searches

    def _refuse(self, rows: FrameLike, reason: str, text: str) -> None:
        """Note rows that cannot be used."""
        at = positions(rows["number"].astype(np.int64))
        self._problems.note(at, [None] * len(rows), reason, lambda _: text)

    def _note_actions(self, counts: Counter[str]) -> None:
        """Note the actions of selections that no event has, and those that are no selections.

        Raises:
            SessionLogError: no event has any action of selections.
        """
        unknown = [name for name in self._grades if name not in counts]
        if unknown:
            text = (
                f"no event has the action_name {listed(unknown)}{suggestion(unknown[0], counts)}; "
                f"the actions are {_shown_actions(counts) or 'not given'}"
            )
            if len(unknown) == len(self._grades):
                raise SessionLogError(f"{text}. Give those that are selections: select=(...)")
            self._problems.notes.append(text)
        others = Counter({name: counts[name] for name in counts if name not in self._grades})
        if others:
            total = plural(others.total(), "event")
            self._problems.notes.append(
                f"{total} of other actions not counted: {_shown_actions(others)}"
            )

    def _clicks(self, events: FrameLike, searches: FrameLike, shown: FrameLike) -> FrameLike:
        """Return the selections that count; note how many do not, by reason.

        Args:
            events: all events.
            searches: by query id.
            shown: the documents of each search, with their ranks.
        """
        every = events[events["action"].isin(self._grades)]
        clicks = every[every["query_id"].isin(searches.index)]
        same = ["query_id", "action", "object_id", "internal_id", "ordinal", "seconds"]
        is_again = clicks.duplicated(same) & clicks["seconds"].notna()
        clicks = clicks[~is_again].reset_index(drop=True)
        ranks = []
        for name in ("object_id", "internal_id"):
            named = shown.rename(columns={"document": name})
            found = clicks[["query_id", name]].merge(named, "left", ["query_id", name])
            ranks.append(found["rank"])
        rank, ordinal = ranks[0].fillna(ranks[1]), clicks["ordinal"]
        first = self._first_ordinal(rank, ordinal)
        is_listed = clicks["query_id"].map(searches["results"].notna()).astype(bool)
        is_odd = rank.isna() & ~is_listed & ((ordinal < first) | (ordinal % 1 > 0))
        text = f"the position is not a whole number from {first} on"
        self._refuse(clicks[is_odd], "bad ordinal", text)
        is_nowhere = rank.isna() & ~is_listed & ordinal.isna()
        not_counted = {
            "delivered more than once": int(is_again.sum()),
            "of an unknown query_id": len(every) - len(is_again) - every["query_id"].isna().sum(),
            "without a query_id": int(every["query_id"].isna().sum()),
            "of a document that was not among the results": int((rank.isna() & is_listed).sum()),
            "of an unknown rank, without results and position": int(is_nowhere.sum()),
        }
        reasons = [f"{count:,} {why}" for why, count in not_counted.items() if count]
        if reasons:
            self._problems.notes.append(f"selections not counted: {', '.join(reasons)}")
        clicks["rank"] = rank.where(rank.notna() | is_listed, ordinal - first + 1)
        clicks = clicks[clicks["rank"].notna() & ~is_odd]
        asked = clicks["query_id"].map(searches["seconds"])
        late = (asked - clicks["seconds"])[asked > clicks["seconds"]]
        if len(late):
            selections = plural(len(late), "selection is", "selections are")
            self._problems.notes.append(
                f"{selections} earlier than the query, by up to {late.max():.3g} s; they "
                "count as simultaneous with it"
            )
        fields = pd.DataFrame({"rank": clicks["rank"], "grade": clicks["action"].map(self._grades)})
        fields["start"] = clicks["seconds"].where(~(asked > clicks["seconds"]), asked)
        clicks["click"] = fields.to_dict("records")
        return clicks

    def _first_ordinal(self, ranks: FrameLike, ordinals: FrameLike) -> int:
        """Return the position of the first result: as given, as documents show it, or else 1."""
        known = ranks.notna() & ordinals.notna()
        shifts = (ranks - ordinals)[known]
        first = self._options.first_rank
        if first is None:
            first = 0 if (shifts == 1).sum() > (shifts == 0).sum() else 1
        odd = int((shifts != 1 - first).sum())
        if odd:
            self._problems.notes.append(
                f"{odd:,} of {plural(len(shifts), 'position')}, counted from {first}, are not the "
                "rank of their document; the document decides"
            )
        return first


def _shown_actions(counts: Counter[str]) -> str:
    """Return the most frequent actions, and how often each occurs."""
    return ", ".join(f"{quoted(name) or 'none'} ({each:,})" for name, each in counts.most_common(8))


def _shown(queries: FrameLike, events: FrameLike) -> FrameLike:
    """Return the documents that each query showed, with their ranks; only of known results.

    They are the hits of the query, or else its impressions, if their positions have no gap.

    Args:
        queries: in order; several rows with one ``query_id`` are pages of one search.
        events: those of these queries, in order.
    """
    hits = queries[["query_id", _HITS]].dropna()
    seen = events[(events["action"] == _IMPRESSION) & ~events["query_id"].isin(hits["query_id"])]
    seen = seen.assign(document=seen["object_id"].fillna(seen["internal_id"]))
    seen = seen[seen["document"].notna()].sort_values(["query_id", "ordinal"], kind="stable")
    places = seen.groupby("query_id")["ordinal"].agg(["min", "max", "nunique", "count", "size"])
    is_whole = places["min"].isin([0, 1]) & (places["count"] == places["size"])
    is_whole &= places["max"] - places["min"] == places["nunique"] - 1
    is_whole |= places["count"] == 0
    seen = seen[seen["query_id"].map(is_whole).astype(bool)]
    shown = hits.explode(_HITS).dropna()
    shown = shown.rename(columns={_HITS: "document"})
    shown = pd.concat([shown, seen[["query_id", "document"]]]).drop_duplicates()
    return shown.assign(rank=shown.groupby("query_id").cumcount() + 1.0)


def _table(searches: FrameLike, numbering: JoinedNumbering) -> Table:
    """Return searches as a table with the columns of a log and of attributes."""
    described = [_attributes(cell) for cell in searches["query_attributes"]]
    columns: dict[str, Sequence[object]] = {
        name: [each.get(name) for each in described]
        for name in dict.fromkeys(name for each in described for name in each)
    }
    for name in ("client_id", "user_id"):
        if searches[name].notna().any():
            columns[name] = searches[name].tolist()
    columns |= {"session": searches["session"].tolist(), "time": searches["seconds"].tolist()}
    columns["query"] = searches["user_query"].tolist()
    for name in ("results", "clicks"):
        columns[name] = [each if isinstance(each, list) else None for each in searches[name]]
    header, cells = list(columns), list(columns.values())
    rows = [int(number) for number in searches["number"]]
    batch = Batch(header, rows, lambda index: Column(cells[index]))
    return Table(header, numbering, lambda *_: iter([batch] if rows else []))


def sessions_of(searches: FrameLike, gap: float) -> list[str | None]:
    """Return the session of each search; None without a session and a client.

    A search without a session id joins the session of its client's search before it, or else after
    it, if no pause of more than the gap is between them. Otherwise it begins a session that is
    named after its time.

    Args:
        searches: their ``session_id`` and ``client_id``, None if unknown, and ``seconds``.
        gap: in seconds.
    """
    found, client = searches["session_id"].copy(), searches["client_id"]
    nobody = client.map(lambda each: each is not None and is_placeholder(each)).astype(bool)
    found = found.where(found.notna() | ~nobody, client)  # the reader refuses it
    ordered = searches[client.notna() & ~nobody]
    ordered = ordered.sort_values(["client_id", "seconds"], kind="stable")
    client, pause = ordered["client_id"], ordered["seconds"].diff()
    run = ((client != client.shift()) | ~(pause <= gap)).cumsum()
    session = found[ordered.index]
    session = session.groupby(run).ffill()
    session = session.groupby(run).bfill()
    runs = run[session.isna()].drop_duplicates()
    first = ordered.loc[runs.index]
    taken = set(searches["session_id"].dropna())
    names = names_by_start(first["seconds"].tolist(), first["client_id"].tolist(), taken)
    by_run = dict(zip(runs.tolist(), names, strict=True))
    found[ordered.index] = session.where(session.notna(), run.map(by_run))
    return [None if pd.isna(each) else each for each in found.tolist()]


def _attributes(cell: object) -> dict[str, object]:
    """Return what describes a query: the plain values in ``query_attributes``."""
    return {
        f"query_attributes.{name}" if normalised_name(str(name)) in _TAKEN else str(name): plain
        for name, value in (object_in(cell) or {}).items()
        if (plain := description(value)) is not None
    }
