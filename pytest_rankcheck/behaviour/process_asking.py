"""Asking a ranker in a new process with another hash seed, thread count, locale and time zone.

The process gets the golden set and the name of the ranker in a file, as JSON, imports the ranker
with this process's ``sys.path`` and working directory, and writes its answers to another file, so
that output printed by the ranker cannot damage them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.process_surroundings import Surroundings
from pytest_rankcheck.errors import ConfigurationError, RankerError, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.golden_transfer import golden_to_data
from pytest_rankcheck.rankers.importable_names import ImportableName, importable_name
from pytest_rankcheck.rankers.rank import Attempt
from pytest_rankcheck.rankers.run import Run

__all__ = ["IN_THE_PROCESS", "ProcessAsker", "is_asked_process"]

_MARK = "RANKCHECK_PROCESS_CONDITION"
"""Set in the processes that this module starts, so that they do not start further ones."""
_LAST_LINES = 12
_POLL = 0.01
"""Seconds between two checks for the answer."""
_GRACE = 2.0
"""Seconds that a process has to end by itself after its answer."""
IN_THE_PROCESS = "in the new process: "
"""The prefix of the text of an error that the ranker raised in a new process."""
_START = (
    "import json, sys; task = json.load(open(sys.argv[1], encoding='utf-8')); "
    "sys.path[:] = task['path']; "
    "from pytest_rankcheck.behaviour.process_child import answer; answer(task, sys.argv[2])"
)
"""The code of a new process: it uses only the standard library until ``sys.path`` is set."""


def is_asked_process() -> bool:
    """Whether the process condition started this process."""
    return _MARK in os.environ


@dataclass(frozen=True, slots=True)
class ProcessAsker:
    """Asks a ranker, by its name, in new processes."""

    ranker: RepeatedRanker
    """The ranker with the options for asking it in this process: depth, ties and others."""
    name: ImportableName
    seconds: float
    """The time limit of a process, in seconds."""

    def ask(self, golden: GoldenSet, around: Surroundings) -> Attempt:
        """Return the answers of a new process.

        Raises:
            RankerError: the process fails, or does not answer in time.
        """
        __tracebackhide__ = True
        ids = golden.query_ids[::-1] if around.is_reversed else golden.query_ids
        asked = golden.ordered(ids)
        task = {
            "path": [entry for entry in sys.path if isinstance(entry, str)],
            "ranker": [self.name.specification, self.name.file],
            "options": _options(self.ranker),
            "golden": golden_to_data(asked),
        }
        self.ranker.count(len(asked))
        with tempfile.TemporaryDirectory(prefix="rankcheck-") as folder:
            answers = self._answers(Path(folder), task, around)
        rankings = {query_id: tuple(docs) for query_id, docs in answers["rankings"].items()}
        failures: dict[str, Exception] = {
            query_id: RankerError(f"{IN_THE_PROCESS}{text}")
            for query_id, text in answers["failures"].items()
        }
        return Attempt(Run(rankings, name=self.ranker.adapter.name), failures)

    def _answers(self, folder: Path, task: dict[str, Any], around: Surroundings) -> dict[str, Any]:
        __tracebackhide__ = True
        task_file, answer_file = folder / "task.json", folder / "answer.json"
        task_file.write_text(json.dumps(task), encoding="utf-8")
        # -P: the working directory must not hide modules of the standard library.
        command = [sys.executable, "-P", "-c", _START, str(task_file), str(answer_file)]
        environment = {**os.environ, **around.variables, _MARK: "1"}
        output = folder / "output.txt"
        with output.open("wb") as stream:
            # Files, not pipes: a child of the ranker may hold a pipe open. When this process
            # dies, the new one's standard input ends, and it ends itself.
            started = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=stream, stderr=stream
            )
        status = _wait(started, answer_file, self.seconds)
        if not answer_file.exists():
            raise self._error(around, _why(status, self.seconds), output)
        answers: dict[str, Any] = json.loads(answer_file.read_text(encoding="utf-8"))
        return answers

    def _error(self, around: Surroundings, why: str, output: Path) -> RankerError:
        lines = output.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST_LINES:]
        shown = "".join(f"\n    {quoted(line, 300)}" for line in lines)
        last = f"\n  the last lines of its output:{shown}" if lines else "; it printed nothing"
        return RankerError(
            f"ranker '{quoted(self.name.specification)}' in a new process ({around}): {why}"
            f"{last}\n  to leave new processes out: processes=0"
        )


def _wait(started: subprocess.Popen[bytes], answer_file: Path, seconds: float) -> int | None:
    """Wait for the answer of a process, end it, and return its exit status.

    Threads that the ranker leaves behind may keep a process alive after its answer. The exit status
    is None if no answer came in time.
    """
    end = time.monotonic() + seconds
    try:
        while started.poll() is None and not answer_file.exists():
            if time.monotonic() > end:
                return None
            time.sleep(_POLL)
        with suppress(subprocess.TimeoutExpired):
            started.wait(_GRACE)
        return started.poll()
    finally:
        with started:  # this closes its standard input, and waits for it
            started.kill()


def _why(status: int | None, seconds: float) -> str:
    """Return why a process with this exit status gave no answer."""
    if status is None:
        return (
            f"it did not answer within {seconds:g} s and was stopped (process_timeout= "
            "sets the limit)"
        )
    if status < 0:
        return f"it was killed by signal {_signal_name(-status)} and gave no answer"
    return f"it ended with exit status {status} and no answer"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _options(ranker: RepeatedRanker) -> dict[str, Any]:
    """Return the options of `rank` as data for JSON."""
    steps = _doc_id_steps(ranker)
    return {
        "depth": ranker.depth,
        "ties": ranker.ties,
        "duplicates": ranker.duplicates,
        "doc_id": None if steps is None else list(map(_step, steps)),
        "concurrency": ranker.concurrency,
        "timeout": ranker.timeout,
        "retries": ranker.retries,
        "retry_on": [
            error if isinstance(error, str) else f"{error.__module__}.{error.__qualname__}"
            for error in ranker.retry_on
        ],
    }


def _step(step: str | ImportableName) -> str | list[str | None]:
    return step if isinstance(step, str) else [step.specification, step.file]


def _doc_id_steps(ranker: RepeatedRanker) -> Sequence[str | ImportableName] | None:
    """Return the steps of ``doc_id=``, with functions by their names; None without any.

    Raises:
        ConfigurationError: another process cannot import one of its functions.
    """
    rule = ranker.doc_id
    if rule is None:
        return None
    steps: list[str | ImportableName] = []
    for step in [rule] if isinstance(rule, str) or callable(rule) else rule:
        found = step if isinstance(step, str) else importable_name(step)
        if found is None:
            raise ConfigurationError(
                "doc_id is a function that a new process cannot import; define it at the top level "
                "of a module"
            )
        steps.append(found)
    return steps
