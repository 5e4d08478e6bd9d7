"""A run that stays in its file until it is measured or read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.format_registry import Format, Formats
from pytest_rankcheck.rankers import formats
from pytest_rankcheck.rankers.held_rankings import HeldColumns
from pytest_rankcheck.rankers.ranked_columns import RankedColumns, RunSource, unsplit

__all__ = ["RUN_FORMATS", "RunFile"]

RUN_FORMATS: Formats[Iterator[RankedColumns]] = Formats(formats, "runs", RunError)


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run file with the conventions for reading it, its format and the depth to read."""

    source: RunSource
    format: Format[Iterator[RankedColumns]]
    depth: int | None = None

    @classmethod
    def of(cls, source: RunSource, format: str | None) -> RunFile:
        """Return a file with the given format, or else with the format that its content shows.

        Raises:
            RunError: the file is missing or empty, or its format is unknown.
        """
        if format:
            return cls(source, RUN_FORMATS.named(format))
        return cls(source, RUN_FORMATS.detected(source.path, source.columns))

    @property
    def files(self) -> Sequence[Path]:
        """The file."""
        return (self.source.path,)

    def read(self) -> HeldColumns:
        """Return all rankings."""
        return HeldColumns.read(self.columns)

    def top(self, depth: int) -> RunFile:
        """Return the same file, cut to the first ``depth`` documents of each query."""
        return replace(self, depth=depth)

    def columns(self, *, together: bool = False) -> Iterator[RankedColumns]:
        """Yield the rankings of the file in blocks, as `Run.columns`."""
        path, is_empty = str(self.source.path), True
        try:
            for block in unsplit(self.format.read(self.source, together=together)):
                yield replace(block.with_mapped_ids(), depth=self.depth, where=path)
                is_empty &= not len(block)
        except RunError as error:
            raise (error if str(error).startswith(path) else RunError(f"{path}: {error}")) from None
        if is_empty:
            raise RunError(f"{path} is empty; a run needs at least one ranked document")
