"""The session log, read from files, frames, dicts or User Behavior Insights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import ConfigurationError, SessionLogError
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.sessions.log_files import LogFiles, table_of_records
from pytest_rankcheck.sessions.log_options import Duplicates, Gap, LogOptions
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.log_reader import read_log
from pytest_rankcheck.sessions.logged_sessions import LoggedSessions
from pytest_rankcheck.sessions.selection_rule import SelectionsWhere
from pytest_rankcheck.sessions.ubi.ubi_log import UbiChoice, grades_of, table_of_ubi
from pytest_rankcheck.sessions.ubi.ubi_rows import UbiSource

if TYPE_CHECKING:
    from pytest_rankcheck.files.frame_tables import Frame

__all__ = ["SessionLog"]


class SessionLog(LoggedSessions):
    """The search sessions of users: their events, what was shown, what was selected.

    Make one with `load`, `from_frame`, `from_records` or `from_ubi`. It does not change after that.
    """

    @classmethod
    @checked_arguments
    def load(
        cls,
        path: str | PathLike[str] | Sequence[str | PathLike[str]],
        format: str | None = None,
        *,
        name: str | None = None,
        columns: Mapping[str, str] | None = None,
        session: str | None = None,
        first_rank: int | None = None,
        time_unit: str | None = None,
        attributes: Sequence[str] | None = None,
        selections_where: SelectionsWhere | None = None,
        grades: Mapping[str, float] | None = None,
        session_gap: Gap | None = None,
        duplicates: Duplicates = "error",
        drop_sessions_over: int | None = None,
        lenient: bool = False,
    ) -> SessionLog:
        """Read a log: one row per event, a flat event log, or one object per session.

        Args:
            path: the file; or several, as a list, as a pattern such as
                ``"logs/2026-11-*.jsonl"``, or as a folder, whose folders named ``key=value`` are
                columns. A session may go on from one file to the next. The files may be packed
                with gzip or Zstandard.
            format: ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"json"`` (an array), ``"parquet"``,
                ``"arrow"`` or ``"trec-xml"`` (of the TREC session tracks); without it, the content
                of each file decides.
            name: what messages and records call the log; without it, the first file's name up to
                the first dot, or what a pattern has before its first wildcard.
            columns: ``{meaning: column}`` for ``session``, ``event``, ``time``, ``query``,
                ``results``, ``result_count``, ``selected_rank``, ``selected``,
                ``selected_time``, ``grade``, ``search``, ``finished`` and ``start``, where the
                columns have unusual names. A dotted name, such as
                ``event_attributes.object.object_id``, is in an object of each row.
            session: the column of the session; the same as ``columns={"session": ...}``.
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
                ``search`` or else the index of the event, become one event.
            grades: the grade of a selection, by a value of a column of ``selections_where``:
                ``{"add_to_cart": 2, "purchase": 3}``, numbers from 0 on. A value with a grade is a
                selection. The grade is 1 for all others.
            session_gap: the pause after which a new session begins, if ``session`` is a client or
                a user: seconds, a text such as ``"30min"``, ``"1h"`` or ``"45s"``, or a timedelta.
                A session is named after the time it begins, since records keep its id, which must
                not reveal who searched; the column itself becomes an attribute. Events are ordered
                by time; their indexes are not used, except to tell which rows are one event.
            duplicates: what happens to a row that is identical to another in all columns, as where
                a file is delivered twice: ``"error"``, ``"drop"`` or ``"keep"``. `notes` says how
                many were dropped.
            drop_sessions_over: the largest number of events that a session may have; longer ones,
                such as those of bots, are dropped and counted in `notes`.
            lenient: whether to skip sessions with an invalid row instead of raising an error.
                `set_aside` counts them.

        Raises:
            SessionLogError: a file is missing, empty or not a log; no file matches a pattern; or a
                row is invalid, which the message names with its file.
            ConfigurationError: an argument is invalid.
        """
        files = LogFiles.of(path)
        problems = Problems(files.words, is_lenient=lenient)
        options = LogOptions(
            columns=columns or {},
            session=session,
            first_rank=first_rank,
            time_unit=time_unit,
            attributes=attributes,
            selections_where=selections_where,
            grades=grades,
            session_gap=session_gap,
            duplicates=duplicates,
            drop_sessions_over=drop_sessions_over,
        )
        table = files.table(format, options.columns, problems)
        return cls(read_log(table, options, problems), name or files.name)

    @classmethod
    @checked_arguments
    def from_frame(
        cls,
        events: Frame,
        *,
        name: str = "session log",
        columns: Mapping[str, str] | None = None,
        session: str | None = None,
        first_rank: int | None = None,
        time_unit: str | None = None,
        attributes: Sequence[str] | None = None,
        selections_where: SelectionsWhere | None = None,
        grades: Mapping[str, float] | None = None,
        session_gap: Gap | None = None,
        duplicates: Duplicates = "error",
        drop_sessions_over: int | None = None,
        lenient: bool = False,
    ) -> SessionLog:
        """Make a log from a frame with one row per event: of pandas, polars or pyarrow.

        The arguments are those of `load`.

        Raises:
            SessionLogError: as in `load`; rows are named by their numbers from 1.
        """
        problems = Problems("events", is_lenient=lenient)
        table = read_table(events, SessionLogError, name="events")
        options = LogOptions(
            columns=columns or {},
            session=session,
            first_rank=first_rank,
            time_unit=time_unit,
            attributes=attributes,
            selections_where=selections_where,
            grades=grades,
            session_gap=session_gap,
            duplicates=duplicates,
            drop_sessions_over=drop_sessions_over,
        )
        return cls(read_log(table, options, problems), name)

    @classmethod
    @checked_arguments
    def from_records(
        cls,
        records: Iterable[Mapping[str, object]],
        *,
        name: str = "session log",
        columns: Mapping[str, str] | None = None,
        session: str | None = None,
        first_rank: int | None = None,
        time_unit: str | None = None,
        attributes: Sequence[str] | None = None,
        selections_where: SelectionsWhere | None = None,
        grades: Mapping[str, float] | None = None,
        session_gap: Gap | None = None,
        duplicates: Duplicates = "error",
        drop_sessions_over: int | None = None,
        lenient: bool = False,
    ) -> SessionLog:
        """Make a log from dicts: each is an event, or a session with its ``events``.

        The keys are those of a log in JSON lines, the other arguments those of `load`.

        Raises:
            SessionLogError: as in `load`; records are named by their numbers from 1.
        """
        problems = Problems("records", is_lenient=lenient)
        options = LogOptions(
            columns=columns or {},
            session=session,
            first_rank=first_rank,
            time_unit=time_unit,
            attributes=attributes,
            selections_where=selections_where,
            grades=grades,
            session_gap=session_gap,
            duplicates=duplicates,
            drop_sessions_over=drop_sessions_over,
        )
        return cls(read_log(table_of_records(records, problems), options, problems), name)

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
        columns: Mapping[str, str] | None = None,
        attributes: Sequence[str] | None = None,
        first_rank: int | None = None,
        session_gap: Gap = "30min",
        drop_sessions_over: int | None = None,
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
            columns: ``{field: column}`` where fields are elsewhere, such as
                ``{"ordinal": "event_attributes.rank"}``.
            attributes: as in `load`; without it, ``client_id``, ``user_id`` and the plain values
                in ``query_attributes`` are attributes if they are the same throughout a session.
            first_rank: whether positions count from 0 or 1. A position counts only where the
                results are unknown; without ``first_rank``, selections of known results show how
                positions count, and else it is from 1, as in the schema.
            session_gap: queries without a ``session_id``, of their own or of their events, are one
                session with those of the same ``client_id`` until a pause of more than this.
            drop_sessions_over: as in `load`.
            lenient: as in `load`.

        What is not counted is in `notes`: events of other actions, without a known query, and
        selections of documents that were not among the results.

        Raises:
            SessionLogError: a file or a row cannot be read, or no event has one of the actions.
            ConfigurationError: an argument is invalid.
        """
        # The join has found which events are selections, and which were delivered twice.
        options = LogOptions(
            attributes=attributes,
            first_rank=first_rank,
            selections_where="all",
            session_gap=session_gap,
            duplicates="keep",
            drop_sessions_over=drop_sessions_over,
        )
        if options.gap is None:
            raise ConfigurationError('session_gap=None is invalid; give a pause, such as "30min"')
        choice = UbiChoice(
            grades_of(select, grades), options.gap, columns or {}, first_rank, lenient
        )
        table, problems = table_of_ubi(queries, events, choice)
        options = replace(options, first_rank=None, session_gap=None)  # the join has used them
        contents = read_log(table, options, problems)
        limit = "" if drop_sessions_over is None else f", drop_sessions_over={drop_sessions_over}"
        return cls(replace(contents, reading=f"{choice.convention}{limit}"), name or "ubi")
