"""The columns of a log: their roles, and which rows have which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rankcheck.errors import SessionLogError, listed, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import Role, index_of_roles, normalised_name
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import Problems

_QUERY = Role("query", ("query_text", "search_query", "keyword", "keywords"), ("text", "input"))
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
    _QUERY,
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
        (
            *("selected_document", "selected_doc", "selected_id"),
            *("clicked", "clicked_document", "click"),
        ),
        ("doc_id",),
    ),
    Role(
        "selected_time",
        ("click_time", "clicked_time", "selection_time", "selected_at", "clicked_at"),
    ),
    Role("grade", ("selected_grade", "selection_grade", "click_grade")),
    Role("search", ("search_id",), ("query_id", "request_id")),
    Role("clicks", ()),
    Role("start", ("session_start", "start_time", "starttime")),
    Role("events", ()),
)
"""The roles of columns. ``clicks`` and ``events`` are nested, in JSON lines only; ``search`` is
recognised by name only where rows are merged: see `Layouts.merges_rows`."""

_PAYLOAD_ROLES = (
    Role("event_id", ("eventid", "event_type", "event_name")),
    Role("event_data", ("eventdata", "payload", "event_payload")),
)
"""In a flat event log: the kind of event, and its JSON payload."""

_MEANINGS = frozenset(role.name for role in ROLES)
_PAYLOAD = frozenset({"event_id", "event_data"})
_UNINFORMATIVE = frozenset({"query_length", "querylength", "event_id", "event_data"})

_WHO = ("user", "client", "visitor", "customer", "account", "member", "cookie", "device")
USER_NAMES = frozenset(
    (
        *(who for who in _WHO if who != "device"),
        *(f"{who}{end}" for who in _WHO for end in ("id", "_id", "_uuid", "_hash", "_name")),
        *("uid", "uuid", "username", "anonymous_id", "anonymousid", "person", "person_id"),
    )
)
"""The names of attributes that are taken for users, normalised."""

Header = tuple[str, ...]


class Layouts:
    """The layouts of the rows of a log, which may differ in JSON lines and in payloads."""

    def __init__(self, options: LogOptions, problems: Problems) -> None:
        self._options = options
        self._problems = problems
        self._layouts: dict[Header, Mapping[str, str]] = {}
        self._roles: dict[str, str] = {}
        """The first column with each role that any row has."""
        self.named: Sequence[str] = options.named
        """The columns that the options name."""

    def of(self, header: Header) -> Mapping[str, str]:
        """Return ``{role: column}`` for rows with these columns.

        Raises:
            SessionLogError: two columns could have the same role.
        """
        if header not in self._layouts:
            self._layouts[header] = layout = self._layout(header)
            self._roles = {**layout, **self._roles}
        return self._layouts[header]

    def _layout(self, header: Header) -> Mapping[str, str]:
        """Return ``{role: column}``.

        A column of ``selections_where`` has a role only if ``columns`` says so.
        """
        given = self._options.columns
        free = [name for name in header if name not in self.conditions - set(given.values())]
        renamed = {
            meaning: column
            for meaning, column in given.items()
            if column in header or meaning not in _MEANINGS | _PAYLOAD
        }
        names = set(map(normalised_name, free))
        payloads = {"event_data", *_PAYLOAD_ROLES[1].names}
        roles = [role for role in ROLES if role.name != "search" or self.merges_rows]
        if names & payloads or given.keys() & _PAYLOAD:
            roles = [*_PAYLOAD_ROLES, *roles]
        source = self._problems.source
        indexes = index_of_roles(free, roles, renamed, source, SessionLogError)
        unused = frozenset() if _PAYLOAD.issubset(indexes) else _PAYLOAD
        layout = {role: free[at] for role, at in indexes.items() if role not in unused}
        search = layout.get("search")
        if search and "query" not in layout and _QUERY.among([normalised_name(search)]):
            layout["query"] = search  # the text tells searches apart, and is still the text
        return layout

    @property
    def conditions(self) -> frozenset[str]:
        """The columns whose values say which rows are selections."""
        rule = self._options.rule
        return frozenset(rule.wanted) if rule else frozenset()

    @property
    def merges_rows(self) -> bool:
        """Whether the rows of one search are merged into one event."""
        return self._options.rule is not None or "search" in self._options.columns

    def describing(self, header: Header) -> Sequence[str]:
        """Return the columns without a role that may describe the session."""
        free, wanted = self.unclaimed(header), self._options.attributes
        if wanted is not None:
            return [name for name in free if name in wanted]
        names = (name for name in free if name not in self.conditions)
        return [name for name in names if normalised_name(name) not in _UNINFORMATIVE]

    def unclaimed(self, header: Header) -> Sequence[str]:
        """Return the columns without a role, and those of ``selections_where``."""
        claimed = set(self.of(header).values()) - self.conditions
        return [name for name in header if name not in claimed]

    def guessed(self, role: str) -> str | None:
        """Return the column that has a role because of its name; None if the options name it."""
        return None if role in self._options.columns else self._roles.get(role)

    @property
    def has_selections(self) -> bool:
        """Whether the log has a column of selections."""
        return bool(self._roles.keys() & {"selected_rank", "selected", "clicks"})

    def check(self) -> None:
        """Check that the columns named in the options exist, and that the log has sessions.

        Raises:
            SessionLogError: a column is missing; the nearest one is suggested.
        """
        columns = list(dict.fromkeys(name for header in self._layouts for name in header))
        for column in self.named:
            if columns and column not in columns:
                hint = suggestion(column, columns)
                raise SessionLogError(
                    f"{self._problems.source} has no column '{quoted(column)}'{hint}; it has "
                    f"{listed(columns, 12)}"
                )
        first = self._problems.place_of_first("no session")
        if first is not None and "session" not in self._roles:
            users = [name for name in columns if normalised_name(name) in USER_NAMES]
            user = quoted(users[0] if users else "user_id")
            raise SessionLogError(
                f"{first}: there is no session column; the columns are {listed(columns, 12)}. "
                "Name it session_id, or pass columns={'session': ...}. If there are only users, "
                f"split what they did by pauses: session='{user}', session_gap='30min'"
            )
