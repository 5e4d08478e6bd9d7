"""Comma- or tab-separated tables with a header: ``query_id,doc_id,score``, or ``rank``.

The highest ``score`` is best; in a query without scores, the lowest ``rank``. The separator
(comma, tab, semicolon or bar) is detected from the header; other usual column names are recognised
(``qid``, ``docno``, ``position``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.delimited_tables import decimal_comma_hint, table_of, table_text
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.golden.checked_values import finite_number
from pytest_rankcheck.rankers.query_hits import QueryHits, RunSource, Wanted, hits_by_score
from pytest_rankcheck.rankers.rank_order import check_ranks
from pytest_rankcheck.rankers.ranking_rows import FileRanking, FileRankings, ranked_rows
from pytest_rankcheck.rankers.run_columns import may_have_ranking, run_columns

__all__ = ["FORMATS"]


def read(source: RunSource) -> FileRankings:
    """Read a run.

    Raises:
        RunError: a column is missing; a row lacks an id or a finite score (the message names file
            and line); or scores are missing, and the ranks of a query are incomplete.
    """
    table = table_of(source.path, RunError)
    place = run_columns(table.header, source.columns, str(source.path))
    rankings: FileRankings = {}
    unscored: dict[str, list[tuple[str, str]]] = {}
    """By query, the document and the place in the file of each row that has only a rank."""
    for number, row in table.rows:
        where = f"{source.path}:{number}"
        query_id, doc_id = row[place["query_id"]], row[place["doc_id"]]
        if not query_id or not doc_id:
            raise RunError(f"{where}: {'doc_id' if query_id else 'query_id'} is empty")
        file_ranking = rankings.get(query_id)
        if file_ranking is None:
            file_ranking = rankings[query_id] = FileRanking(score_decides=True, scores=[])
        assert file_ranking.scores is not None
        file_ranking.doc_ids.append(doc_id)
        if "score" in place and (row[place["score"]] or "rank" not in place):
            score = _number(row[place["score"]], "score", doc_id, where)
        else:
            score = -_number(row[place["rank"]], "rank", doc_id, where)
            unscored.setdefault(query_id, []).append((doc_id, where))
        file_ranking.scores.append(score)
    for query_id, rows in unscored.items():
        if len(rows) < len(rankings[query_id].doc_ids):
            _number("", "score", *rows[0])  # raises an error: other documents have scores
    check_ranks({query_id: rankings[query_id] for query_id in unscored}, source.incomplete_ranks)
    return rankings


def scan(source: RunSource, wanted: Wanted) -> Iterator[tuple[str, QueryHits | None]]:
    """Yield each query with its hits; None for unwanted queries.

    Raises:
        RunError: as in `read`; or a document is duplicated.
    """
    for query_id, file_ranking in read(source).items():
        judged, scores = wanted(query_id), file_ranking.scores or []
        hits = hits_by_score(source, query_id, file_ranking.doc_ids, scores, judged or ())
        yield query_id, None if judged is None else hits


def _number(text: str, what: str, doc_id: str, where: str) -> float:
    number = finite_number(text)
    if number is None:
        raise RunError(
            f"{where}: the {what} of document '{quoted(doc_id)}' is '{quoted(text, 40)}', not a "
            f"finite number{decimal_comma_hint(text)}"
        )
    return number


def write(rankings: FileRankings, path: Path, *, delimiter: str) -> None:
    """Write a run, with ranks and with scores that give the same order.

    Raises:
        RunError: an id cannot be encoded.
    """
    rows = [
        [query_id, doc_id, rank, repr(score)]
        for query_id, doc_id, rank, score in ranked_rows(rankings)
    ]
    header = ["query_id", "doc_id", "rank", "score"]
    write_whole(path, table_text(header, rows, RunError, delimiter))


def _recognises(sample: FileSample, delimiter: str) -> bool:
    return may_have_ranking(sample.header) and ("\t" in sample.line) == (delimiter == "\t")


FORMATS = (
    Format(
        name="csv",
        description="comma-separated with a header such as query_id,doc_id,score",
        recognises=partial(_recognises, delimiter=","),
        read=read,
        write=partial(write, delimiter=","),
        scan=scan,
        endings=(".csv",),
    ),
    Format(
        name="tsv",
        description="the same, tab-separated",
        recognises=partial(_recognises, delimiter="\t"),
        read=read,
        write=partial(write, delimiter="\t"),
        scan=scan,
        endings=(".tsv",),
    ),
)
