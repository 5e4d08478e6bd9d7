"""The files of a log: one, several, or all that match a pattern; read as one table.

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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from pytest_rankcheck.errors import ConfigurationError, SessionLogError, plural
from pytest_rankcheck.files.file_patterns import (
    files_of_parts,
    matching_files,
)
from pytest_rankcheck.files.json_files import table_of_objects
from pytest_rankcheck.files.packed_files import failures_named, first_bytes, shown_name
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.files.text_files import JoinedNumbering, Numbering
from pytest_rankcheck.sessions.log_problems import LogSource, Problems

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
