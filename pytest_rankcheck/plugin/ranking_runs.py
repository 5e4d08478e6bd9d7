"""The runs of a test session's ranker: ranked once for all workers, replicated, and saved."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.saved_runs import run_name, save_run
from pytest_rankcheck.rankers.adapter_protocol import RankingTask
from pytest_rankcheck.rankers.allowed_failures import most_failures
from pytest_rankcheck.rankers.rank import Execution, ranked_as
from pytest_rankcheck.rankers.ranking import RankingRules, id_map
from pytest_rankcheck.rankers.run import Run

SECONDS_BEFORE = 2.0
"""Rankings that take less time show no progress."""
_SECONDS_ON_A_TERMINAL = 0.2
_SECONDS_IN_A_LOG = 30.0
_ERASE = "\r\x1b[K"


class RankerOrigin(NamedTuple):
    """Where a ranker came from."""

    fixture: str
    """A description of the fixture that all xdist workers share."""
    name: str | None
    """The ranker's name, if the configuration gives one."""
    label: str
    """The ids of the parameters that chose the run; empty without any."""
    inputs: Inputs
    """What that test is given."""


def ranked(
    session: pytest.Session, ranker: object, golden: GoldenSet, origin: RankerOrigin, shared: Path
) -> Sequence[Run]:
    """Return the configured number of replicates of a ranker's run, at least one.

    Args:
        session: the test session.
        ranker: the ranker.
        golden: the queries.
        origin: where the ranker came from.
        shared: a folder that all workers share.
    """
    runs = []
    for number in range(1, origin.inputs.config.replicates + 1):
        compute = partial(ranked_once, session, ranker, golden, origin, number)
        # What workers share is in a file, which would name queries and documents.
        if not hasattr(session.config, "workerinput") or origin.inputs.is_sealed(golden.name):
            runs.append(compute())
        else:
            from pytest_rankcheck.rankers.kept_answers import run_computed_once

            key = f"{origin.fixture} {number} {golden.name} {golden.visible_fingerprint}"
            runs.append(run_computed_once(shared, key, compute))
    return [run.with_facts(asked=golden.name) for run in runs]


def ranked_once(
    session: pytest.Session, ranker: object, golden: GoldenSet, origin: RankerOrigin, number: int
) -> Run:
    """Ask the ranker; save the first run if that is requested."""
    config, inputs = session.config, origin.inputs
    chosen = inputs.config
    failures = most_failures(chosen.failures, len(golden))
    how = (chosen.depth, chosen.concurrency, chosen.timeout, chosen.retries, chosen.retry_on)
    task = RankingTask(golden, *how, failures)
    conventions, to_id = inputs.conventions, id_map(inputs.of_golden(golden.name).doc_id)
    rules = RankingRules(conventions.ties, conventions.duplicates, to_id)
    execution = _execution(session, golden, origin, number)
    if number > 1 and origin.name is not None:
        ranker = inputs.rankers.made(number)
    with ranking_progress(config, golden.name, number) as progress:
        run = ranked_as(execution, ranker, task, rules, progress)
    run = run.with_facts(name=origin.label or run.name)
    if chosen.save_run and number == 1 and not inputs.is_sealed(golden.name):
        save_run(config, run, golden.name, origin.label, chosen.save_run)
    return run


def _execution(
    session: pytest.Session, golden: GoldenSet, origin: RankerOrigin, number: int
) -> Execution:
    """Return where to ask the ranker, and where to keep its answers.

    The kept answers of a complete run are deleted when the test session ends, unless it was
    stopped: after a kill during the fifth golden set, the first four need not be ranked again.
    """
    chosen = origin.inputs.config
    if chosen.resume is None or origin.inputs.is_sealed(golden.name):
        return Execution(chosen.executor, chosen.chunk)
    name = run_name(golden.name, origin.label) + (f"-replicate-{number}" if number > 1 else "")
    if origin.name is None:  # one of several fixtures with this name
        name += f"-{hashlib.sha256(origin.fixture.encode()).hexdigest()[:8]}"

    def delete_at_end(delete: Callable[[], None]) -> None:
        def at_end() -> None:
            stopped = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
            if session.exitstatus not in stopped:
                delete()

        session.config.add_cleanup(at_end)

    folder, key = chosen.resume / name, chosen.resume_key or ""
    return Execution(chosen.executor, chosen.chunk, folder, key, delete_at_end)


@contextmanager
def ranking_progress(
    config: pytest.Config, golden_name: str, replicate: int
) -> Iterator[Progress | None]:
    """Yield a progress callback; None if nobody would see the progress.

    Args:
        config: of the test session; a worker of pytest-xdist has no terminal.
        golden_name: the name of the golden set.
        replicate: which of several replicates it is, from 1.
    """
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(config, "workerinput") or reporter is None or config.option.verbose < -1:
        yield None
        return
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    uncaptured = capture.global_and_fixture_disabled if capture else nullcontext

    def write(text: str) -> None:
        with uncaptured():
            reporter.write(text, flush=True)

    label = f"ranking '{quoted(golden_name, 30)}'" + (f" ({replicate})" if replicate > 1 else "")
    progress = Progress(label, write, is_terminal=getattr(reporter, "isatty", False))
    try:
        yield progress
    finally:
        progress.close()


class Progress:
    """Says how many queries are done, how fast it goes, and how long it will take.

    Args:
        label: what is going on.
        write: writes a text at once.
        is_terminal: whether a written line can be overwritten.
    """

    def __init__(self, label: str, write: Callable[[str], object], *, is_terminal: bool) -> None:
        self._label, self._write, self._is_terminal = label, write, is_terminal
        self._pause = _SECONDS_ON_A_TERMINAL if is_terminal else _SECONDS_IN_A_LOG
        self._start = time.monotonic()
        self._next = self._start + max(SECONDS_BEFORE, 0 if is_terminal else self._pause)

    def __call__(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` queries are done, if it is time to."""
        now = time.monotonic()
        if done == total or now < self._next:
            return
        self._next = now + self._pause
        rate = done / max(now - self._start, 1e-9)
        text = (
            f"rankcheck: {self._label}: {done:,} of {plural(total, 'query', 'queries')}, "
            f"{rate:.1f} a second, {(total - done) / rate:.0f} s to go"
        )
        if self._is_terminal:
            # A line that is wrapped could not be erased.
            self._write(_ERASE + text[: shutil.get_terminal_size().columns - 1])
        else:
            self._write(f"\n{text}\n")

    def close(self) -> None:
        """Remove the line from a terminal; lines in a log stay."""
        if self._is_terminal and self._next > self._start + SECONDS_BEFORE:
            self._write(_ERASE)
