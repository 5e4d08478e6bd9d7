"""The sources of the rankings of a part: a file, a folder, a frame or a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_rankcheck.argument_kinds import is_stream
from pytest_rankcheck.errors import RunError
from pytest_rankcheck.rankers.ranked_columns import RankedColumns, RunSource
from pytest_rankcheck.rankers.ranking import RankingRules
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.run_parts import RunParts
    from pytest_rankcheck.rankers.run_tables import OnLong

__all__ = ["HeldSource", "PartSource", "TableSource"]


class PartSource(Protocol):
    """A source of the rankings of a part."""

    def read(self, together: bool, on_long: OnLong) -> Iterable[RankedColumns]:
        """Yield the rankings; ``together`` says whether to group the rows by query first."""

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the part must know, as sentences; complete after reading it."""


@dataclass(frozen=True, slots=True)
class HeldSource:
    """A run that has been read already."""

    run: Run

    def read(self, together: bool, on_long: OnLong) -> Iterator[RankedColumns]:
        """Yield the rankings of the run; none is too long for memory."""
        return self.run.columns(together=together)

    @property
    def notes(self) -> Sequence[str]:
        """How the run was ranked, and what was unusual in its files."""
        return (*self.run.notes, *self.run.part_notes)


@dataclass(frozen=True, slots=True)
class TableSource:
    """A file, a folder or a frame with the rankings of a part, and the options to read it."""

    given: object
    rules: RankingRules
    columns: Mapping[str, str]
    format: str | None
    depth: int | None
    _parts: list[RunParts] = field(default_factory=list)
    """The files of a folder, once they are read."""

    @property
    def notes(self) -> Sequence[str]:
        """The files of a folder that have no rows."""
        return tuple(note for parts in self._parts for note in parts.notes)

    def read(self, together: bool, on_long: OnLong) -> Iterator[RankedColumns]:
        """Yield the rankings."""
        from pytest_rankcheck.rankers.run_tables import columns_of_table

        if isinstance(self.given, (str, PathLike)):
            blocks = self._of_path(Path(self.given), together, on_long)
        elif together and is_stream(self.given):
            raise RunError(
                "the rows of a query are not together, or its ranks are incomplete, and a "
                "RecordBatchReader can be read only once; sort its rows by query, or give a table"
            )
        else:
            blocks = columns_of_table(
                self.given, self.columns, self.rules, together=together, on_long=on_long
            )
        return (replace(block, depth=self.depth) for block in blocks)

    def _of_path(self, path: Path, together: bool, on_long: OnLong) -> Iterator[RankedColumns]:
        from pytest_rankcheck.files.part_files import are_parts
        from pytest_rankcheck.files.table_formats import TABLE_KINDS
        from pytest_rankcheck.rankers.run_file import RunFile
        from pytest_rankcheck.rankers.run_parts import RunParts, table_of_part
        from pytest_rankcheck.rankers.run_tables import columns_of_table

        source = RunSource(path, self.rules, self.columns)
        if are_parts(path):
            self._parts[:] = [RunParts.of(source, self.format)]
            return self._parts[0].columns(together=together, on_long=on_long)
        file = RunFile.of(source, self.format)
        if file.format.name not in TABLE_KINDS:
            return file.columns(together=together)
        table = table_of_part(source, file.format.name)
        blocks = columns_of_table(
            table, self.columns, self.rules, together=together, on_long=on_long
        )
        return (replace(block.with_mapped_ids(), where=str(path)) for block in blocks)
