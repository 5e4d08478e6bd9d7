"""The profile of a log: what is in it, read as given, or else as leniently as possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.sessions.log_files import AnyPath, LogFiles
from pytest_rankcheck.sessions.log_notes import PAUSE
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.profile.raw_rows import RawRows
from pytest_rankcheck.sessions.session_log import SessionLog

__all__ = ["LogProfile", "Pause"]

_NO_SESSIONS = "session column"
_REMEDIES: dict[str, object] = {
    "first_rank": 1,
    "time_unit": "s",
    "selections_where": "all",
    "duplicates": "keep",
    "lenient": True,
}
"""What a message about a refused log asks for, and what is guessed to show what is in it."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause between two events of a session."""

    session_id: str
    seconds: float


@dataclass(frozen=True)
class LogProfile:
    """What is in a log."""

    name: str
    source: str
    """The files, for messages."""
    reading: Mapping[str, object]
    """The keywords with which it is read."""
    rows: RawRows
    log: SessionLog | None
    """The log; if it is refused, as leniently read as possible; None if that is refused too."""
    refusals: Sequence[str]
    """Why the log is refused as it is read, and then with what the message asks for."""
    is_ubi: bool = False
    """Whether the rows are queries of User Behavior Insights."""

    @classmethod
    def of(
        cls,
        paths: AnyPath | Sequence[AnyPath],
        reading: Mapping[str, object],
        ubi_events: AnyPath | Sequence[AnyPath] | None = None,
    ) -> LogProfile:
        """Return the profile of a log in one file or several.

        Args:
            paths: the files or patterns, as `SessionLog.load` takes them; or the queries of User
                Behavior Insights.
            reading: the keywords of `SessionLog.load`, or of `SessionLog.from_ubi`.
            ubi_events: the events of User Behavior Insights; None for any other log.

        Raises:
            SessionLogError: a file is missing, empty, or not a table.
            ConfigurationError: a keyword is invalid.
        """
        files = LogFiles.of(paths)
        problems = Problems(files.words, is_lenient=True)
        of_rows = {} if ubi_events else {k: v for k, v in reading.items() if k != "lenient"}
        options = LogOptions(**of_rows)  # type: ignore[arg-type]
        rows = RawRows.of(files.table(None, options.columns, problems), options)
        if ubi_events is not None:
            remedies: dict[str, object] = {"lenient": True}
            log, refusals = _read(
                partial(SessionLog.from_ubi, paths, ubi_events), reading, remedies
            )
        else:
            remedies = _REMEDIES | ({_NO_SESSIONS: rows.users[0]} if rows.users else {})
            log, refusals = _read(partial(SessionLog.load, paths), reading, remedies)
        is_ubi = ubi_events is not None
        return cls(files.name, files.words, reading, rows, log, refusals, is_ubi)

    @cached_property
    def session_sizes(self) -> IntArray:
        """How many events each session has; if the log cannot be read, each session id, ``[S]``."""
        if self.log is None:
            return np.array(list(self.rows.sessions.values()), dtype=np.int64)
        return self.log.trails.events.astype(np.int64)

    @cached_property
    def selected_ranks(self) -> IntArray:
        """The ranks of all selections, from 1."""
        lists = self.log.events["selected"] if self.log else ()
        return np.array([rank for ranks in lists for rank in ranks], dtype=np.int64)

    @cached_property
    def pauses(self) -> Sequence[Pause]:
        """The pauses between the events of sessions, longest first; none without times."""
        if self.log is None:
            return ()
        frame = self.log.events
        ids = frame["session_id"].to_numpy()
        seconds = np.diff(frame["time"].to_numpy(dtype=np.float64))
        is_pause = (ids[1:] == ids[:-1]) & ~np.isnan(seconds)
        order = np.flatnonzero(is_pause)[np.argsort(-seconds[is_pause], kind="stable")]
        return [Pause(str(ids[place]), float(seconds[place])) for place in order.tolist()]

    @property
    def long_pauses(self) -> int:
        """How many pauses are longer than `PAUSE`."""
        return sum(pause.seconds > PAUSE for pause in self.pauses)

    def largest_sessions(self, count: int) -> Sequence[tuple[str, int]]:
        """Return the sessions with the most events, and how many they have."""
        if self.log is None:
            return [(name, events) for name, events in self.rows.sessions.most_common(count)]
        order = np.argsort(-self.session_sizes, kind="stable")[:count]
        sizes = self.session_sizes[order].tolist()
        return [
            (self.log.session_ids[place], size) for place, size in zip(order, sizes, strict=True)
        ]

    @property
    def event_count(self) -> int:
        """How many events the log has."""
        return self.log.event_count if self.log else self.rows.sessions.total()


def _read(
    load: Callable[..., SessionLog], reading: Mapping[str, object], remedies: dict[str, object]
) -> tuple[SessionLog | None, tuple[str, ...]]:
    """Return a log, and why it is refused: as it is read, and again with what the message asks for.

    None if it is refused however it is read.
    """
    refusals: list[str] = []
    guessed = dict(reading)
    while True:
        try:
            return load(**guessed), tuple(refusals)
        except RankcheckError as error:
            if "are ranks counted from 0?" in str(error) and "first_rank" not in reading:
                guessed["first_rank"] = 0
                reading = {**reading, "first_rank": 0}  # guessed once more, and no more
                continue
            refusals.append(str(error))
        words = next((key for key in remedies if key in refusals[-1]), None)
        if words is None:
            return None, tuple(refusals)
        value = remedies.pop(words)
        if words == _NO_SESSIONS:
            guessed |= {"session": value, "session_gap": PAUSE}
        else:
            guessed.setdefault(words, value)
