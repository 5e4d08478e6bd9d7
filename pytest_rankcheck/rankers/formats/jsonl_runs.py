"""Our own format for runs: one JSON object per line and query.

    {"query_id": "q1", "ranking": ["d7", "d3"]}
    {"query_id": "q2", "ranking": ["d1", "d9"], "scores": [12.5, 3.25]}

The ranking is in order, best first, regardless of the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import RunError, listed, quoted
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.json_files import queries_of
from pytest_rankcheck.files.whole_files import readable_json, write_whole
from pytest_rankcheck.rankers.formats import table_runs
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranked_columns import RankedColumns, columns_of
from pytest_rankcheck.rankers.ranking import Ranking, Rankings
from pytest_rankcheck.rankers.ranking_forms import ranking_as_given

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.run_files import RunFiles


def read(run: RunFiles, *, together: bool = False) -> Iterator[RankedColumns]:
    """Yield the rankings of a run."""
    if FileSample(run.files[0], RunError, run.columns).has_rows:
        yield from table_runs.read(run, kind="JSON", together=together)
        return
    misread = MisreadScores()
    yield from columns_of(_rankings(run.files, misread), run.rules)
    if misread.problem:
        raise RunError(f"{run.path}: {misread.problem}")


def _rankings(files: Sequence[Path], misread: MisreadScores) -> Iterator[tuple[str, Ranking]]:
    seen: set[str] = set()
    for file in files:
        for where, entry in queries_of(file, RunError, "ranking", (dict, list)):
            query_id, ranking = ranked_entry(entry, where)
            if query_id in seen:
                raise RunError(f"{where}: duplicate query '{quoted(query_id)}'")
            seen.add(query_id)
            misread.add(query_id, None, ranking.doc_ids, ranking.scores)
            yield query_id, ranking


def ranked_entry(entry: dict[str, object], where: str) -> tuple[str, Ranking]:
    """Return the query and the ranking of an object; the ranking may be of (id, score) pairs."""
    query_id = entry.get("query_id")
    ranking = entry.get("ranking")
    scores = entry.get("scores")
    if not isinstance(query_id, str) or not isinstance(ranking, (dict, list)):
        form = 'not of the form {"query_id": "q1", "ranking": ["d7", "d3"]}'
        keys = f"its keys are {listed(list(entry), 10) or 'none'}"
        raise RunError(f"{where}: valid JSON, but {form}; {keys}")
    if not query_id:
        raise RunError(f"{where}: query_id is empty")
    if scores is not None and (not isinstance(scores, list) or len(scores) != len(ranking)):
        raise RunError(
            f"{where}: query '{quoted(query_id)}': \"scores\" must have one number per document"
        )
    answer = ranking if scores is None else list(zip(ranking, scores, strict=True))
    try:
        return query_id, ranking_as_given(answer, query_id)
    except RunError as error:
        raise RunError(f"{where}: {error}") from None


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
    recognises=lambda sample: sample.is_json,
    read=read,
    write=write,
    endings=(".jsonl",),
    is_vague=True,
)
