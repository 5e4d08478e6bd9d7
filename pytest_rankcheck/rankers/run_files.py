"""A run that stays in its file, or in a folder of parts, until it is measured or read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.file_patterns import are_parts, files_of_parts
from pytest_rankcheck.files.format_registry import Format, Formats
from pytest_rankcheck.files.packed_files import failures_named, shown_name
from pytest_rankcheck.rankers import formats
from pytest_rankcheck.rankers.ranked_columns import (
    RankedColumns,
    SplitQueryError,
    unsplit,
)
from pytest_rankcheck.rankers.ranking import RankingRules

RUN_FORMATS: Formats[Iterator[RankedColumns]] = Formats(formats, "runs", RunError)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of a run, and how to read them."""

    path: Path
    """The file; or the folder or pattern of the parts."""
    files: Sequence[Path]
    """The file, or the parts."""
    format: Format[Iterator[RankedColumns]]
    rules: RankingRules
    columns: Mapping[str, str]
    """``{role: column}`` for columns of a table with unusual names."""
    depth: int | None = None
    """How many documents of each ranking count; None: all."""
    drops_own: bool = False
    """Whether the documents whose id is that of their query are left out."""

    @classmethod
    def of(
        cls, path: Path, format: str | None, rules: RankingRules, columns: Mapping[str, str]
    ) -> RunFiles:
        """Return a file, or the parts in a folder or a pattern.

        Without a ``format``, the content of the files decides.

        Raises:
            RunError: a file is missing or empty, its format is unknown, or parts have different
                formats.
        """
        files = files_of_parts(path, RunError) if are_parts(path) else [path]
        if format:
            return cls(path, files, RUN_FORMATS.named(format), rules, columns)
        found = {file: RUN_FORMATS.detected(file, columns) for file in files}
        first, *others = found
        for other in others:
            if found[other].name != found[first].name:
                raise RunError(
                    f"the parts have different formats: {first} is {found[first].name}, {other} is "
                    f"{found[other].name}; move files that are not parts of the run elsewhere"
                )
        return cls(path, files, found[first], rules, columns)

    @property
    def are_parts(self) -> bool:
        """Whether these are the parts in a folder or a pattern."""
        return list(self.files) != [self.path]

    @property
    def name(self) -> str:
        """What messages call the run."""
        if self.are_parts and not self.path.is_dir():
            return shown_name(self.path)
        return self.path.name

    @property
    def size(self) -> int:
        """The number of bytes of all files, unpacked."""
        size = 0
        for file in self.files:
            with failures_named(file, RunError):
                size += file.stat().st_size
        return size

    def blocks(self, *, together: bool = False) -> Iterator[RankedColumns]:
        """Yield the rankings of all files, as `Run.columns`."""
        where = str(self.path)
        try:
            for block in unsplit(self.format.read(self, together=together)):
                mapped = block.with_mapped_ids()
                mapped = mapped.without_own_documents() if self.drops_own else mapped
                yield replace(mapped, depth=self.depth, where=where)
        except RunError as error:
            names = (where, *map(str, self.files))
            raise (
                error if str(error).startswith(names) else RunError(f"{where}: {error}")
            ) from None
        except SplitQueryError:
            if not together:
                raise
            raise RunError(f"{where}: a query has a whole ranking twice; keep one") from None
