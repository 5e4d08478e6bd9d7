"""What a log is read from, files or dicts, and what is wrong with its rows.

The files of a log are one, several, or all that match a pattern; they are read as one table. A row
that cannot be used is an error, or it is set aside and counted; nothing is dropped silently.

A CSV or TSV file, or a Parquet file (extra ``[fast]``) has one row per event. JSON lines have one
object per event, with a table's columns as keys::

    {"session_id": "s1", "event": 1, "time": 0.5, "query": "cam", "results": ["d7", "d3"]}
    {"session_id": "s1", "event": 2, "time": 1.5, "query": "camel", "results": ["d3"],
     "selected": "d3"}
    {"session_id": "s1", "event": 3, "time": 2.5, "query": "cam", "results": ["d7", "d3"],
     "clicks": [{"rank": 2, "time": 4.5}]}

A JSON file may also be an array of such objects, or one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from pytest_rankcheck.errors import ConfigurationError, SessionLogError, plural, quoted
from pytest_rankcheck.files.file_patterns import files_of_parts, matching_files
from pytest_rankcheck.files.json_files import table_of_objects
from pytest_rankcheck.files.packed_files import failures_named, first_bytes, shown_name
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.files.text_files import JoinedNumbering, Numbering


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


# --- files -------------------------------------------------------------------------------------

AnyPath = str | PathLike[str]


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The files of one log."""

    given: Sequence[Path]
    """The paths and patterns, as the caller gave them."""
    files: Sequence[Path]
    """The files, in the order of their names."""

    @classmethod
    def of(cls, given: AnyPath | Sequence[AnyPath]) -> LogFiles:
        """Return the files of a path, of several paths, of patterns, or of folders of parts.

        Raises:
            SessionLogError: no file matches a pattern, a folder has no parts, or a file is given
                twice.
            ConfigurationError: the list is empty.
        """
        paths = list(map(Path, [given] if isinstance(given, (str, PathLike)) else given))
        if not paths:
            raise ConfigurationError("path: the list is empty; give the paths of log files")
        parts = {path: files_of_parts(path, SessionLogError) for path in paths if _is_folder(path)}
        files = [file for path in paths for file in parts.get(path, [path])]
        return cls(paths, matching_files(files, SessionLogError))

    @property
    def name(self) -> str:
        """The default name of the log: that of the pattern, or of the first file."""
        return shown_name(self.given[0] if len(self.given) == 1 else self.files[0])

    @property
    def words(self) -> str:
        """What messages call the files together."""
        if len(self.files) == 1:
            return str(self.files[0])
        first = self.given[0] if len(self.given) == 1 else self.files[0]
        return f"the log of {len(self.files)} files ({first}{', ...' * (len(self.given) > 1)})"

    def table(self, problems: Problems, after: int = 0) -> Table:
        """Return the rows of all files as one table.

        Args:
            problems: collects what is not a row.
            after: the number of the last row of sources that precede these files, for problems.

        Raises:
            SessionLogError: a file is missing, empty or not a table.
        """

        def opened(source: LogSource) -> Table:
            broken = source.note_broken
            return read_table(source.path, SessionLogError, name="log", on_broken=broken)

        if len(self.files) == 1:
            return opened(LogSource(self.files[0], problems, after))
        filled = [path for path in self.files if first_bytes(path, 1, SessionLogError)]
        empty = len(self.files) - len(filled)
        if empty:
            problems.notes.append(f"{plural(empty, 'file is', 'files are')} empty")
        numbering = JoinedNumbering(self.words)

        def read(*_: object) -> Iterator[Batch]:
            before = 0
            for path in filled:
                source = LogSource(path, problems, after + before)
                table = opened(source)
                numbering.parts.append((before, table.numbering))
                last = 0
                for batch in table.batches():
                    last = max([last, *batch.numbers[-1:]])
                    yield replace(batch, numbers=[each + before for each in batch.numbers])
                before += max(last, source.last)

        return Table([], numbering, read)


def _is_folder(path: Path) -> bool:
    with failures_named(path, SessionLogError):  # the name may be too long for the file system
        return path.is_dir()


def table_of_records(records: Iterable[object], source: LogSource) -> Table:
    """Return dicts in memory as the rows of a log.

    Anything else among them becomes a problem.
    """
    numbering = Numbering(str(source.path), is_table=True)
    return table_of_objects(records, numbering, SessionLogError, source.note_broken)
