"""Programs as rankers, in any language: queries in and answers out as JSON lines."""

from __future__ import annotations

import json
import math
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from tempfile import TemporaryFile
from typing import IO

from pytest_rankcheck.argument_checks import checked_arguments, is_number
from pytest_rankcheck.errors import RankerError, RunError, quoted
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, OnAnswer, QueryAnswer, RankingTask

_Program = subprocess.Popen[bytes]
_Waiting = dict[str, Query]
"""The queries without an answer, by their ids."""

_CHUNK = 2**16
_LONGEST_ANSWER = 2**23
_TICK = 0.2
"""Seconds between two checks that the program still runs."""
_SECONDS_TO_END = 30.0
"""How long a program may take to exit after it has answered every query."""
_TAIL = 16
"""How many of the last lines of standard error a message shows."""


@checked_arguments
def command(arguments: Sequence[str], *, cwd: str | PathLike[str] | None = None) -> Adapter:
    """Return a ranker that is a program, which is started once and asked every query.

    It reads its standard input, one query on each line until the end, as JSON:
    ``{"query_id": "q1", "query": "red shoes", "depth": 100, "attributes": {"locale": "en"}}``. It
    writes its answers to standard output, in any order, one on each line:
    ``{"query_id": "q1", "ranking": ["d7", "d3"]}``, best first, or with ``[id, score]`` pairs.
    With ``"seconds": 0.012``, an answer says how long it took, for bounds of ``Seconds(q=0.95)``.
    ``timeout`` of ``rank`` limits the seconds without an answer, including those before the first
    one. No shell is used, and the program is not restarted.

    Args:
        arguments: the program and its arguments; ``{depth}`` in them is replaced.
        cwd: the folder in which the program runs, and from which a relative path such as
            ``"./rank"`` starts; by default the current one.

    Raises:
        RankerError: no program is given, or an argument is not a text.
    """
    if not arguments or not all(isinstance(each, str) for each in arguments):
        raise RankerError(
            "command: give a program and its arguments as texts, such as ['./rank', '--top', "
            "'{depth}']"
        )
    return _Command(arguments, Path(cwd or "."))


class _Command(Adapter):
    honours_timeout = True

    def __init__(self, arguments: Sequence[str], cwd: Path) -> None:
        self.name = shlex.join(arguments)
        self._arguments = tuple(arguments)
        self._cwd = cwd

    @property
    def takes_depth(self) -> bool:
        """Every query that the program reads has the depth."""
        return True

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Start the program, and pass on its answers; the queries that it leaves out fail.

        After its last answer, it may take a while to exit, in whatever way.

        Raises:
            RankerError: it cannot be started, or writes something other than answers.
        """
        if task.retries:
            raise RankerError(
                f"{self._shown}: retries={task.retries} has no effect on a program, which is "
                "started only once; remove it (rankcheck_retries, or retries= of rank)"
            )
        waiting = {query.id: query for query in task.golden}
        with TemporaryFile() as questions, TemporaryFile() as errors:
            for query in task.golden:
                questions.write(_question(query, task.depth))
            questions.seek(0)
            program = self._started(task.depth, questions, errors)
            try:
                problem = self._problem(program, task, waiting, on_answer)
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(program.pid, signal.SIGKILL)
                program.communicate()
            failure = RankerError(f"{self._shown}: {problem}{_last_lines(errors)}")
        for query in waiting.values():
            on_answer(QueryAnswer(query, failure=failure))

    def _started(self, depth: int, questions: IO[bytes], errors: IO[bytes]) -> _Program:
        try:
            return subprocess.Popen(
                [each.replace("{depth}", str(depth)) for each in self._arguments],
                bufsize=0,
                stdin=questions,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self._cwd,
                start_new_session=True,  # so that its children can be killed with it
            )
        except OSError as error:
            raise RankerError(
                f"{self._shown} cannot be started in {quoted(self._cwd.absolute(), 200)}: "
                f"{quoted(error)}; give a program on the PATH, or an executable file as './rank'"
            ) from None

    def _problem(
        self, program: _Program, task: RankingTask, waiting: _Waiting, on_answer: OnAnswer
    ) -> str:
        """Pass on answers, taking queries from ``waiting``; return why there are no more."""
        limit = task.timeout or float("inf")
        try:
            for number, line in enumerate(_lines(program, limit), 1):
                if line.strip():
                    where = f"{self._shown}: line {number} of its output"
                    on_answer(self._answer(line, where, task, waiting))
                if not waiting:
                    break
            code = program.wait(min(limit, _SECONDS_TO_END))
        except (TimeoutError, subprocess.TimeoutExpired):
            return (
                f"no answer within {limit:g} s; make it flush its output after each answer, or "
                "raise the timeout"
            )
        ended = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        return f"it ended with {ended} and without an answer to this query"

    def _answer(self, line: bytes, where: str, task: RankingTask, waiting: _Waiting) -> QueryAnswer:
        """Return an answer, and remove its query from the waiting ones."""
        from pytest_rankcheck.rankers.formats.jsonl_runs import ranked_entry

        try:
            entry = dict(json.loads(line).items())
        except (ValueError, AttributeError, RecursionError):
            said = quoted(line[:200].decode(errors="replace"))
            raise RankerError(
                f"{where} is '{said}', not an answer such as "
                '{"query_id": "q1", "ranking": ["d7", "d3"]}; write the rest to standard error'
            ) from None
        try:
            query_id, ranking = ranked_entry(entry, where)
        except RunError as error:
            raise RankerError(str(error)) from None
        if query_id not in waiting:
            problem = "a second time" if query_id in task.golden.query_ids else "which is unknown"
            raise RankerError(f"{where} answers query '{quoted(query_id)}', {problem}")
        seconds = entry.get("seconds", math.nan)
        if "seconds" in entry and not (is_number(seconds) and 0 <= seconds < math.inf):
            raise RankerError(
                f'{where} has "seconds": {quoted(seconds, 40)}; give a number of at least 0, or '
                "leave it out"
            )
        return QueryAnswer(waiting.pop(query_id), ranking, seconds=float(seconds))

    @property
    def _shown(self) -> str:
        return f"command '{quoted(self.name)}'"


def _question(query: Query, depth: int) -> bytes:
    entry = {"query_id": query.id, "query": query.text, "depth": depth}
    attributes = dict(query.attributes)
    return f"{json.dumps({**entry, 'attributes': attributes}, default=str)}\n".encode()


def _lines(program: _Program, limit: float) -> Iterator[bytes]:
    """Yield the lines of the program's output, until it ends.

    Args:
        program: the program.
        limit: how many seconds the next line may take.

    Raises:
        TimeoutError: no line came in time.
    """
    assert program.stdout is not None
    rest, since = b"", time.monotonic()
    with DefaultSelector() as selector:
        selector.register(program.stdout, EVENT_READ)
        while len(rest) < _LONGEST_ANSWER:
            has_ended = program.poll() is not None
            if selector.select(_TICK):
                chunk = os.read(program.stdout.fileno(), _CHUNK)
                if not chunk:
                    break
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines
                if lines:
                    since = time.monotonic()
            elif has_ended:  # a child of the process holds the pipe
                break
            if time.monotonic() - since > limit:
                raise TimeoutError
    if rest:
        yield rest


def _last_lines(errors: IO[bytes]) -> str:
    """Return the last lines of standard error, for the end of a message."""
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - _CHUNK))
    lines = errors.read().decode(errors="replace").split("\n")
    shown = [f"\n  {quoted(line, 200)}" for line in lines if line.strip()][-_TAIL:]
    if not shown:
        return "; it wrote nothing to standard error"
    return f"; its standard error ends with{''.join(shown)}"
