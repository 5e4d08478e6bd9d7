"""The progress of a long ranking: a bar on a terminal, an occasional line in a CI log."""

from __future__ import annotations

import time
from typing import Any, Protocol

from pytest_rankcheck.errors import plural

__all__ = ["Output", "ProgressBar", "ProgressLines"]

SECONDS_BEFORE = 2.0
"""Rankings that take less time show no progress."""
SECONDS_BETWEEN = 30.0
"""The time between two lines of a log."""


class Output(Protocol):
    """A stream that progress is written to."""

    def write(self, text: str, /) -> object:
        """Write a text."""

    def flush(self) -> object:
        """Write any buffered text."""


class ProgressBar:
    """A bar of tqdm, made when the first query is done."""

    def __init__(self, label: str, output: Output) -> None:
        self._label = label
        self._output = output
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` queries are done."""
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                total=total,
                desc=self._label,
                unit=" queries",
                file=self._output,
                delay=SECONDS_BEFORE,
                mininterval=0.2,
                leave=False,
                dynamic_ncols=True,
            )
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


class ProgressLines:
    """A line every `SECONDS_BETWEEN` seconds."""

    def __init__(self, label: str, output: Output) -> None:
        self._label = label
        self._output = output
        self._start = self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` queries are done, if it is time for a line."""
        now = time.monotonic()
        if done == total or now - self._last < SECONDS_BETWEEN:
            return
        self._last = now
        rate = done / (now - self._start)
        self._output.write(
            f"\nrankcheck: {self._label}: {done:,} of {plural(total, 'query', 'queries')}, "
            f"{rate:.1f} a second, {(total - done) / rate:.0f} s to go\n"
        )

    def close(self) -> None:
        """Do nothing: the lines stay."""
