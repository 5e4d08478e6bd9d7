"""Our own format for runs: one JSON object per line and query.

    {"query_id": "q1", "ranking": ["d7", "d3"]}
    {"query_id": "q2", "ranking": ["d1", "d9"], "scores": [12.5, 3.25]}

The ranking is in order, best first, regardless of the scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.text_files import lines_of
from pytest_rankcheck.files.whole_files import readable_json, write_whole
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranked_columns import RankedColumns, RunSource, columns_of
from pytest_rankcheck.rankers.ranking import Ranking
from pytest_rankcheck.rankers.ranking_forms import ranking_as_given
from pytest_rankcheck.rankers.ranking_rows import Rankings

__all__ = ["FORMAT", "format_lines", "parse_lines"]


def read(source: RunSource, *, together: bool = False) -> Iterator[RankedColumns]:
    """Yield the rankings of a run.

    Raises:
        RunError: a line is not an object of this form (the message names file and line), or in most
            queries the scores rise.
    """
    misread = MisreadScores()

    def checked() -> Iterator[tuple[str, Ranking]]:
        for query_id, ranking in _rankings(_numbered(source.path)):
            misread.add(query_id, None, ranking.doc_ids, ranking.scores)
            yield query_id, ranking

    yield from columns_of(checked(), source.rules)
    if misread.problem:
        raise RunError(f"{source.path}: {misread.problem}")


def parse_lines(numbered: Iterable[tuple[str, str]]) -> Rankings:
    """Return the rankings in some lines, each given with its place for messages.

    Raises:
        RunError: a line is not an object of this form, or a query is duplicated.
    """
    return dict(_rankings(numbered))


def _rankings(numbered: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Ranking]]:
    seen: set[str] = set()
    for where, line in numbered:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as failure:
            raise RunError(f"{where}: not JSON: {failure}; each line is one object") from None
        query_id = entry.get("query_id") if isinstance(entry, dict) else None
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


def _numbered(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in lines_of(path, RunError):
        if not line.startswith("#"):
            yield f"{path}:{number}", line


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
    write_whole(path, "".join(f"{line}\n" for line in format_lines(rankings)))


def format_lines(rankings: Rankings) -> Iterator[str]:
    """Yield one line per query."""
    for query_id, ranking in rankings.items():
        entry: dict[str, object] = {"query_id": query_id, "ranking": ranking.doc_ids}
        if ranking.scores is not None:
            entry["scores"] = ranking.scores
        yield readable_json(entry)


def _recognises(sample: FileSample) -> bool:
    return sample.begins_object


FORMAT = Format(
    name="jsonl",
    description='JSON lines such as {"query_id": "q1", "ranking": ["d7", "d3"]}',
    recognises=_recognises,
    read=read,
    write=write,
    endings=(".jsonl",),
    is_vague=True,
)
