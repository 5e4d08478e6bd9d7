"""What is wrong with rows of a log: an error, or set aside and counted; never dropped silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_rankcheck.errors import SessionLogError, plural

__all__ = ["Problems", "SetAside"]

_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class SetAside:
    """What a lenient reading has set aside."""

    rows: int = 0
    """Rows that could not be used, and all others of their sessions."""
    sessions: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    """How many rows could not be used, by the reason."""
    examples: tuple[str, ...] = ()
    """The first of them in words, with their places in the file."""

    def __bool__(self) -> bool:
        return self.rows > 0

    def __str__(self) -> str:
        if not self:
            return "nothing set aside"
        reasons = ", ".join(f"{count:,} x {reason}" for reason, count in self.reasons.items())
        return (
            f"{plural(self.rows, 'row')} set aside, of {plural(self.sessions, 'session')}: "
            f"{reasons}; first: {self.examples[0]}"
        )


class Problems:
    """The rows that cannot be used, as they are found."""

    def __init__(self, source: str, *, is_lenient: bool) -> None:
        self.source = source
        """The file, or what else the rows come from."""
        self.is_lenient = is_lenient
        self.before_number = ":"
        """What stands between the source and a row's number in messages."""
        self.lost_rows = 0
        """Rows that belong to no session."""
        self.unread = 0
        """Rows of a known session that are no events, because they could not be read."""
        self._reasons: Counter[str] = Counter()
        self._examples: list[tuple[int, str]] = []
        self._sessions: set[str] = set()

    def place(self, number: int) -> str:
        """Return where a row is, in words."""
        return f"{self.source}{self.before_number}{number}"

    def add(
        self, number: int, session_id: str | None, reason: str, text: str, *, is_read: bool = False
    ) -> None:
        """Note a row that cannot be used.

        Args:
            number: its line, or row.
            session_id: its session; None where that is not known.
            reason: the kind of problem, in a few words that are the same for all of the kind.
            text: what is wrong and what to do.
            is_read: whether the row became an event all the same.
        """
        self._reasons[reason] += 1
        if session_id is None:
            self.lost_rows += 1
        else:
            self.unread += not is_read
            self._sessions.add(session_id)
        # The first in the file, in whatever order they are found.
        self._examples.append((number, f"{self.place(number)}: {text}"))
        if len(self._examples) > 2 * _EXAMPLES:
            self._examples = sorted(self._examples)[:_EXAMPLES]

    @property
    def sessions(self) -> frozenset[str]:
        """The sessions that have such a row."""
        return frozenset(self._sessions)

    def refuse(self) -> None:
        """Refuse the log where something is wrong with it and it is read strictly.

        Raises:
            SessionLogError: with the first problem, and how many there are of each kind.
        """
        if self.is_lenient or not self._reasons:
            return
        total = sum(self._reasons.values())
        first = sorted(self._examples)[0][1]
        more = ""
        if total > 1:
            kinds = ", ".join(f"{count:,} x {reason}" for reason, count in self._reasons.items())
            more = f"\n{total:,} rows cannot be used: {kinds}"
        raise SessionLogError(
            f"{first}{more}\nMend the log; or read it with lenient=True, which sets aside the "
            "sessions of such rows and says how many"
        )

    def set_aside(self, events: int) -> SetAside:
        """Return what is set aside.

        Args:
            events: how many events the sessions with problems had.
        """
        examples = tuple(text for _, text in sorted(self._examples)[:_EXAMPLES])
        return SetAside(
            self.lost_rows + self.unread + events,
            len(self._sessions),
            dict(self._reasons),
            examples,
        )
