"""A query's ranking: its order by scores or ranks, its duplicates, its rows in a table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RunError, quoted

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.document_ids import DocIdMap, DocIdRule


Ties = Literal["doc_id", "input", "worst", "error"]
"""How documents with equal scores are ordered: by document id, descending, as in trec_eval; as in
the input; by document id and, when measured, the lowest grade first, as in CatBoost; or as an
error."""

TieOrder = Literal["best", "worst"]
"""Among documents with the same score: the highest grade first, or last."""

Duplicates = Literal["error", "close_gaps", "keep_places"]
"""How a duplicate document in a ranking is treated: as an error; or only its first place counts.
Its other places are removed, so that the documents below move up (``"close_gaps"``); or they stay
where they are and count as unjudged (``"keep_places"``)."""


@dataclass(frozen=True, slots=True)
class RankingRules:
    """How the order of a ranking is decided if its source leaves it open."""

    ties: Ties = "doc_id"
    duplicates: Duplicates = "error"
    to_id: DocIdMap | None = None
    """Maps the ids of documents, before duplicates are found."""


class ReadingOptions(TypedDict, total=False):
    """How a run is read, as in `Run.load`."""

    columns: Mapping[str, str] | None
    ties: Ties
    duplicates: Duplicates
    doc_id: DocIdRule | None


@checked_arguments
def reading_rules(
    columns: Mapping[str, str] | None = None,
    ties: Ties = "doc_id",
    duplicates: Duplicates = "error",
    doc_id: DocIdRule | None = None,
) -> tuple[Mapping[str, str], RankingRules]:
    """Return the names of columns and the rules that reading options describe, checked."""
    return columns or {}, RankingRules(ties, duplicates, id_map(doc_id))


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents ranked for one query, best first, with their scores if known."""

    doc_ids: tuple[str, ...]
    scores: tuple[float, ...] | None = None
    texts: Sequence[str | None] = ()
    """The text of each document, from a ranker that returns them."""

    def __len__(self) -> int:
        return len(self.doc_ids)

    def top(self, depth: int) -> Ranking:
        """Return the first ``depth`` documents."""
        if depth >= len(self.doc_ids):
            return self
        scores = self.scores and self.scores[:depth]
        return Ranking(self.doc_ids[:depth], scores, self.texts[:depth])


COLUMNS = ("query_id", "doc_id", "rank", "score")
"""The names of the columns in which runs are written."""

Rankings = Mapping[str, Ranking]
"""The rankings of a run, by query id."""


def by_score(
    doc_ids: Sequence[str], scores: Sequence[float], query_id: str, ties: Ties = "doc_id"
) -> Ranking:
    """Return the documents sorted by score, highest first.

    Raises:
        RunError: a score is not finite, or scores are tied and ``ties`` is ``"error"``.
    """
    is_sorted = list(scores) == sorted(scores, reverse=True)
    is_falling = is_sorted and len(set(scores)) == len(scores)
    if is_falling and math.isfinite(sum(scores)):
        return Ranking(tuple(doc_ids), tuple(scores))
    for doc_id, score in zip(doc_ids, scores, strict=True):
        if not math.isfinite(score):
            raise RunError(
                f"query '{quoted(query_id)}': the score of document '{quoted(doc_id)}' is {score}; "
                "scores must be finite numbers"
            )
    pairs = list(zip(scores, doc_ids, strict=True))
    if ties in ("doc_id", "worst"):
        pairs.sort(reverse=True)
    else:
        pairs.sort(key=lambda pair: -pair[0])
        if ties == "error":
            _refuse_ties(pairs, query_id)
    return Ranking(tuple(doc for _, doc in pairs), tuple(score for score, _ in pairs))


def _refuse_ties(pairs: Sequence[tuple[float, str]], query_id: str) -> None:
    for (score, doc_id), (next_score, next_doc_id) in itertools.pairwise(pairs):
        if score == next_score and doc_id != next_doc_id:
            raise RunError(
                f"query '{quoted(query_id)}': documents '{quoted(doc_id)}' and "
                f"'{quoted(next_doc_id)}' have the same score, {score:g}; break ties in the "
                "ranker, or evaluate with ties='doc_id' or ties='input'"
            )


def id_map(rule: DocIdRule | None) -> DocIdMap | None:
    """Return the mapping of ids that ``doc_id=`` describes; None without one."""
    if rule is None:
        return None
    from pytest_rankcheck.document_ids import DocIdMap

    return DocIdMap(rule)


def duplicates_settled(ranking: Ranking, query_id: str, duplicates: Duplicates) -> Ranking:
    """Return the ranking with its duplicate documents treated."""
    doc_ids, scores, texts = ranking.doc_ids, ranking.scores, ranking.texts
    if len(set(doc_ids)) == len(doc_ids):
        return ranking
    ranks = first_ranks(doc_ids)
    if duplicates == "error":
        rank, doc_id = next(
            (rank, doc) for rank, doc in enumerate(doc_ids, start=1) if ranks[doc] != rank
        )
        raise RunError(
            f"query '{quoted(query_id)}': document '{quoted(doc_id)}' is ranked twice, at "
            f"{ranks[doc_id]} and {rank}; rank it once, or let only its first place count: "
            "duplicates='keep_places' if the reader sees every place (chunks), "
            "duplicates='close_gaps' if the documents below move up; in pytest, write "
            "duplicates=keep_places in rankcheck_conventions"
        )
    if duplicates == "close_gaps":
        if scores:
            scores = tuple(scores[rank - 1] for rank in ranks.values())
        texts = [texts[rank - 1] for rank in ranks.values()] if texts else ()
        doc_ids = tuple(ranks)
    return Ranking(doc_ids, scores, texts)


def first_ranks(doc_ids: Sequence[str]) -> dict[str, int]:
    """Return the rank of each document, from 1; of a duplicate document, the first."""
    ranks = {doc_id: rank for rank, doc_id in enumerate(doc_ids, start=1)}
    if len(ranks) < len(doc_ids):
        lowest_first = range(len(doc_ids), 0, -1)
        ranks.update(zip(reversed(doc_ids), lowest_first, strict=True))
    return ranks


def ranked_rows(rankings: Rankings) -> Iterator[tuple[str, str, int, float]]:
    """Yield query, document, rank and ordering score of every ranked document."""
    for query_id, ranking in rankings.items():
        pairs = zip(ranking.doc_ids, _ordering_scores(ranking, query_id), strict=True)
        for rank, (doc_id, score) in enumerate(pairs, start=1):
            yield query_id, doc_id, rank, score


def _ordering_scores(ranking: Ranking, query_id: str) -> Sequence[float]:
    """Return scores from which every evaluator reads the order of a ranking.

    These are the original scores if, with ties by document id, they give that order; otherwise
    they count down from the number of documents.
    """
    import numpy as np

    doc_ids, scores = ranking.doc_ids, ranking.scores
    if scores is not None:
        with np.errstate(over="ignore"):
            rounded = np.array(scores, np.float32).tolist()  # some evaluators compare these
        if np.isfinite(rounded).all() and all(
            by_score(doc_ids, each, query_id).doc_ids == doc_ids for each in (scores, rounded)
        ):
            return scores
    return [float(rank) for rank in range(len(ranking), 0, -1)]


def frame_of(rankings: Rankings) -> pd.DataFrame:
    """Return rankings as a frame from which ``Run.from_frame`` reads them again."""
    from pytest_rankcheck.files.frame_tables import frame_of_columns

    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    give_order = True
    for query_id, ranking in rankings.items():
        doc_ids, scores = ranking.doc_ids, ranking.scores or ()
        give_order &= len(scores) == len(doc_ids) and (
            by_score(doc_ids, scores, query_id).doc_ids == doc_ids
        )
        columns["query_id"] += [query_id] * len(ranking)
        columns["doc_id"] += doc_ids
        columns["rank"] += range(1, len(ranking) + 1)
        columns["score"] += scores
    if not give_order:
        del columns["score"]
    return frame_of_columns(columns)
