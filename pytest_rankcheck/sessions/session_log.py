"""The session log: what users did, how sessions ended, and the replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import SessionLogError, listed, plural, quoted, suggestion, unknown_id
from pytest_rankcheck.files.frame_tables import frame_of_columns
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.golden.log_replay import MAX_UNSEEN
from pytest_rankcheck.metrics.metric_inputs import Trails
from pytest_rankcheck.sessions.log_contents import (
    LogContents,
    final_events,
    trails_of,
)
from pytest_rankcheck.sessions.log_options import Gap, LogOptions, Reading
from pytest_rankcheck.sessions.log_reader import read_log
from pytest_rankcheck.sessions.log_sources import (
    LogFiles,
    LogSource,
    Problems,
    SetAside,
    table_of_records,
)
from pytest_rankcheck.sessions.replayed_queries import (
    Propensity,
    ReplayOptions,
    States,
    replayed_queries,
    state_ids,
)
from pytest_rankcheck.sessions.ubi_log import ubi_log
from pytest_rankcheck.sessions.ubi_sources import UbiSource

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.files.frame_tables import Frame
    from pytest_rankcheck.golden.golden_set import GoldenSet


@dataclass(frozen=True, slots=True)
class SessionState:
    """An event of a session, as a query of a replay."""

    id: str
    session: int
    """The index of its session in the log, from 0."""
    session_id: str
    place: int
    """Its place in the session, from 1."""
    results: Sequence[str]
    """What was shown, best first."""


class SessionLog:
    """The search sessions of users: their events, what was shown, what was selected.

    Make one with `load`, `from_frame`, `from_records` or `from_ubi`. It does not change after that.
    """

    def __init__(
        self, contents: LogContents, name: str = "session log", cluster_by: str | None = None
    ) -> None:
        self.name = name
        """What messages and records call the log."""
        self._contents = contents
        self.cluster_by = cluster_by
        """The attribute whose values are the independent units; None: each session is one."""
        self.session_ids: Sequence[str] = contents.session_ids
        """The sessions, in the order in which they appear."""
        self.event_count: int = len(contents.events)
        """The number of events in all sessions."""
        self.set_aside: SetAside = contents.set_aside
        """What a lenient reading skipped; empty for a strict one."""
        self.reading: str = contents.reading
        """The options that decide the outcomes of sessions, as text; empty with the usual ones."""
        self.notes: Sequence[str] = contents.notes
        """What was unusual when the log was read, as sentences: skipped, ignored, put in order."""

    @classmethod
    @checked_arguments
    def load(
        cls,
        path: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        name: str | None = None,
        lenient: bool = False,
        **reading: Unpack[Reading],
    ) -> SessionLog:
        """Read a log with one row for each event.

        Args:
            path: the file; or several, as a list, as a pattern such as ``"logs/2026-11-*.jsonl"``,
                or as a folder. A session may continue from one file to the next. The files may be
                packed with gzip or Zstandard.
            name: what messages and records call the log; without it, the first file's name up to
                the first dot, or the part of a pattern before its first wildcard.
            columns: ``{meaning: column}`` for ``session``, ``event``, ``time``, ``query``,
                ``results``, ``result_count``, ``selected_rank``, ``selected``, ``selected_time``,
                ``grade``, ``search`` and ``start``, where the columns have unusual names. A dotted
                name, such as ``event_attributes.object.object_id``, is in an object of each row, or
                in JSON text.
            first_rank: the rank of the first result, 0 or 1; required if selections are given by
                rank.
            time_unit: the unit of times that are numbers: ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``;
                the unit of times since 1970 is detected.
            attributes: the columns that are attributes of sessions, such as an experiment group;
                without it, all that are the same throughout each session.
            selections_where: which rows are selections, in a log with a row per impression or
                action: ``{column: values}``, such as ``{"action_name": ["click"]}``; or ``"all"``.
                A row is a selection if every column has one of its values. Values are compared as
                text, ignoring case; True, 1 and "true" are equal. Rows of one search, by the column
                ``search`` or else the index of the event, become one event; a log without both is
                an error.
            grades: the grade of a selection, by a value of a column of ``selections_where``:
                ``{"add_to_cart": 2, "purchase": 3}``, numbers from 0 on. A value with a grade is a
                selection. The grade is 1 for all others.
            session_gap: the pause after which a new session begins, if the column ``session`` has
                clients or users: seconds, or a text such as ``"30min"``, ``"1h"`` or ``"45s"``. A
                session is named after the time it begins, since records keep its id, which must
                not reveal who searched; the column itself becomes an attribute. Events are ordered
                by time; their indexes are not used, except to tell which rows are one event.
            duplicates: what happens to a row that is identical to another in all columns, as when a
                file is delivered twice: ``"error"``, ``"drop"`` or ``"keep"``. `notes` says how
                many were dropped.
            lenient: whether to skip sessions with an invalid row instead of raising an error.
                `set_aside` counts them.

        Raises:
            SessionLogError: a file is missing, empty or not a log; no file matches a pattern; or a
                row is invalid, which the message names with its file.
            ConfigurationError: an argument is invalid.
        """
        files = LogFiles.of(path)
        problems = Problems(files.words, is_lenient=lenient)
        log = read_log(files.table(problems), LogOptions(reading), problems)
        return cls(log, name or files.name)

    @classmethod
    @checked_arguments
    def from_frame(
        cls,
        events: Frame,
        *,
        name: str = "session log",
        lenient: bool = False,
        **reading: Unpack[Reading],
    ) -> SessionLog:
        """Make a log from a frame with one row per event: of pandas, polars or pyarrow.

        The arguments are those of `load`.

        Raises:
            SessionLogError: as in `load`; rows are named by their numbers from 1.
        """
        problems = Problems("events", is_lenient=lenient)
        table = read_table(events, SessionLogError, name="events")
        return cls(read_log(table, LogOptions(reading), problems), name)

    @classmethod
    @checked_arguments
    def from_records(
        cls,
        records: Iterable[Mapping[str, object]],
        *,
        name: str = "session log",
        lenient: bool = False,
        **reading: Unpack[Reading],
    ) -> SessionLog:
        """Make a log from dicts: each is an event.

        The keys are those of a log in JSON lines, the other arguments those of `load`.

        Raises:
            SessionLogError: as in `load`; records are named by their numbers from 1.
        """
        problems = Problems("records", is_lenient=lenient)
        options = LogOptions(reading)
        table = table_of_records(records, LogSource(Path("records"), problems))
        return cls(read_log(table, options, problems), name)

    @classmethod
    @checked_arguments
    def from_ubi(
        cls,
        queries: UbiSource,
        events: UbiSource,
        *,
        select: str | Sequence[str] = ("click",),
        grades: Mapping[str, float] | None = None,
        name: str | None = None,
        attributes: Sequence[str] | None = None,
        first_rank: int | None = None,
        session_gap: Gap = "30min",
        lenient: bool = False,
    ) -> SessionLog:
        """Make a log of User Behavior Insights, as OpenSearch and Elasticsearch record it.

        Each query is an event of a session; its results are the ``query_response_hit_ids``, or
        else its impressions in the order of their positions.

        Args:
            queries: ``ubi_queries``: a file, a list or a pattern of files, a DataFrame of pandas
                or polars, a table of pyarrow, or dicts. Several rows with one ``query_id`` are
                pages of one search.
            events: ``ubi_events``, in one of these forms.
            select: the actions (``action_name``) that select a document, ignoring case.
            grades: the grades of further selections: ``{"add_to_cart": 2, "purchase": 3}``. The
                actions in ``select`` have grade 1.
            name: what messages and records call the log; without it, "ubi".
            attributes: as in `load`; without it, ``client_id``, ``user_id`` and the plain values
                in ``query_attributes`` are attributes if they are the same throughout a session.
            first_rank: whether positions count from 0 or 1. A position counts only if the results
                are unknown. Without ``first_rank``, selections of known results show how positions
                count; otherwise it is from 1, as in the schema.
            session_gap: queries without a ``session_id``, their own or that of their events, form a
                session with others of the same ``client_id`` until a pause of more than this.
            lenient: as in `load`.

        What is not counted is in `notes`: events of other actions, without a known query, and
        selections of documents that were not among the results.

        Raises:
            SessionLogError: a file or a row cannot be read, or no event has one of the actions.
            ConfigurationError: an argument is invalid.
        """
        contents = ubi_log(
            queries,
            events,
            select=select,
            grades=grades,
            is_lenient=lenient,
            reading={
                "attributes": attributes,
                "first_rank": first_rank,
                "session_gap": session_gap,
            },
        )
        return cls(contents, name or "ubi")

    def clustered(self, by: str) -> SessionLog:
        """Return the log with its sessions grouped into independent units, such as users.

        Sessions of one user are not independent. Intervals, tests and replays of the result keep
        them together. A session without the attribute is a unit of its own.

        Args:
            by: the attribute whose values are the units, such as ``"user"``.

        Raises:
            SessionLogError: no session has this attribute.
        """
        if by not in self.attribute_names:
            varying = self._contents.varying
            why = "; it changes within a session" if by in varying else ""
            raise SessionLogError(
                f"session log '{quoted(self.name)}' has no attribute '{quoted(by)}'"
                f"{suggestion(by, self.attribute_names)}{why}; its attributes: "
                f"{listed(self.attribute_names, 12) or 'none'}"
            )
        return type(self)(self._contents, self.name, by)

    @cached_property
    def attribute_names(self) -> Sequence[str]:
        """The attributes that sessions have."""
        return tuple(dict.fromkeys(name for each in self._contents.attributes for name in each))

    @property
    def repeated_users(self) -> tuple[str, Counter[object]] | None:
        """The attribute that names users with several sessions, and how many each has."""
        return self._contents.repeated_users

    @cached_property
    def cluster_names(self) -> Sequence[str] | None:
        """The independent unit of each session, ``[S]``; None: each session is one."""
        by = self.cluster_by
        return None if by is None else self._contents.units_by(by)

    def __len__(self) -> int:
        return len(self.session_ids)

    def attributes(self, session_id: str) -> Mapping[str, object]:
        """Return the attributes of a session.

        Raises:
            UnknownIdError: the log has no such session; a KeyError.
        """
        return self._contents.attributes[self._place_of(session_id)]

    @cached_property
    def trails(self) -> Trails:
        """How each session ended, in the order of `session_ids`."""
        return trails_of(self._contents)

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per event, in order.

        Columns: ``session_id``; ``event``, the place from 1 in the session; ``time``, seconds;
        ``query``; ``results``; ``selected``, 1-based ranks.
        """
        frame, selections = self._contents.events.frame, self._contents.events.selections
        selected: list[list[int]] = [[] for _ in range(len(frame))]
        for event, rank in zip(
            selections["event"].tolist(), selections["rank"].tolist(), strict=True
        ):
            selected[event].append(rank)
        return frame_of_columns(
            {
                "session_id": np.array(self.session_ids, dtype=object)[frame["session"]],
                "event": self._contents.places,
                "time": frame["time"].to_numpy(),
                "query": frame["query"].tolist(),
                "results": [list(each or ()) for each in frame["results"]],
                "selected": selected,
            }
        )

    def states(self) -> Iterator[SessionState]:
        """Yield the events in order, with the ids that they have as queries."""
        contents = self._contents
        columns = (state_ids(contents), contents.events.column("session"), contents.places)
        for number, (state_id, session, place) in enumerate(zip(*columns, strict=True)):
            own = self.session_ids[session]
            shown = list(contents.results[number] or ())
            yield SessionState(state_id, int(session), own, int(place), shown)

    def final_query(self, session_id: str) -> str | None:
        """Return the last query text of a session, or None without a text.

        Raises:
            UnknownIdError: the log has no such session.
        """
        return self._contents.queries[self._last[self._place_of(session_id)]]

    def final_results(self, session_id: str) -> Sequence[str]:
        """Return what was shown with the final selection, or last; empty if that is unknown.

        Raises:
            UnknownIdError: the log has no such session.
        """
        return list(self._contents.results[self._last[self._place_of(session_id)]] or ())

    @checked_arguments
    def to_golden_set(
        self,
        states: States = "last",
        *,
        propensity: Propensity | None = None,
        clip: float | None = None,
        uncorrected: bool = False,
        max_unseen: float = MAX_UNSEEN,
        name: str | None = None,
    ) -> GoldenSet:
        """Return the states of the search as queries, with the selections as judgments.

        The id of a query is ``session.event``, and its candidates are the results that were shown.
        A selected result has the grade of its selection, 1 if the log does not say;
        ``Run.from_candidates`` is the order in which users saw them. Intervals and tests on the set
        keep each session together, or each unit that `clustered` names.

        Args:
            states: ``"last"``: the state of each session with its final selection; ``"all"``: all
                states with a selection; ``"prefixes"``: all states up to the one with the final
                selection, each judged by that.
            propensity: the probability that a user looks at a rank, ``"power(1)"`` or a table;
                selections, and all means, are weighted by its inverse. None: all count the same,
                which favours what the old ranker put on top.
            clip: a smaller propensity counts as this one (0.05).
            uncorrected: whether gates may compare with the order of the log without a propensity.
            max_unseen: if more than this share of a new top k was never shown, gates are
                inconclusive.
            name: what messages and records call the set; without it, the name of the log.

        Raises:
            SessionLogError: it is unknown what was shown, or nothing was selected.
            ConfigurationError: an argument is invalid.
        """
        from pytest_rankcheck.golden.golden_set import GoldenSet

        choice = ReplayOptions(
            states=states,
            propensity=propensity,
            clip=clip,
            uncorrected=uncorrected,
            max_unseen=max_unseen,
        )
        contents = replayed_queries(self._contents, choice, self.name, self.cluster_by)
        return GoldenSet(contents, name or self.name)

    @cached_property
    def _place(self) -> Mapping[str, int]:
        return {session_id: place for place, session_id in enumerate(self.session_ids)}

    def _place_of(self, session_id: str) -> int:
        try:
            return self._place[session_id]
        except KeyError:
            owner = f"session log '{quoted(self.name)}'"
            raise unknown_id(owner, "session", session_id, self._place) from None

    @cached_property
    def _last(self) -> Sequence[int]:
        """The event with the final selection of each session, or its last event."""
        contents = self._contents
        final = final_events(contents)
        places: list[int] = np.where(final < 0, contents.starts[1:] - 1, final).tolist()
        return places

    def __repr__(self) -> str:
        size = f"{plural(len(self), 'session')}, {plural(self.event_count, 'event')}"
        aside = f", {self.set_aside}" if self.set_aside else ""
        return f"SessionLog({self.name!r}, {size}{aside})"
