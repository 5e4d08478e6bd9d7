"""Our own format for runs: one JSON object per line and query.

    {"query_id": "q1", "ranking": ["d7", "d3"]}
    {"query_id": "q2", "ranking": ["d1", "d9"], "scores": [12.5, 3.25]}

The ranking is in order, best first, regardless of the scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.text_files import objects_of_lines
from pytest_rankcheck.files.whole_files import readable_json, write_whole
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranked_columns import RankedColumns, RunSource, columns_of
from pytest_rankcheck.rankers.ranking import Ranking
from pytest_rankcheck.rankers.ranking_forms import ranking_as_given
from pytest_rankcheck.rankers.ranking_rows import Rankings

__all__ = ["FORMAT"]


def read(source: RunSource, *, together: bool = False) -> Iterator[RankedColumns]:
    """Yield the rankings of a run."""
    misread = MisreadScores()

    def checked() -> Iterator[tuple[str, Ranking]]:
        for query_id, ranking in _rankings(source.path):
            misread.add(query_id, None, ranking.doc_ids, ranking.scores)
            yield query_id, ranking

    yield from columns_of(checked(), source.rules)
    if misread.problem:
        raise RunError(f"{source.path}: {misread.problem}")


def _rankings(path: Path) -> Iterator[tuple[str, Ranking]]:
    seen: set[str] = set()
    for where, entry in objects_of_lines(path, RunError):
        query_id = entry.get("query_id")
        if not isinstance(query_id, str) or not isinstance(entry.get("ranking"), list):
            raise RunError(
                f'{where}: not of the form {{"query_id": "q1", "ranking": ["d7", "d3"]}}'
            )
        if not query_id:
            raise RunError(f"{where}: query_id is empty")
        if query_id in seen:
            raise RunError(f"{where}: duplicate query '{quoted(query_id)}'")
        seen.add(query_id)
        try:
            ranking = _ranked(entry, query_id)
        except RunError as error:
            raise RunError(f"{where}: {error}") from None
        yield query_id, ranking


def _ranked(entry: dict[str, object], query_id: str) -> Ranking:
    ranking, scores = entry["ranking"], entry.get("scores")
    assert isinstance(ranking, list)
    if scores is None:
        return ranking_as_given(ranking, query_id)
    if not isinstance(scores, list) or len(scores) != len(ranking):
        raise RunError(f"query '{quoted(query_id)}': \"scores\" must have one number per document")
    return ranking_as_given(list(zip(ranking, scores, strict=True)), query_id)


def write(rankings: Rankings, path: Path) -> None:
    """Write a run, one line per query, in the run's order."""
    lines = []
    for query_id, ranking in rankings.items():
        entry: dict[str, object] = {"query_id": query_id, "ranking": ranking.doc_ids}
        if ranking.scores is not None:
            entry["scores"] = ranking.scores
        lines.append(f"{readable_json(entry)}\n")
    write_whole(path, "".join(lines))


FORMAT = Format(
    name="jsonl",
    description='JSON lines such as {"query_id": "q1", "ranking": ["d7", "d3"]}',
    recognises=lambda sample: sample.begins_object,
    read=read,
    write=write,
    endings=(".jsonl",),
    is_vague=True,
)
