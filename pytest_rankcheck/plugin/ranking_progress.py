"""The progress of a ranking in pytest's terminal, past its capturing of output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.progress import ProgressBar, ProgressLines

__all__ = ["ranking_progress"]


@contextmanager
def ranking_progress(
    config: pytest.Config, golden_name: str, repeat: int
) -> Iterator[ProgressBar | ProgressLines | None]:
    """Yield a progress callback; None where nobody would see the progress.

    Args:
        config: of the test session; a worker of pytest-xdist has no terminal.
        golden_name: the name of the golden set.
        repeat: which of several repeats it is, from 1.
    """
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(config, "workerinput") or reporter is None or config.option.verbose < -1:
        yield None
        return
    label = f"ranking '{quoted(golden_name, 30)}'" + (f" ({repeat})" if repeat > 1 else "")
    display = ProgressBar if getattr(reporter, "isatty", False) else ProgressLines
    progress = display(label, _UncapturedOutput(config))
    try:
        yield progress
    finally:
        progress.close()


class _UncapturedOutput:
    """Standard output without pytest's capturing."""

    def __init__(self, config: pytest.Config) -> None:
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")

    def write(self, text: str) -> None:
        """Write at once."""
        if self._capture is None:
            self._write(text)
            return
        with self._capture.global_and_fixture_disabled():
            self._write(text)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def flush(self) -> None:
        """Do nothing: everything is written at once."""
