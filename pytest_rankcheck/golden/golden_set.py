"""The golden set: read from files, dicts, frames and ir_datasets, written to files, and linted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import GoldenSetError
from pytest_rankcheck.golden.derivable_queries import DerivableQueries
from pytest_rankcheck.golden.golden_source import Contradictions, Source

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdRule
    from pytest_rankcheck.files.frame_tables import Frame
    from pytest_rankcheck.golden.corpus import CorpusSource
    from pytest_rankcheck.golden.golden_contents import Contents
    from pytest_rankcheck.golden.lint.lint_rule import LintFinding, RankedQueries


class GoldenSet(DerivableQueries):
    """Judged queries to measure a ranker on.

    Build one with `load`, `from_dict`, `from_frame` or `from_ir_datasets`. It does not change
    after that.
    """

    @classmethod
    @checked_arguments
    def load(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        name: str | None = None,
        grades: Mapping[Any, float] | float | None = None,
        columns: Mapping[str, str] | None = None,
        split: str | None = None,
        contradictions: Contradictions = "error",
        attributes: Collection[str] | str | None = None,
        scale: float | None = None,
        doc_id: DocIdRule | None = None,
    ) -> GoldenSet:
        """Read a golden set from a file or a folder.

        Args:
            path: the file or folder; a file may be packed with gzip or Zstandard. TREC qrels take
                the texts and attributes of their queries from a file of the same name that ends
                with ``.queries.tsv``, if there is one.
            format: ``"jsonl"``, ``"trec"``, ``"csv"``, ``"tsv"``, ``"parquet"``, ``"arrow"``,
                ``"beir"``, ``"quepid"``, ``"elasticsearch"``, ``"opensearch"`` or ``"letor"``;
                without it, the content decides.
            name: what messages and records call the set; without it, the file's name up to the
                first dot.
            grades: the grade of each code in the file, ``{1: 4, 2: 3, "irrelevant": 0}``; any other
                code is an error. Or one number, for a table without grades, such as of clicks: the
                grade of every row.
            columns: ``{meaning: column}`` of a table, for ``query_id``, ``query``, ``doc_id``,
                ``relevance`` and ``title``, where the columns have unusual names.
            split: which set of judgments of a BEIR folder to read.
            contradictions: which of two grades for one document counts: ``"first"``, ``"last"``
                or ``"highest"``; or ``"error"``.
            attributes: the columns or keys that are attributes of queries; without them, all that
                can be. In a table, the other columns belong to the candidates.
            scale: the highest grade that a document could get, if no judgment has it.
            doc_id: maps the ids of documents: a function from an id to an id; or a named rule:
                ``"lower"``, ``"strip"`` (white space), ``"strip_zeros"`` (of whole numbers),
                ``"nfc"`` (Unicode), ``"unquote"`` (of URLs), ``"remove_prefix:doc_"``,
                ``"remove_suffix:.html"``, ``"before:#"`` (the part before the first ``#``) or
                ``"after:/"`` (the part after the last ``/``); or a list of these, applied in
                order.

        Raises:
            GoldenSetError: the file is missing, empty or in an unknown format, or a line is
                malformed or contradicts another; the message names the file and the line. Or
                ``doc_id`` maps two documents with different grades to one.
            ConfigurationError: ``doc_id`` is invalid, or does not return an id.
        """
        from pytest_rankcheck.files.packed_files import shown_name
        from pytest_rankcheck.golden.golden_files import contents_of_file

        source = Source.of(
            Path(path),
            grades=grades,
            columns=columns,
            split=split,
            contradictions=contradictions,
            attributes=attributes,
            scale=scale,
        )
        contents = contents_of_file(source, format, doc_id)
        return cls(contents, name or shown_name(source.file))

    @classmethod
    @checked_arguments
    def from_dict(
        cls,
        judgments: Mapping[str, Mapping[str, float]],
        queries: Mapping[str, str] | None = None,
        *,
        attributes: Mapping[str, Mapping[str, object]] | None = None,
        name: str = "golden set",
        contradictions: Contradictions = "error",
        scale: float | None = None,
        doc_id: DocIdRule | None = None,
    ) -> GoldenSet:
        """Make a golden set from ``{query_id: {doc_id: grade}}``.

        Args:
            judgments: the grade of each judged document of each query.
            queries: the text of each query; a query without judgments may be given here alone.
            attributes: ``{query_id: {attribute: value}}``, to slice by.
            name: what messages and records call the set.
            contradictions: which of two grades counts if ``doc_id`` makes one document of two, as
                in `load`.
            scale: the highest grade that a document could get, as in `load`.
            doc_id: maps the ids of documents, as in `load`.

        Raises:
            GoldenSetError: no query is given, an id or a grade is invalid, or attributes are given
                for an unknown query.
        """
        from pytest_rankcheck.golden.golden_dicts import contents_from_dict

        source = Source.of(contradictions=contradictions, scale=scale)
        contents = contents_from_dict(judgments, queries or {}, attributes or {}, source)
        return cls(_with_ids(contents, doc_id), name)

    @classmethod
    @checked_arguments
    def from_frame(
        cls,
        judgments: Frame,
        queries: Frame | None = None,
        *,
        name: str = "golden set",
        grades: Mapping[Any, float] | float | None = None,
        columns: Mapping[str, str] | None = None,
        contradictions: Contradictions = "error",
        attributes: Collection[str] | str | None = None,
        scale: float | None = None,
        doc_id: DocIdRule | None = None,
    ) -> GoldenSet:
        """Make a golden set from DataFrames of pandas or polars, or tables of Arrow.

        Args:
            judgments: one row per judgment, with columns ``query_id``, ``doc_id`` and
                ``relevance``, or other usual names. Another column is an attribute of the query if
                all rows of each query agree on it; otherwise it belongs to the candidates, and so
                do then all columns of numbers.
            queries: columns ``query_id`` and, if the queries have texts, ``query``; further columns
                are attributes.
            name: what messages and records call the set.
            grades: the grade of each code, as in `load`.
            columns: ``{meaning: column}`` of ``judgments`` and ``queries``, as in `load`.
            contradictions: which of two grades for one document counts, as in `load`.
            attributes: the columns that are attributes of queries, as in `load`.
            scale: the highest grade that a document could get, as in `load`.
            doc_id: maps the ids of documents, as in `load`.

        Raises:
            GoldenSetError: a column is missing, or a row has no id, has an invalid grade or
                contradicts another row; the message names the row.
        """
        from pytest_rankcheck.files.tables import read_table
        from pytest_rankcheck.golden.contents_builder import ContentsBuilder
        from pytest_rankcheck.golden.judgment_batches import add_queries, add_table

        source = Source.of(
            grades=grades,
            columns=columns,
            contradictions=contradictions,
            attributes=attributes,
            scale=scale,
        )
        builder = ContentsBuilder(source)
        if queries is not None:
            add_queries(builder, read_table(queries, GoldenSetError, name="queries"))
        add_table(builder, read_table(judgments, GoldenSetError, name="judgments"))
        contents = builder.built()
        contents.check_attributes()
        return cls(_with_ids(contents, doc_id), name)

    @classmethod
    @checked_arguments
    def from_ir_datasets(
        cls,
        dataset: Any,
        *,
        name: str | None = None,
        grades: Mapping[Any, float] | None = None,
        contradictions: Contradictions = "error",
        scale: float | None = None,
        doc_id: DocIdRule | None = None,
    ) -> GoldenSet:
        """Make a golden set from the judged queries of an ir_datasets dataset.

        Args:
            dataset: a name, such as ``"beir/scifact/test"``, which ir_datasets may download; or
                a dataset that it has loaded.
            name: what messages and records call the set; without it, the dataset's name.
            grades: the grade of each relevance code, as in `load`.
            contradictions: which of two grades for one document counts, as in `load`.
            scale: the highest grade that a document could get, as in `load`.
            doc_id: maps the ids of documents, as in `load`.

        Raises:
            GoldenSetError: ir_datasets is not installed or does not know the name, or the dataset
                has no judgments.
        """
        from pytest_rankcheck.golden.ir_datasets_loader import contents_of_dataset, loaded

        dataset_name = dataset if isinstance(dataset, str) else "dataset"
        source = Source.of(grades=grades, contradictions=contradictions, scale=scale)
        data = loaded(dataset) if isinstance(dataset, str) else dataset
        contents = contents_of_dataset(data, dataset_name, source)
        return cls(_with_ids(contents, doc_id), name or dataset_name)

    @checked_arguments
    def save(self, path: str | PathLike[str], format: str | None = None) -> None:
        """Write the golden set to a file, whole or not at all.

        Args:
            path: the file; packed if its name ends with ``.gz`` or ``.zst``. TREC qrels hold no
                texts or attributes: they go to a second file that ends with ``.queries.tsv``.
            format: ``"jsonl"``, ``"trec"``, ``"csv"``, ``"tsv"``, ``"parquet"`` or ``"beir"`` (a
                folder); without it, the name decides: ``.qrels`` and ``.txt`` are TREC, an unknown
                ending means JSON lines.

        Raises:
            GoldenSetError: the format cannot hold this set; TREC, for example, cannot hold an id
                with a space.
        """
        from pytest_rankcheck.golden.golden_files import write_contents

        write_contents(self._contents, Path(path), format)

    @checked_arguments
    def lint(
        self,
        *,
        scale: tuple[float, float] | None = None,
        min_queries: int = 30,
        run: RankedQueries | None = None,
        rules: Collection[str] | None = None,
        corpus: CorpusSource | None = None,
    ) -> list[LintFinding]:
        """Return the findings of the linter: what would mislead a gate, errors first.

        Args:
            scale: the lowest and the highest valid grade.
            min_queries: the fewest queries that a gate needs.
            run: a `Run` of these queries, for the rules that compare judgments with a ranker.
            rules: the names of the rules to apply; without them, all.
            corpus: the documents that are ranked: a file or folder (JSON lines, CSV, TSV, Parquet,
                Arrow, or one id per line), a DataFrame, or an iterable of ids. It is read once, a
                part at a time. Without it, that of a BEIR folder is used.

        Raises:
            GoldenSetError: a rule is unknown, an option is invalid, or the corpus cannot be read.
            RunError: the run is in a file that cannot be read.
        """
        from pytest_rankcheck.golden.lint.lint_options import LintOptions
        from pytest_rankcheck.golden.lint.linter import findings_of

        options = LintOptions(scale=scale, min_queries=min_queries)
        return findings_of(self, options, rules, run=run, corpus=corpus)


def _with_ids(contents: Contents, doc_id: DocIdRule | None) -> Contents:
    from pytest_rankcheck.golden.mapped_ids import with_mapped_ids  # loads numpy

    return with_mapped_ids(contents, doc_id)
