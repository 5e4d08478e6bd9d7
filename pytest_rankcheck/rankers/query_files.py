"""Track the files that each query's rows come from, so that two runs are not read as one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from pytest_rankcheck.errors import RunError, listed, plural, quoted
from pytest_rankcheck.files.id_runs import run_starts
from pytest_rankcheck.files.table_batches import Table

__all__ = ["QueryFiles", "late_files", "query_ids_of"]

_TIMES = frozenset(("date", "dt", "ds", "datetime", "time", "year", "month", "week", "day", "hour"))
_OF_RUNS = _TIMES | {"run", "run_id", "model", "version", "build", "commit"}
"""Partitions that differ in these keys hold different runs, even if their values are not dates."""
_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T _].*)?)?|(19|20)\d{6}")
_LATE = timedelta(days=1)


class QueryFiles:
    """Notes the files of each query while a run in several files is read.

    A splitter may cut a query, and rows may be shuffled: then the rows of a query are brought
    together from several files. But with two runs side by side, that would merge two rankings.
    """

    def __init__(self) -> None:
        self._first: dict[str, Path] = {}
        self._other: dict[str, Path] = {}
        """For each query with rows in several files: a second file."""
        self._mixed: dict[str, tuple[Path, Path]] = {}
        """For each query with rows of two runs: the folders of these runs."""

    def add(self, file: Path, query_ids: Iterable[str]) -> None:
        """Record that a file has rows of some queries."""
        for query_id in query_ids:
            if self._first.setdefault(query_id, file) is not file:
                self._other.setdefault(query_id, file)
                if query_id not in self._mixed:
                    self._look(query_id, file)

    def _look(self, query_id: str, file: Path) -> None:
        folders = _two_runs(self._first[query_id], file)
        if folders is not None:
            self._mixed[query_id] = folders

    def refuse_two_runs(self) -> None:
        """Refuse rankings whose rows are in the partitions of several runs.

        Raises:
            RunError: naming such a query and two of its files.
        """
        if not self._mixed:
            return
        query_id, (one, other) = next(iter(self._mixed.items()))
        raise RunError(
            f"query '{quoted(query_id)}' has rows in '{quoted(one, 200)}' and in "
            f"'{quoted(other, 200)}' ({plural(len(self._mixed), 'such query', 'such queries')} in "
            "all): these are two runs, which must not become one ranking. Give the folder of one "
            "run"
        )

    @property
    def notes(self) -> Sequence[str]:
        """A sentence about the queries with rows in several files, if there are any."""
        if not self._other:
            return ()
        query_id, other = next(iter(self._other.items()))
        count = plural(len(self._other), "query has", "queries have")
        sentence = (
            f"{count} rows in several files, which were brought together, such as "
            f"'{quoted(query_id)}' in {quoted(self._first[query_id], 200)} and "
            f"{quoted(other, 200)}; if these are files of two runs, give the files of one"
        )
        return (sentence,)


@lru_cache(10_000)
def _folders_of_runs(file: Path) -> Mapping[str, Path]:
    """Return the folders that tell which run a file belongs to, by the key of the partition.

    A folder that is named by a date alone, such as ``2026-11-21``, has an empty key.
    """
    found: dict[str, Path] = {}
    for folder in file.parents:
        key, sign, value = folder.name.partition("=")
        if not sign:
            key, value = "", folder.name
        if key.lower() in _OF_RUNS or _DATE.fullmatch(unquote(value)):
            found.setdefault(key, folder)
    return found


def _two_runs(one: Path, other: Path) -> tuple[Path, Path] | None:
    """Return the folders that show that two files are of different runs; None if none do."""
    of_one, of_other = _folders_of_runs(one), _folders_of_runs(other)
    for key in of_one.keys() & of_other.keys():
        folders = of_one[key], of_other[key]
        is_shared = folders[0] in other.parents or folders[1] in one.parents
        if not is_shared and folders[0].name != folders[1].name:
            return folders
    return None


def query_ids_of(table: Table, index: int) -> Iterator[str]:
    """Yield the query ids of a table, possibly repeated; ``index`` is their column.

    Cells with invalid ids are reported later, when the rows are read.
    """
    for batch in table.batches([index]):
        cells = batch.column(index).ids()
        if not len(cells.invalid):
            yield from dict.fromkeys(cells.ids.texts(run_starts(cells.ids)))


def late_files(files: Sequence[Path]) -> Sequence[str]:
    """Return a sentence about files that are more than a day older than the newest, if any.

    A worker that failed this week may have left last week's file. Files in several partitions by
    date are expected to differ in age.
    """
    times: dict[Path, float] = {}
    with suppress(OSError):
        times = {file: file.stat().st_mtime for file in files}
    newest = max(times.values(), default=0)
    old = [file for file, time in times.items() if time < newest - _LATE.total_seconds()]
    if not old or any(_two_runs(files[0], file) for file in files[1:]):
        return ()
    oldest = datetime.fromtimestamp(min(times.values()), UTC)
    is_or_are = "is" if len(old) == 1 else "are"
    sentence = (
        f"{len(old):,} of {len(files):,} files {is_or_are} more than a day older than the newest "
        f"(the oldest is of {oldest:%Y-%m-%d %H:%M} UTC): {listed([str(file) for file in old])}; "
        "check that none of them belongs to an earlier run"
    )
    return (sentence,)
