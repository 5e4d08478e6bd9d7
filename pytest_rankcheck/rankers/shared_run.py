"""One run for several processes: the first computes it, the others wait and read it.

SQLite does the locking: its lock belongs to the operating system, so that of a crashed process
is free again, and it works the same on every platform.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pytest_rankcheck.files.whole_files import readable_json
from pytest_rankcheck.rankers.formats.jsonl_runs import lines_to_write, listings_of
from pytest_rankcheck.rankers.run import Run

__all__ = ["run_computed_once"]

_POLL_SECONDS = 1.0
"""How long one attempt to lock waits; short, so that an interrupt gets through between two."""


def run_computed_once(path: Path, key: str, compute: Callable[[], Run]) -> Run:
    """Return the run that ``compute`` gives, computed by one process only.

    Args:
        path: a database that all processes share; it is made when it is not there.
        key: what the run is of. Another key is computed anew.
        compute: makes the run. If it raises, nothing is kept, and the next process tries.

    Raises:
        Exception: what ``compute`` raises.
    """
    __tracebackhide__ = True
    with closing(sqlite3.connect(path, timeout=_POLL_SECONDS, isolation_level=None)) as database:
        _lock(database)
        try:
            database.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, text TEXT)")
            found = database.execute("SELECT text FROM runs WHERE key = ?", (key,)).fetchone()
            if found:
                return _run_of(found[0])
            run = compute()
            database.execute("INSERT INTO runs VALUES (?, ?)", (key, _text_of(run)))
            database.execute("COMMIT")
            return run
        finally:
            if database.in_transaction:
                database.execute("ROLLBACK")


def _lock(database: sqlite3.Connection) -> None:
    """Begin a transaction that no other process shares, however long the other one takes."""
    while True:
        try:
            database.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
        else:
            return


def _text_of(run: Run) -> str:
    header = {
        "name": run.name,
        "depth": run.depth,
        "ties": run.ties,
        "duplicates": run.duplicates,
        "seconds": dict(run.seconds),
    }
    return "\n".join((readable_json(header), *lines_to_write(run.listings())))


def _run_of(text: str) -> Run:
    header, *lines = text.split("\n")
    details = json.loads(header)
    listings = listings_of((f"line {number}", line) for number, line in enumerate(lines))
    rankings = {
        query_id: listing.ranking(query_id, details["ties"])
        for query_id, listing in listings.items()
    }
    return Run(rankings, **details)
