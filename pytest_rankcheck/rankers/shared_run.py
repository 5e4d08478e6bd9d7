"""Sharing one run between processes: the first computes it, the others wait and read it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.rankers.ranking import Ranking
from pytest_rankcheck.rankers.run import Run


def run_computed_once(folder: Path, key: str, compute: Callable[[], Run]) -> Run:
    """Return the run that ``compute`` returns, computed by one process only.

    Only one process computes at a time, whatever the run. If it dies, its lock is released.

    Args:
        folder: a folder that all processes share.
        key: identifies the run; each key is computed once.
        compute: computes the run. If it raises, nothing is stored and the next process tries.
    """
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    file = folder / f"rankcheck-run-{digest}.json"
    with FileLock(folder / "rankcheck-runs.lock"):
        if file.exists():
            return _run_of(file.read_text("utf-8"))
        run = compute()
        write_whole(file, _text_of(run))
        return run


def _text_of(run: Run) -> str:
    rankings = {
        query_id: (ranking.doc_ids, ranking.scores) for query_id, ranking in run.rankings().items()
    }
    names = ["name", "depth", "ties", "duplicates", "seconds", "notes"]
    names += ["concurrency", "largest_batch", "failed", "texts"]
    return json.dumps({"rankings": rankings, **{name: getattr(run, name) for name in names}})


def _run_of(text: str) -> Run:
    details = json.loads(text)
    rankings = {
        query_id: Ranking(tuple(doc_ids), None if scores is None else tuple(scores))
        for query_id, (doc_ids, scores) in details.pop("rankings").items()
    }
    return Run(rankings, **details)
