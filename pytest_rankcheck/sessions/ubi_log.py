"""User Behavior Insights: queries and events are joined to one row for each search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from pytest_rankcheck.errors import (
    ConfigurationError,
    SessionLogError,
    listed,
    plural,
    quoted,
    suggestion,
)
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.json_files import object_in
from pytest_rankcheck.files.table_batches import Batch, Column, Table
from pytest_rankcheck.files.text_files import JoinedNumbering
from pytest_rankcheck.sessions.event_frames import FrameLike, description
from pytest_rankcheck.sessions.log_cells import is_placeholder
from pytest_rankcheck.sessions.log_columns import ROLES
from pytest_rankcheck.sessions.log_contents import LogContents
from pytest_rankcheck.sessions.log_options import (
    LogOptions,
    Reading,
    checked_grade,
    choices_text,
)
from pytest_rankcheck.sessions.log_reader import names_by_start, read_log
from pytest_rankcheck.sessions.log_sources import Problems
from pytest_rankcheck.sessions.ubi_sources import (
    HITS,
    UbiSource,
    check_times,
    rows_of_source,
)

_IMPRESSION = "impression"
_TAKEN = {"query_id", "request_id", "events"}.union(
    *((role.name, *role.names, *role.otherwise) for role in ROLES)
)
"""The names of columns with a meaning in a log; attributes must have other names."""


def ubi_log(
    queries: UbiSource,
    events: UbiSource,
    *,
    select: str | Sequence[str],
    grades: Mapping[str, float] | None,
    is_lenient: bool,
    reading: Reading,
) -> LogContents:
    """Read queries and events as a log; `SessionLog.from_ubi` describes the arguments.

    Raises:
        SessionLogError: a file or a row cannot be read, or no event has one of the actions.
        ConfigurationError: an argument is invalid.
    """
    # The join finds which events are selections, and which were delivered twice.
    chosen: Reading = {**reading, "selections_where": "all", "duplicates": "keep"}
    options = LogOptions(chosen)
    if options.gap is None:
        raise ConfigurationError('session_gap=None is invalid; give a pause, such as "30min"')
    of_actions = _grades(select, grades)
    problems = Problems("queries", is_lenient=is_lenient)
    numbering = JoinedNumbering("queries")
    problems.numbering = numbering
    asked = rows_of_source("queries", queries, problems, numbering)
    done = rows_of_source("events", events, problems, numbering)
    check_times(asked, done)
    searches = _Join(of_actions, options, problems).searches(asked.rows, done.rows)
    problems.source = numbering.parts[0][1].source
    given = {
        "grades": of_actions,
        "session_gap": options.gap,
        "first_rank": options.first_rank,
        "lenient": is_lenient or None,
    }
    joined = LogOptions({**chosen, "first_rank": None, "session_gap": None, "time_unit": "s"})
    log = read_log(_table(searches, numbering), joined, problems)
    return replace(log, reading=f"ubi({choices_text(given)})")


def _grades(select: str | Sequence[str], grades: Mapping[str, float] | None) -> dict[str, float]:
    """Return the grade of each action that is a selection, by its name in lower case."""
    actions = [select] if isinstance(select, str) else select
    given = dict.fromkeys(actions, 1.0) | dict(grades or {})
    if not given:
        raise ConfigurationError('no action is a selection; give one, such as select=("click",)')
    return {
        str(name).strip().casefold(): checked_grade(name, grade) for name, grade in given.items()
    }


class _Join:
    """The searches of queries, and what was selected in them."""

    def __init__(
        self, grades: Mapping[str, float], options: LogOptions, problems: Problems
    ) -> None:
        self._grades, self._options, self._problems = grades, options, problems

    def searches(self, queries: FrameLike, events: FrameLike) -> FrameLike:
        """Return a row for each search: its fields, the ``session`` and the ``clicks``.

        Notes say what does not count and what is unusual.

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
                f"'{quoted(queries['query_id'].iat[0])}'; are both of the same time?"
            )
        searches = queries.drop_duplicates("query_id").set_index("query_id")
        both = pd.concat([queries, of_query])  # an id is that of the query, or else of an event
        ids = both.groupby("query_id")[["session_id", "client_id", "user_id"]].first()
        searches[ids.columns] = ids.astype(object).where(ids.notna(), None).loc[searches.index]
        gap = self._options.gap or 0.0
        unknown = int(searches["session_id"].isna().sum())
        if unknown:
            lack = plural(unknown, "search lacks", "searches lack")
            self._problems.notes.append(
                f"{'no search has' if unknown == len(searches) else lack} a session_id: there, a "
                f"session is what a client does without a pause of more than {gap / 60:g} minutes"
            )
        shown = _shown(queries, of_query)
        found = shown.groupby("query_id")["document"].agg(list).to_dict()
        found = {key: [] for key in queries["query_id"][queries[HITS].notna()]} | found
        searches["results"] = pd.Series(found, dtype=object).reindex(searches.index)
        clicks = self._clicks(events, searches, shown)
        searches["clicks"] = clicks.groupby("query_id")["click"].agg(list)
        searches["session"] = sessions_of(searches, gap)
        return searches

    def _refuse(self, rows: FrameLike, reason: str, text: str) -> None:
        """Note rows that cannot be used."""
        for place in rows["number"].astype(np.int64).tolist():
            self._problems.add(place, None, reason, text)

    def _note_actions(self, counts: Counter[str]) -> None:
        """Note the selecting actions that no event has, and the actions that do not select.

        Raises:
            SessionLogError: no event has an action that selects.
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
            self._problems.notes.append(
                f"earlier than the query, by up to {late.max():.3g} s, and counted as "
                f"simultaneous with it: {plural(len(late), 'selection')}"
            )
        fields = pd.DataFrame({"rank": clicks["rank"], "grade": clicks["action"].map(self._grades)})
        fields["start"] = clicks["seconds"].where(~(asked > clicks["seconds"]), asked)
        clicks["click"] = fields.to_dict("records")
        return clicks

    def _first_ordinal(self, ranks: FrameLike, ordinals: FrameLike) -> int:
        """Return the position of the first result: as given, as documents show, or else 1."""
        if self._options.first_rank is not None:
            return self._options.first_rank
        shifts = (ranks - ordinals).dropna()
        return 0 if (shifts == 1).sum() > (shifts == 0).sum() else 1


def _shown_actions(counts: Counter[str]) -> str:
    """Return the most frequent actions, and how often each occurs."""
    return ", ".join(f"{quoted(name) or 'none'} ({each:,})" for name, each in counts.most_common(8))


def _shown(queries: FrameLike, events: FrameLike) -> FrameLike:
    """Return the documents that each query showed, with their ranks, if results are known.

    They are the hits of the query, or else its impressions, if their positions have no gap.

    Args:
        queries: in order; several rows with one ``query_id`` are pages of one search.
        events: those of these queries, in order.
    """
    hits = queries[["query_id", HITS]].dropna()
    seen = events[(events["action"] == _IMPRESSION) & ~events["query_id"].isin(hits["query_id"])]
    seen = seen.assign(document=seen["object_id"].fillna(seen["internal_id"]))
    seen = seen[seen["document"].notna()].sort_values(["query_id", "ordinal"], kind="stable")
    places = seen.groupby("query_id")["ordinal"].agg(["min", "max", "nunique", "count", "size"])
    is_whole = places["min"].isin([0, 1]) & (places["count"] == places["size"])
    is_whole &= places["max"] - places["min"] == places["nunique"] - 1
    is_whole |= places["count"] == 0
    seen = seen[seen["query_id"].map(is_whole).astype(bool)]
    shown = hits.explode(HITS).dropna()
    shown = shown.rename(columns={HITS: "document"})
    shown = pd.concat([shown, seen[["query_id", "document"]]]).drop_duplicates()
    return shown.assign(rank=shown.groupby("query_id").cumcount() + 1.0)


def _table(searches: FrameLike, numbering: JoinedNumbering) -> Table:
    """Return searches as a table with the columns of a log and of attributes."""
    described = [_attributes(cell) for cell in searches["query_attributes"]]
    names = dict.fromkeys(name for each in described for name in each)
    columns: dict[str, Sequence[object]] = {}
    for name in names:
        columns[name] = [each.get(name) for each in described]
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

    A search without a session id joins the session of its client's previous search, or else of the
    next one, if the pause between them is at most the gap. Otherwise it begins a session named
    after its time.

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
    """Return the attributes of each query: the plain values in ``query_attributes``."""
    found = {}
    for key, value in (object_in(cell) or {}).items():
        name, plain = str(key), description(value)
        if plain is not None:
            is_taken = normalised_name(name) in _TAKEN
            found[f"query_attributes.{name}" if is_taken else name] = plain
    return found
