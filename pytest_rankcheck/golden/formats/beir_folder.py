"""BEIR and MTEB: a folder with ``queries.jsonl``, ``qrels/<split>.tsv`` and maybe ``corpus.jsonl``.

    queries.jsonl     {"_id": "q1", "text": "red shoes"}      further keys are attributes
    qrels/test.tsv    query-id <tab> corpus-id <tab> score    with this header; or as JSON lines
    corpus.jsonl      {"_id": "d3", "title": "Red shoe", "text": "..."}

If there are several splits, the requested one is read, or ``test`` by default. Only queries of the
split are in the set. A path to ``qrels/dev.tsv`` selects that split of the folder above.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import table_text
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.json_files import objects_of, values_of
from pytest_rankcheck.files.plain_values import flat, id_text
from pytest_rankcheck.files.whole_files import readable_json, write_whole
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source, checked_id
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.query import Query

_QUERIES, _CORPUS, _QRELS = "queries.jsonl", "corpus.jsonl", "qrels"
_HEADER = ["query-id", "corpus-id", "score"]
_USUAL_SPLIT = "test"
_METADATA = "metadata"


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
    contents = builder.built()
    if contents.corpus is None:
        return contents
    return replace(contents, titles=_CorpusTitles(contents.corpus, contents.judgments))


def _files(path: Path, split: str | None) -> tuple[Path, Path]:
    """Return the folder, and the file with the judgments of the split."""
    if path.is_file():
        return path.parent.parent, path
    files = [each for ending in ("jsonl", "tsv") for each in (path / _QRELS).glob(f"*.{ending}")]
    splits = {file.stem: file for file in sorted(files)}
    if not splits:
        raise GoldenSetError(f"{path / _QRELS}: no file of judgments, such as test.tsv")
    chosen = split or (_USUAL_SPLIT if _USUAL_SPLIT in splits else None)
    if chosen is None and len(splits) == 1:
        chosen = next(iter(splits))
    if chosen not in splits:
        problem = "several splits, but no split 'test'; choose one with split= (rankcheck_split)"
        if chosen:
            problem = f"no split '{quoted(chosen)}'{suggestion(chosen, splits)}"
        raise GoldenSetError(f"{path / _QRELS}: {problem}; it has {listed(list(splits))}")
    return path, splits[chosen]


class _CorpusTitles(UserDict[str, str]):
    """The titles of judged documents, read from the corpus when one is asked for."""

    def __init__(self, corpus: Path, judgments: Judgments) -> None:
        self._corpus = corpus
        self._judgments = judgments

    @cached_property
    def data(self) -> dict[str, str]:  # type: ignore[override]
        """The titles; none of a broken line, which concerns the linter."""
        judged = set(self._judgments.documents.texts())
        titles = dict[str, str]()
        with suppress(GoldenSetError):  # the corpus cannot be read
            for _, entry in values_of(self._corpus, GoldenSetError)[1]:
                if isinstance(entry, dict) and entry.get("title"):
                    doc_id = id_text(entry.get("_id"))
                    if doc_id in judged:
                        titles[doc_id] = str(entry["title"])
        return titles


def write(contents: Contents, path: Path) -> None:
    """Write the folder, with the judgments as the split ``test``; each query needs a judgment."""
    unjudged = [query_id for query_id, grades in contents.grades.items() if not grades]
    if unjudged:
        raise GoldenSetError(
            f"a BEIR folder cannot hold queries without a judgment ({listed(unjudged)}); save as "
            "jsonl or csv"
        )
    qrels = table_text(_HEADER, list(contents.judgments.rows_at()), GoldenSetError, "\t")
    (path / _QRELS).mkdir(parents=True, exist_ok=True)
    write_whole(path / _QRELS / f"{_USUAL_SPLIT}.tsv", qrels)
    queries = contents.stored_queries().values()
    _write_lines(path / _QUERIES, [_query_entry(query) for query in queries])
    if contents.titles:  # the linter checks that the corpus has all judged documents
        known = dict.fromkeys((*contents.titles, *contents.judgments.documents.texts()))
        titles = [{"_id": doc_id, "title": contents.titles.get(doc_id, "")} for doc_id in known]
        _write_lines(path / _CORPUS, titles)


def _query_entry(query: Query) -> dict[str, object]:
    nested = {_METADATA: dict(query.attributes)} if query.attributes else {}
    text = {} if query.text is None else {"text": query.text}
    return {"_id": query.id, **text, **nested}


def _write_lines(path: Path, entries: Sequence[Mapping[str, object]]) -> None:
    write_whole(path, "".join(f"{readable_json(entry)}\n" for entry in entries))


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
    write=write,
    cannot_hold=("candidates", "expectations"),
)
