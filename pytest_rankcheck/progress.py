"""The progress of a long ranking: one changing line on a terminal, occasional lines in a log."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable

from pytest_rankcheck.errors import plural

SECONDS_BEFORE = 2.0
"""Rankings that take less time show no progress."""
_SECONDS_ON_A_TERMINAL = 0.2
_SECONDS_IN_A_LOG = 30.0
_ERASE = "\r\x1b[K"


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
