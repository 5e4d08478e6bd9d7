"""The places of queries and judgments in their files, for messages that people can follow."""

from __future__ import annotations

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.row_numbering import Numbering

__all__ = ["Place", "Places"]

Place = str | int
"""A place in words, or as a line number of the file."""


class Places:
    """The places of queries in words, and how messages name a line or row."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.numbering = Numbering(file)
        self.are_ids = False
        """Whether a query without another place is named by its id."""
        self.of_queries: dict[str, Place] = {}
        """The places of queries that have one of their own."""

    def shown(self, place: Place) -> str:
        """Return a place as text: ``web.qrels:17``."""
        return self.numbering.place(place) if isinstance(place, int) else place

    def query(self, query_id: str, line: int) -> str:
        """Return the place of a query, whose first judgment is at ``line``; empty if unknown."""
        place = self.of_queries.get(query_id, line)
        if place:
            return self.shown(place)
        return f"query '{quoted(query_id)}'" if self.are_ids else ""
