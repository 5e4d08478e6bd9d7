"""The layouts of a log: which column of its rows has which role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rankcheck.errors import SessionLogError, listed, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import index_of_roles, normalised_name
from pytest_rankcheck.sessions.log_options import PAYLOAD_ROLES, ROLES, LogOptions
from pytest_rankcheck.sessions.log_problems import Problems

__all__ = ["MEANINGS", "Layouts"]

MEANINGS = frozenset(role.name for role in ROLES)
_RANKED = frozenset({"selected_rank", "clicks"})
_PAYLOAD = frozenset({"event_id", "event_data"})
_UNINFORMATIVE = frozenset({"query_length", "querylength", "event_id", "event_data"})

Header = tuple[str, ...]


class Layouts:
    """The layouts of the rows of a log, which may differ in JSON lines and in payloads."""

    def __init__(self, options: LogOptions, problems: Problems) -> None:
        self._options = options
        self._problems = problems
        self._layouts: dict[Header, Mapping[str, str]] = {}

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
                if column in header or meaning not in MEANINGS | _PAYLOAD
            }
            roles = (*PAYLOAD_ROLES, *ROLES)
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
        wanted = [*self._options.columns.values(), *(self._options.attributes or ())]
        for column in wanted:
            if columns and column not in columns:
                raise SessionLogError(
                    f"{self._problems.source} has no column '{quoted(column)}'"
                    f"{suggestion(column, columns)}; it has {listed(columns, 12)}"
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
