"""The judged hits of one ranking that is too long for memory, such as of a whole collection.

The rows go through temporary files, in the order of the ranking. Only the judged documents and the
top stay in memory, as for any ranking.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.evaluation.ranking_digests import RankingDigest, encoded_texts
from pytest_rankcheck.evaluation.spilled_rows import RowChunk, SpilledRows
from pytest_rankcheck.rankers.ranked_columns import RankedColumns
from pytest_rankcheck.rankers.ranking import (
    RankingRules,
    by_score,
    ranked_twice,
    refuse_incomplete_ranks,
)

__all__ = ["LongRanking"]

_PIECE = 1 << 18
"""How many rows are sorted in memory at once."""


@dataclass
class LongRanking:
    """The kept content of one long ranking."""

    query_id: str
    rules: RankingRules
    judged: Collection[str]
    """The judged documents of the query."""
    top: int
    """How many of the first documents are kept."""
    retrieved: int = 0
    ranks: dict[str, int] = field(default_factory=dict)
    """The ranks of the judged documents, best first."""
    tops: list[str] = field(default_factory=list)
    """The first documents."""
    digest: bytes = b""
    _last: tuple[str, float] | None = None
    _first_rank: int = 1

    @classmethod
    def of(
        cls,
        query_id: str,
        pieces: Iterable[RankedColumns],
        rules: RankingRules,
        judged: Collection[str],
        top: int,
    ) -> LongRanking:
        """Return the kept content of a ranking.

        Args:
            query_id: the query.
            pieces: blocks of rows, in any order.
            rules: how ties and duplicates are treated.
            judged: the judged documents of the query, as a set or dict.
            top: how many of the first documents are kept.

        Raises:
            RunError: scores are tied, a document is a duplicate, or ranks are incomplete, and the
                rules make that an error.
        """
        found = cls(query_id, rules, judged, top)
        with tempfile.TemporaryDirectory(prefix="rankcheck-") as folder:
            rows = SpilledRows(Path(folder), rules.ties)
            by_rank = found._spill(pieces, rows)
            digest = RankingDigest()
            for chunk in rows.chunks():
                found._add(chunk, digest, by_rank=by_rank)
            found._refuse_duplicates(rows)
        found.digest = digest.value()
        return found

    def _spill(self, pieces: Iterable[RankedColumns], rows: SpilledRows) -> bool:
        """Write all rows to files; return whether they are ordered by ranks rather than scores."""
        kinds = set[bool]()
        for piece in pieces:
            assert piece.scores is not None
            kinds.add(piece.by_rank is not None and bool(piece.by_rank[0]))
            if len(kinds) > 1:
                raise RunError(
                    f"query '{quoted(self.query_id)}': some rows have a score and others only a "
                    "rank; give every row of a query a score"
                )
            doc_ids = piece.doc_ids(0)
            for start in range(0, len(doc_ids), _PIECE):
                some = slice(start, start + _PIECE)
                rows.add(doc_ids[some], piece.scores[some])
        return kinds == {True}

    def _add(self, chunk: RowChunk, digest: RankingDigest, *, by_rank: bool) -> None:
        """Add the next rows of the ranking."""
        digest.add(*encoded_texts(chunk.doc_ids), chunk.scores)
        if by_rank and self.rules.incomplete_ranks == "error":
            self._check_ranks(chunk.scores)
        if self.rules.ties == "error":
            self._refuse_ties(chunk)
        self.tops += chunk.doc_ids[: max(0, self.top - len(self.tops))]
        for rank, doc_id in enumerate(chunk.doc_ids, start=self.retrieved + 1):
            if doc_id in self.judged:
                self.ranks.setdefault(doc_id, rank)
        self.retrieved += len(chunk.doc_ids)

    def _check_ranks(self, scores: FloatArray) -> None:
        """Check that the ranks continue without gaps or repeats."""
        if not self.retrieved:
            self._first_rank = int(-scores[0])
        expected = np.arange(len(scores)) + self.retrieved + self._first_rank
        if self._first_rank in (0, 1) and np.array_equal(-scores, expected):
            return
        place = int(np.argmax(-scores != expected)) if self._first_rank in (0, 1) else 0
        wrong = float(-scores[place])
        before = range(self._first_rank, self._first_rank + self.retrieved + place)
        refuse_incomplete_ranks([*before, wrong], self.query_id)

    def _refuse_ties(self, chunk: RowChunk) -> None:
        """Check that no two documents have the same score."""
        scores = chunk.scores
        if self._last is not None and self._last[1] == scores[0]:
            by_score([self._last[0], chunk.doc_ids[0]], [scores[0]] * 2, self.query_id, "error")
        tied = np.flatnonzero(scores[1:] == scores[:-1])
        for place in tied[:1].tolist():
            pair = chunk.doc_ids[place : place + 2]
            by_score(list(pair), [scores[place]] * 2, self.query_id, "error")
        self._last = (chunk.doc_ids[-1], float(scores[-1]))

    def _refuse_duplicates(self, rows: SpilledRows) -> None:
        """Check that no document is ranked twice, unless the first place is kept."""
        if self.rules.duplicates == "keep_places":
            return
        repeated = rows.repeated()
        if repeated is None:
            return
        if self.rules.duplicates == "error":
            raise ranked_twice(self.query_id, *repeated)
        raise RunError(
            f"query '{quoted(self.query_id)}' has {self.retrieved:,} documents, too many to close "
            f"gaps: document '{quoted(repeated[0])}' is a duplicate. Remove duplicates first, or "
            "use duplicates='keep_places'"
        )
