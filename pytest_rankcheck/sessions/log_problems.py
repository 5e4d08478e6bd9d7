"""Problems with rows of a log: an error, or set aside and counted; never dropped silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_rankcheck.errors import SessionLogError, plural
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.sessions.event_columns import number_at, positions

__all__ = ["LogSource", "Problems", "SetAside"]

_EXAMPLES = 20
_REASONS = {"no object": "no event"}
"""What a table calls a problem, and what a log does."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """The rows and sessions that a lenient reading set aside."""

    rows: int = 0
    """Rows that could not be used, and all other rows of their sessions."""
    sessions: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    """How many rows could not be used, by reason."""
    examples: tuple[str, ...] = ()
    """Descriptions of the first of them, with their places in the file."""

    def __bool__(self) -> bool:
        return self.rows > 0

    def __str__(self) -> str:
        if not self:
            return "nothing set aside"
        reasons = ", ".join(f"{count:,} x {reason}" for reason, count in self.reasons.items())
        aside = f"{plural(self.rows, 'row')} set aside from {plural(self.sessions, 'session')}"
        return f"{aside}: {reasons}; first: {self.examples[0]}"


class Problems:
    """Collects the rows that cannot be used."""

    def __init__(self, source: str, *, is_lenient: bool) -> None:
        self.source = source
        """The file or other source of the rows, for messages."""
        self.numbering = Numbering(source)
        """The places of rows, for messages."""
        self.is_lenient = is_lenient
        self.lost_rows = 0
        """Rows without a session."""
        self.unread = 0
        """Rows of a known session that could not be read as events."""
        self.notes: list[str] = []
        """What was unusual in the sources of the rows, as sentences."""
        self.times_are_seconds = False
        """Whether the format of a source says that its times are seconds since a start."""
        self._reasons: Counter[str] = Counter()
        self._first: dict[str, tuple[bool, int]] = {}
        """By reason, whether the first such row was read as an event, and its position."""
        self._examples: list[tuple[int, str]] = []
        self._sessions: set[str] = set()

    def place(self, position: int) -> str:
        """Return the place of a row, for messages."""
        return self.numbering.place(number_at(position))

    def add(
        self,
        position: int,
        session_id: str | None,
        reason: str,
        text: str,
        *,
        is_read: bool = False,
    ) -> None:
        """Note a row that cannot be used.

        Args:
            position: where it is: see `positions`.
            session_id: its session; None if unknown.
            reason: the kind of problem, in a few fixed words.
            text: what is wrong and what to do.
            is_read: whether the row was nevertheless read as an event.
        """
        position = int(position)
        self._reasons[reason] += 1
        first = is_read, position
        self._first[reason] = min(first, self._first.get(reason, first))
        if session_id is None:
            self.lost_rows += 1
        else:
            self.unread += not is_read
            self._sessions.add(session_id)
        # Keep the first in the file, in whatever order they are noted.
        self._examples.append((position, text))
        if len(self._examples) > 2 * _EXAMPLES:
            self._examples = sorted(self._examples)[:_EXAMPLES]

    def place_of_first(self, reason: str) -> str | None:
        """Return the place of the first row with a kind of problem; None without one."""
        return self.place(self._first[reason][1]) if reason in self._first else None

    @property
    def examples(self) -> Sequence[str]:
        """Descriptions of the first problems in the file, with their places."""
        first = sorted(self._examples)[:_EXAMPLES]
        return [f"{self.place(position)}: {text}" for position, text in first]

    @property
    def sessions(self) -> frozenset[str]:
        """The sessions with a row that cannot be used."""
        return frozenset(self._sessions)

    def split(self, parts: Mapping[str, Sequence[str]]) -> None:
        """Put the sessions that a session was split into in its place."""
        self._sessions = {
            part for session in self._sessions for part in parts.get(session) or [session]
        }

    @property
    def reasons(self) -> dict[str, int]:
        """How many rows cannot be used, by reason: in the order of their first rows."""
        ordered = sorted(self._first.items(), key=lambda item: item[1])
        return {reason: self._reasons[reason] for reason, _ in ordered}

    def refuse(self) -> None:
        """Reject the log if it has problems and is read strictly.

        Raises:
            SessionLogError: the first problem, and the number of problems of each kind.
        """
        if self.is_lenient or not self._reasons:
            return
        total = sum(self._reasons.values())
        first = self.examples[0]
        more = ""
        if total > 1:
            kinds = ", ".join(f"{count:,} x {reason}" for reason, count in self.reasons.items())
            more = f"\n{total:,} rows cannot be used: {kinds}"
        raise SessionLogError(
            f"{first}{more}\nFix the log, or read it with lenient=True, which sets aside and "
            "counts the sessions of such rows"
        )

    def set_aside(self, events: int) -> SetAside:
        """Return what is set aside, if the sessions with problems had so many events."""
        rows = self.lost_rows + self.unread + events
        return SetAside(rows, len(self._sessions), self.reasons, tuple(self.examples))


@dataclass(slots=True)
class LogSource:
    """A log file to read, and the collector of its problems."""

    path: Path
    problems: Problems
    before: int = 0
    """The number of the last row of the files that were read before it."""
    last: int = 0
    """The number of its last line that is not a row."""

    def note_broken(self, number: int, reason: str, text: str) -> None:
        """Note a line, or an element, that is not a row."""
        self.last = max(self.last, number)
        position = int(positions([number + self.before])[0])
        self.problems.add(position, None, _REASONS.get(reason, reason), text)
