"""How far a long ranking is: a bar on a terminal, a line now and then in the log of a CI."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_rankcheck.errors import plural, quoted

__all__ = ["progress_of"]

SECONDS_BEFORE = 2.0
"""A ranking that takes less shows nothing."""
SECONDS_BETWEEN = 30.0
"""Between two lines of a log."""

Progress = Callable[[int, int], None]


@contextmanager
def progress_of(config: pytest.Config, name: str, number: int) -> Iterator[Progress | None]:
    """Yield what is told how many queries are done; None where nobody would see it.

    Args:
        config: the session; a worker of pytest-xdist has no terminal.
        name: the golden set.
        number: which of several repeats it is, from 1.
    """
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(config, "workerinput") or reporter is None or config.option.verbose < -1:
        yield None
        return
    label = f"ranking '{quoted(name, 30)}'" + (f" ({number})" if number > 1 else "")
    shown = _Bar(config, label) if getattr(reporter, "isatty", False) else _Lines(config, label)
    try:
        yield shown
    finally:
        shown.close()


class _Uncaptured:
    """The terminal, past pytest's capturing of output."""

    def __init__(self, config: pytest.Config) -> None:
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")

    def write(self, text: str) -> None:
        """Write at once."""
        if self._capture is None:
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        with self._capture.global_and_fixture_disabled():
            sys.stdout.write(text)
            sys.stdout.flush()

    def flush(self) -> None:
        """Do nothing: all is written at once."""


class _Bar:
    """A bar of tqdm, made when the first query is done."""

    def __init__(self, config: pytest.Config, label: str) -> None:
        self._terminal = _Uncaptured(config)
        self._label = label
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                total=total,
                desc=self._label,
                unit=" queries",
                file=self._terminal,
                delay=SECONDS_BEFORE,
                mininterval=0.2,
                leave=False,
                dynamic_ncols=True,
            )
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()


class _Lines:
    """A line now and then."""

    def __init__(self, config: pytest.Config, label: str) -> None:
        self._terminal = _Uncaptured(config)
        self._label = label
        self._start = self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - self._last < SECONDS_BETWEEN:
            return
        self._last = now
        rate = done / (now - self._start)
        self._terminal.write(
            f"\nrankcheck: {self._label}: {done:,} of {plural(total, 'query', 'queries')}, "
            f"{rate:.1f} a second, {(total - done) / rate:.0f} s to go\n"
        )

    def close(self) -> None:
        """Do nothing: lines stay."""
