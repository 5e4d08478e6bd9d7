"""Options for reading a log: column roles, the first rank, the time unit, strict or lenient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.files.delimited_tables import Role

__all__ = ["PAYLOAD_ROLES", "ROLES", "LogOptions"]

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

PAYLOAD_ROLES = (
    Role("event_id", ("eventid", "event_type", "event_name")),
    Role("event_data", ("eventdata", "payload", "event_payload")),
)
"""In a flat event log: the kind of event, and its JSON payload."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The options for reading a log."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """``{role: column}`` for columns with unusual names."""
    first_rank: int | None = None
    """The rank of the first result, 0 or 1; None if not given."""
    time_unit: str | None = None
    attributes: tuple[str, ...] | None = None
    """The columns that are attributes of sessions; None for all suitable ones."""
    is_lenient: bool = False

    def checked(self) -> LogOptions:
        """Return the options, validated.

        Raises:
            ConfigurationError: an option is invalid.
        """
        if self.first_rank not in (None, 0, 1) or isinstance(self.first_rank, bool):
            raise ConfigurationError(
                f"first_rank={quoted(self.first_rank)} is invalid; give 0 or 1, the rank of the "
                "first result in the log"
            )
        return self
