"""The places of queries and judgments in their files, for messages that people can follow."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from pytest_rankcheck.files.row_numbering import Numbering

__all__ = ["Numbering", "Place", "Places"]

Place = str | int
"""A place in words, or as a line number of the file."""


class Places:
    """The places of queries and judgments, kept in a few bytes each."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.numbering = Numbering(file)
        self._named: dict[str, str] = {}
        self._lines: dict[str, range | array[int]] = {}

    def shown(self, place: Place) -> str:
        """Return a place as text: ``web.qrels:17``."""
        return self.numbering.place(place) if isinstance(place, int) else place

    def note_query(self, query_id: str, place: Place) -> None:
        """Note the place of a query."""
        self._named[query_id] = self.shown(place)

    def note(self, query_id: str, place: Place) -> None:
        """Note the place of the next judgment of a query."""
        if isinstance(place, str):
            self._named.setdefault(query_id, place)
            return
        lines = self._lines.setdefault(query_id, array("Q"))
        if isinstance(lines, range):
            lines = self._lines[query_id] = array("Q", lines)
        lines.append(place)

    def note_all(self, query_id: str, lines: range) -> None:
        """Note the places of all judgments of a query, before any of them is noted."""
        self._lines[query_id] = lines

    def copied(self) -> Places:
        """Return places of their own, which may be cut without changing these."""
        places = Places(self.file)
        places.numbering = self.numbering
        places._named, places._lines = dict(self._named), dict(self._lines)
        return places

    def keep(self, query_id: str, indexes: Sequence[int]) -> None:
        """Keep only the places of the judgments of a query at these indexes."""
        lines = self._lines.get(query_id, ())
        if lines:
            kept = [lines[index] for index in indexes if index < len(lines)]
            self._lines[query_id] = array("Q", kept)

    def query(self, query_id: str) -> str:
        """Return the place of a query or its first judgment; empty if unknown."""
        if query_id in self._named:
            return self._named[query_id]
        lines: Sequence[int] = self._lines.get(query_id, ())
        return self.shown(lines[0]) if lines else ""

    def judgment(self, query_id: str, index: int) -> str:
        """Return the place of a query's judgment at ``index``, as precisely as it is known."""
        lines: Sequence[int] = self._lines.get(query_id, ())
        return self.shown(lines[index]) if index < len(lines) else self.query(query_id)
