"""BEIR and MTEB: a folder with ``queries.jsonl``, ``qrels/<split>.tsv`` and maybe ``corpus.jsonl``.

    queries.jsonl     {"_id": "q1", "text": "red shoes"}      further keys are attributes
    qrels/test.tsv    query-id <tab> corpus-id <tab> score    with this header; or as JSON lines
    corpus.jsonl      {"_id": "d3", "title": "Red shoe", "text": "..."}

If there are several splits, the requested one is read, or ``test`` by default. Only queries of the
split are in the set. A path to ``qrels/dev.tsv`` selects that split of the folder above.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.json_files import objects_of
from pytest_rankcheck.files.plain_values import flat
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source, checked_id
from pytest_rankcheck.golden.query import Query

_QUERIES, _CORPUS, _QRELS = "queries.jsonl", "corpus.jsonl", "qrels"
_HEADER = ["query-id", "corpus-id", "score"]
_USUAL_SPLIT = "test"


def read(source: Source) -> Contents:
    """Read one split of the folder."""
    from pytest_rankcheck.files.tables import read_table
    from pytest_rankcheck.golden.judgment_batches import add_table

    folder, qrels = _files(source.file, source.split)
    builder = ContentsBuilder(replace(source, path=qrels))
    add_table(builder, read_table(qrels, GoldenSetError, columns=source.columns.values()))
    judged, builder.queries = builder.queries, {}
    for where, entry in objects_of(folder / _QUERIES, GoldenSetError):
        if "_id" not in entry:
            raise GoldenSetError(f'{where}: not of the form {{"_id": "q1", "text": "..."}}')
        query_id = checked_id(entry.pop("_id"), '"_id"', where)
        text, others = entry.pop("text", None), flat(entry).items()
        attributes = {name: value for name, value in others if value not in (None, "", [])}
        if query_id in builder.collected:
            if query_id in judged:
                attributes = {**judged[query_id].attributes, **attributes}
            text = None if text is None else str(text)
            builder.add_query(Query(query_id, text, attributes), where)
    if (folder / _CORPUS).exists():
        builder.corpus = folder / _CORPUS
    return builder.built()


def _files(path: Path, split: str | None) -> tuple[Path, Path]:
    """Return the folder, and the file with the judgments of the split."""
    if path.is_file():
        return path.parent.parent, path
    files = [each for ending in ("jsonl", "tsv") for each in (path / _QRELS).glob(f"*.{ending}")]
    splits = {file.stem: file for file in sorted(files)}
    if not splits:
        raise GoldenSetError(f"{path / _QRELS}: no file of judgments, such as test.tsv")
    chosen = split or (_USUAL_SPLIT if len(splits) > 1 else next(iter(splits)))
    if chosen not in splits:
        raise GoldenSetError(
            f"{path / _QRELS}: no split '{quoted(chosen)}'{suggestion(chosen, splits)}; choose one "
            f"with split= (rankcheck_split); it has {listed(list(splits))}"
        )
    return path, splits[chosen]


def _recognises(sample: FileSample) -> bool:
    if sample.is_folder:
        return (sample.path / _QRELS).is_dir()
    if not (sample.path.parent.parent / _QUERIES).exists():
        return False
    names = sample.header or sample.first_object
    return {name.replace("_", "-") for name in names} == {*_HEADER}


FORMAT = Format(
    name="beir",
    description="a BEIR folder with queries.jsonl and qrels/test.tsv",
    recognises=_recognises,
    read=read,
)
