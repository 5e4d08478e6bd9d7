"""Problems with rows of a log: an error, or set aside and counted; nothing is dropped silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_rankcheck.errors import SessionLogError, plural, quoted
from pytest_rankcheck.files.text_files import Numbering


def counts_text(counts: Mapping[str, int]) -> str:
    """Return how often something occurs, as text: ``2 x not JSON, 1 x no session``."""
    return ", ".join(f"{count:,} x {what}" for what, count in counts.items())


@dataclass(frozen=True, slots=True)
class SetAside:
    """The rows and sessions that a lenient reading set aside."""

    rows: int = 0
    """Rows that could not be used, and all other rows of their sessions."""
    sessions: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    """How many rows could not be used, by reason."""
    first: str = ""
    """A description of the first of them, with its place in the file."""

    def __bool__(self) -> bool:
        return self.rows > 0

    def __str__(self) -> str:
        if not self:
            return "nothing set aside"
        aside = f"{plural(self.rows, 'row')} set aside from {plural(self.sessions, 'session')}"
        return f"{aside}: {counts_text(self.reasons)}; first: {self.first}"


class Problems:
    """Collects the rows that cannot be used."""

    def __init__(self, source: str, *, is_lenient: bool) -> None:
        self.source = source
        """The file or other source of the rows, for messages."""
        self.numbering = Numbering(source)
        """The places of rows, for messages."""
        self.is_lenient = is_lenient
        self.lost_rows = 0
        """Rows that are not among the events."""
        self.sessions: set[str] = set()
        """The sessions with a row that cannot be used."""
        self.notes: list[str] = []
        """What was unusual in the sources of the rows, as sentences."""
        self._counts: Counter[str] = Counter()
        self._first: tuple[int, str] | None = None
        """The position of the first problem in the file, and its description."""

    def place(self, position: int) -> str:
        """Return the place of a row, for messages."""
        return self.numbering.place(position)

    def add(self, position: int, session: str | None, reason: str, text: str) -> None:
        """Note a row that cannot be used.

        Args:
            position: its number in the file.
            session: its session; None if unknown.
            reason: the kind of problem, in a few fixed words.
            text: what is wrong with the row, and what to do.
        """
        self._counts[reason] += 1
        if session is None:
            self.lost_rows += 1
        else:
            self.sessions.add(session)
            text = f"session '{quoted(session)}': {text}"
        self._first = min(self._first or (position, text), (position, text))

    @property
    def first(self) -> str:
        """The description of the first problem in the file, with its place; empty without one."""
        return f"{self.place(self._first[0])}: {self._first[1]}" if self._first else ""

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many rows cannot be used, by reason."""
        return dict(self._counts)

    def refuse(self) -> None:
        """Reject the log if it has problems and is read strictly.

        Raises:
            SessionLogError: the first problem, and the number of problems of each kind.
        """
        total = self._counts.total()
        if self.is_lenient or not total:
            return
        more = f"\n{total:,} rows cannot be used: {counts_text(self.reasons)}" if total > 1 else ""
        raise SessionLogError(
            f"{self.first}{more}\nFix the log, or read it with lenient=True, which sets "
            "aside and counts the sessions of such rows"
        )

    def set_aside(self, events: int) -> SetAside:
        """Return what is set aside, given how many events the sessions with problems still had."""
        rows = self.lost_rows + events
        return SetAside(rows, len(self.sessions), self.reasons, self.first)


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
        self.problems.add(number + self.before, None, reason, text)
