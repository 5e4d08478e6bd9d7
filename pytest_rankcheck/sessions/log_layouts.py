"""The columns of a log: their roles, the options that name them, and which row has which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rankcheck.errors import ConfigurationError, SessionLogError, listed, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import Role, index_of_roles, normalised_name
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.nested_columns import NestedColumns

__all__ = ["ROLES", "Layouts", "LogOptions"]

ROLES = (
    Role("session", ("session_id", "sessionid", "sid")),
    Role(
        "event",
        ("event_index", "eventindex", "event_number", "event_rank", "step", "state"),
        ("index",),
    ),
    Role(
        "time",
        ("timestamp", "event_time", "time_epoch", "ts", "datetime", "time_ms", "timestamp_ms"),
        ("date",),
    ),
    Role("query", ("query_text", "search_query", "keyword", "keywords"), ("text", "input")),
    Role("results", ("result_ids", "shown", "documents", "doc_ids", "items"), ("ranking",)),
    Role(
        "result_count",
        ("results_count", "num_results", "total_results", "totalresults", "n_results"),
        ("resultcount", "resultscount"),
    ),
    Role(
        "selected_rank",
        (
            "selected_ranks",
            "selected_index",
            "selected_indexes",
            "selectedindex",
            "selectedindexes",
            *("clicked_rank", "click_rank", "clicked_index", "clickedindex", "click_index"),
            *("selected_position", "clicked_position"),
        ),
        ("rank", "position"),
    ),
    Role(
        "selected",
        ("selected_document", "selected_doc", "selected_id", "clicked", "clicked_document"),
        ("doc_id", "click"),
    ),
    Role("clicks", ()),
    Role("finished", ("is_finished", "finish", "session_finished")),
    Role("start", ("session_start", "start_time", "starttime")),
    Role("events", ()),
)
"""The roles of columns. ``clicks`` and ``events`` are nested, in JSON lines only."""

_PAYLOAD_ROLES = (
    Role("event_id", ("eventid", "event_type", "event_name")),
    Role("event_data", ("eventdata", "payload", "event_payload")),
)
"""In a flat event log: the kind of event, and its JSON payload."""

_MEANINGS = frozenset(role.name for role in ROLES)
_RANKED = frozenset({"selected_rank", "clicks"})
_PAYLOAD = frozenset({"event_id", "event_data"})
_UNINFORMATIVE = frozenset({"query_length", "querylength", "event_id", "event_data"})

Header = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The options for reading a log."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """``{role: column}`` for columns with unusual names."""
    first_rank: int | None = None
    """The rank of the first result, 0 or 1; None if not given."""
    time_unit: str | None = None
    attributes: Sequence[str] | None = None
    """The columns that are attributes of sessions; None for all suitable ones."""

    @property
    def named(self) -> list[str]:
        """The columns that the options name; a dotted name is in an object of each row."""
        return [*self.columns.values(), *(self.attributes or ())]

    def __post_init__(self) -> None:
        if self.first_rank not in (None, 0, 1) or isinstance(self.first_rank, bool):
            raise ConfigurationError(
                f"first_rank={quoted(self.first_rank)} is invalid; give 0 or 1, the rank of the "
                "first result in the log"
            )


class Layouts:
    """The layouts of the rows of a log, which may differ in JSON lines and in payloads."""

    def __init__(self, options: LogOptions, problems: Problems) -> None:
        self._options = options
        self._problems = problems
        self._layouts: dict[Header, Mapping[str, str]] = {}
        self.nested = NestedColumns(options.named)
        """Makes columns of the dotted names in the options."""

    def of(self, header: Header) -> Mapping[str, str]:
        """Return ``{role: column}`` for rows with these columns.

        Raises:
            SessionLogError: two columns could have the same role.
        """
        layout = self._layouts.get(header)
        if layout is None:
            renamed = {
                meaning: column
                for meaning, column in self._options.columns.items()
                if column in header or meaning not in _MEANINGS | _PAYLOAD
            }
            roles = (*_PAYLOAD_ROLES, *ROLES)
            source = self._problems.source
            indexes = index_of_roles(header, roles, renamed, source, SessionLogError)
            unused = frozenset() if _PAYLOAD.issubset(indexes) else _PAYLOAD
            layout = {role: header[at] for role, at in indexes.items() if role not in unused}
            self._layouts[header] = layout
        return layout

    def describing(self, header: Header) -> Sequence[str]:
        """Return the columns without a role that may describe the session."""
        claimed, wanted = set(self.of(header).values()), self._options.attributes
        return [
            name
            for name in header
            if name not in claimed
            and (normalised_name(name) not in _UNINFORMATIVE if wanted is None else name in wanted)
        ]

    @property
    def meanings(self) -> frozenset[str]:
        """The roles that any row has."""
        return frozenset(role for layout in self._layouts.values() for role in layout)

    @property
    def has_selections(self) -> bool:
        """Whether the log has a column of selections."""
        return bool(self.meanings & (_RANKED | {"selected"}))

    def check(self) -> None:
        """Check that the columns named in the options exist, and that the log has sessions.

        Raises:
            SessionLogError: a column is missing (the nearest one is suggested), or an option
                applies to no column.
        """
        columns = list(dict.fromkeys(name for header in self._layouts for name in header))
        for column in self._options.named:
            if columns and column not in columns:
                hint = suggestion(column, [*columns, *self.nested.known])
                raise SessionLogError(
                    f"{self._problems.source} has no column '{quoted(column)}'{hint}; it has "
                    f"{listed(columns, 12)}"
                )
        if self.meanings and self._options.first_rank is not None and not self.meanings & _RANKED:
            raise SessionLogError(
                f"{self._problems.source}: first_rank={self._options.first_rank} was given, but "
                "there is no known column with the ranks of selections; it has "
                f"{listed(columns, 12)}. Name the column selected_rank, or pass "
                "columns={'selected_rank': ...}"
            )
        has_times = self.meanings & {"time", "clicks"}
        if self.meanings and self._options.time_unit is not None and not has_times:
            raise SessionLogError(
                f"{self._problems.source}: time_unit={self._options.time_unit} was given, but "
                f"there is no known column with times; it has {listed(columns, 12)}. Name the "
                "column time, or pass columns={'time': ...}"
            )
        first = self._problems.place_of_first("no session")
        if first is not None and "session" not in self.meanings:
            raise SessionLogError(
                f"{first}: there is no session column; the columns are "
                f"{listed(columns, 12)}. Name it session_id, or pass columns={{'session': ...}}"
            )
