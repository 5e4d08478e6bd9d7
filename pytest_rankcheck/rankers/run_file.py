"""A run that is still in its file: reading all of it, or only what an evaluation needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.format_registry import Format, Formats
from pytest_rankcheck.rankers import formats
from pytest_rankcheck.rankers.query_hits import Found, Reading, Wanted
from pytest_rankcheck.rankers.ranking import Ranking, without_duplicates
from pytest_rankcheck.rankers.ranking_rows import Listings

__all__ = ["RUN_FORMATS", "RunFile"]

RUN_FORMATS: Formats[Listings] = Formats(formats, "runs", RunError)


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file, the conventions by which it is read, its format, and how deep it is read."""

    reading: Reading
    format: Format[Listings]
    depth: int | None = None

    def rankings(self) -> Iterator[tuple[str, Ranking]]:
        """Yield every ranking of the file.

        Raises:
            RunError: a line is malformed, or a document stands twice; file and line are named.
        """
        path, ties = self.reading.path, self.reading.ties
        listings = self.format.read(self.reading)
        self._refuse_empty(bool(listings))
        for query_id, listing in listings.items():
            try:
                ranking = listing.ranking(query_id, ties)
                ranking = without_duplicates(ranking, query_id, self.reading.duplicates)
            except RunError as error:
                raise RunError(f"{path}: {error}") from None
            yield query_id, ranking if self.depth is None else ranking.top(self.depth)

    def found(self, wanted: Wanted) -> Iterator[tuple[str, Found | None]]:
        """Yield each query with where the wanted documents are; None for one not wanted.

        Raises:
            RunError: as in `rankings`.
        """
        assert self.format.scan is not None
        some = False
        try:
            for query_id, found in self.format.scan(self.reading, wanted):
                some = True
                whole = found is None or self.depth is None
                yield query_id, found if whole else found.cut(self.depth)
        except RunError as error:
            path = str(self.reading.path)
            raise (error if str(error).startswith(path) else RunError(f"{path}: {error}")) from None
        self._refuse_empty(some)

    def _refuse_empty(self, some: bool) -> None:
        if not some:
            raise RunError(f"{self.reading.path} is empty; a run has at least one ranked document")
