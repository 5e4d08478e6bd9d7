"""The work of a new process for the process condition: import and ask the ranker, write answers.

`process_asking` starts it with a file that holds the task, and reads the file with the answers.
The ranker keeps standard output and standard error to itself.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.golden.golden_transfer import golden_from_data
from pytest_rankcheck.rankers.importable_names import ImportableName
from pytest_rankcheck.rankers.rank import RankOptions

__all__ = ["answer"]


def answer(task: dict[str, Any], answer_file: str) -> None:
    """Ask a task's ranker all queries of the task, and write the answers.

    Raises:
        Exception: the ranker cannot be imported or made.
    """
    _end_with_parent()
    options: RankOptions = task["options"]
    options["doc_id"] = _doc_id(task["options"]["doc_id"])
    golden = golden_from_data(task["golden"])
    ranker = RepeatedRanker.of(ImportableName(*task["ranker"]).ranker(), golden, options)
    attempt = ranker.rerun(golden)
    answers = {
        "rankings": {query_id: list(attempt.run[query_id]) for query_id in attempt.run},
        "failures": {
            query_id: f"{type(failure).__name__}: {failure}"
            for query_id, failure in attempt.failures.items()
        },
    }
    # Atomic: a process that is killed while it writes leaves no answer.
    unfinished = Path(answer_file + ".part")
    unfinished.write_text(json.dumps(answers), encoding="utf-8")
    unfinished.replace(answer_file)


def _end_with_parent() -> None:
    """End this process when its standard input ends, because its parent is gone.

    The ranker and its children get an empty standard input instead.
    """
    watched = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)

    def watch() -> None:
        while os.read(watched, 1):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _doc_id(steps: Sequence[object] | None) -> Any:
    """Return the rule that `process_asking` wrote, with its functions imported by name."""
    if steps is None:
        return None
    return [step if isinstance(step, str) else _function(step) for step in steps]


def _function(name: Any) -> object:
    return ImportableName(*name).value("doc_id")
