"""A run that stays in its file: reading all of it, or only what an evaluation needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.format_registry import Format, Formats
from pytest_rankcheck.rankers import formats
from pytest_rankcheck.rankers.query_hits import QueryHits, RunSource, Wanted
from pytest_rankcheck.rankers.ranking import Ranking, duplicates_settled
from pytest_rankcheck.rankers.ranking_rows import FileRankings

__all__ = ["RUN_FORMATS", "RunFile"]

RUN_FORMATS: Formats[FileRankings] = Formats(formats, "runs", RunError)


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run file with the conventions for reading it, its format and the depth to read."""

    source: RunSource
    format: Format[FileRankings]
    depth: int | None = None

    def rankings(self) -> Iterator[tuple[str, Ranking]]:
        """Yield every ranking of the file.

        Raises:
            RunError: a line is malformed (the message names it), or a document is duplicated.
        """
        with self._named_in_errors():
            rankings_by_query = self.format.read(self.source)
            self._refuse_empty(bool(rankings_by_query))
            for query_id, file_ranking in rankings_by_query.items():
                ranking = file_ranking.ranking(query_id, self.source.ties)
                ranking = duplicates_settled(
                    ranking, query_id, self.source.duplicates, self.source.to_id
                )
                yield query_id, ranking if self.depth is None else ranking.top(self.depth)

    def found(self, wanted: Wanted) -> Iterator[tuple[str, QueryHits | None]]:
        """Yield each query with the ranks of its wanted documents; None for unwanted queries.

        Raises:
            RunError: as in `rankings`.
        """
        assert self.format.scan is not None
        has_queries = False
        with self._named_in_errors():
            for query_id, hits in self.format.scan(self.source, wanted):
                has_queries = True
                is_whole = hits is None or self.depth is None
                yield query_id, hits if is_whole else hits.cut(self.depth)
        self._refuse_empty(has_queries)

    @contextmanager
    def _named_in_errors(self) -> Iterator[None]:
        """Name the file in errors that do not name it."""
        try:
            yield
        except RunError as error:
            path = str(self.source.path)
            raise (error if str(error).startswith(path) else RunError(f"{path}: {error}")) from None

    def _refuse_empty(self, has_queries: bool) -> None:
        if not has_queries:
            raise RunError(f"{self.source.path} is empty; a run needs at least one ranked document")
