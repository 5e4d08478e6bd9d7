"""Sharing one run between processes: the first computes it, the others wait and read it.

SQLite does the locking: the operating system releases the lock of a crashed process, and locking
works the same on every platform.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pytest_rankcheck.rankers.ranking import Ranking
from pytest_rankcheck.rankers.run import Run

__all__ = ["run_computed_once"]

_POLL_SECONDS = 1.0
"""How long one attempt to lock waits; short, so that interrupts are handled between attempts."""


def run_computed_once(path: Path, key: str, compute: Callable[[], Run]) -> Run:
    """Return the run that ``compute`` returns, computed by one process only.

    Args:
        path: a database shared by all processes; created if missing.
        key: identifies the run; each key is computed once.
        compute: computes the run. If it raises, nothing is stored and the next process tries.
    """
    __tracebackhide__ = True
    with closing(sqlite3.connect(path, timeout=_POLL_SECONDS, isolation_level=None)) as database:
        _lock(database)
        try:
            database.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, text TEXT)")
            row = database.execute("SELECT text FROM runs WHERE key = ?", (key,)).fetchone()
            if row:
                return _run_of(row[0])
            run = compute()
            database.execute("INSERT INTO runs VALUES (?, ?)", (key, _text_of(run)))
            database.execute("COMMIT")
            return run
        finally:
            if database.in_transaction:
                database.execute("ROLLBACK")


def _lock(database: sqlite3.Connection) -> None:
    """Begin an exclusive transaction, waiting for other processes as long as necessary."""
    while True:
        try:
            database.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
        else:
            return


def _text_of(run: Run) -> str:
    rankings = {
        query_id: (ranking.doc_ids, ranking.scores, ranking.repeated)
        for query_id, ranking in run.rankings().items()
    }
    names = ("name", "depth", "ties", "duplicates", "seconds")
    return json.dumps({"rankings": rankings, **{name: getattr(run, name) for name in names}})


def _run_of(text: str) -> Run:
    details = json.loads(text)
    rankings = {
        query_id: Ranking(tuple(doc_ids), None if scores is None else tuple(scores), repeated)
        for query_id, (doc_ids, scores, repeated) in details.pop("rankings").items()
    }
    return Run(rankings, **details)
