"""The golden set: reading, writing, linting, and deriving other sets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion
from pytest_rankcheck.golden.golden_source import Contradictions, Source
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.golden.query import label_of

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdRule
    from pytest_rankcheck.files.frame_tables import Frame
    from pytest_rankcheck.golden.documents import CorpusSource, DocumentSource, InteractionSource
    from pytest_rankcheck.golden.expectation import Expectation
    from pytest_rankcheck.golden.golden_contents import Contents
    from pytest_rankcheck.golden.lint.lint_rule import LintFinding


class GoldenSet(JudgedQueries):
    """Judged queries to measure a ranker on.

    Build one with `load`, `from_dict`, `from_frame` or `from_ir_datasets`. It does not change
    after that: `subset`, `sample`, `weighted` and others return another set.
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
        documents: DocumentSource | None = None,
        interactions: InteractionSource | None = None,
    ) -> GoldenSet:
        """Read a golden set from a file or a folder.

        Args:
            path: the file or folder; a file may be packed with gzip or Zstandard. TREC qrels take
                the texts and attributes of their queries from a file of the same name that ends
                with ``.queries.tsv``, if there is one.
            format: ``"jsonl"``, ``"cases"`` (YAML or JSON), ``"trec"``, ``"csv"``, ``"tsv"``,
                ``"parquet"``, ``"beir"``, ``"quepid"``, ``"elasticsearch"``,
                ``"opensearch"`` or ``"letor"``; without it, the content decides.
            name: what messages and records call the set; without it, the file's name up to the
                first dot.
            grades: the grade of each code in the file, ``{1: 4, 2: 3, "irrelevant": 0}``; any other
                code is an error. Or one number, the grade of every row of a table without grades,
                such as clicks.
            columns: ``{meaning: column}`` for ``query_id``, ``query``, ``doc_id``, ``relevance``
                and ``title``, if the columns of a table, or the keys of cases, have unusual names.
            split: which set of judgments of a BEIR folder to read.
            contradictions: which of two grades for one document counts: ``"first"``, ``"last"``
                or ``"highest"``; or ``"error"``.
            attributes: the columns or keys that are attributes of queries; without them, all that
                qualify. In a table, the other columns belong to the candidates.
            scale: the highest grade that a document could get, if no judgment has it.
            doc_id: maps the ids of documents: a function from an id to an id; or a named rule:
                ``"lower"``, ``"strip"`` (white space), ``"strip_zeros"`` (of whole numbers),
                ``"nfc"`` (Unicode), ``"unquote"`` (of URLs), ``"remove_prefix:doc_"``,
                ``"remove_suffix:.html"``, ``"before:#"`` (the part before the first ``#``) or
                ``"after:/"`` (the part after the last ``/``); or ``"attribute:source"``, a column
                of ``documents``, for chunks whose sources are judged; or a list of these, applied
                in order.
            documents: all documents that can be ranked: a file or folder (JSON lines, CSV, TSV,
                Parquet), a DataFrame, or ``{doc_id: {attribute: value}}``. Without it, the corpus
                of a BEIR folder.
            interactions: what users have interacted with before: a file or a DataFrame with the
                columns ``user`` and ``item``. The id of a query is that of its user.

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
        contents = contents_of_file(source, format)
        contents = _with_tables(contents, documents, interactions, doc_id)
        return cls(contents, name or shown_name(source.file))

    @classmethod
    @checked_arguments
    def from_dict(
        cls,
        judgments: Mapping[str, Mapping[str, float] | Sequence[str]],
        queries: Mapping[str, str] | None = None,
        *,
        attributes: Mapping[str, Mapping[str, object]] | None = None,
        name: str = "golden set",
        contradictions: Contradictions = "error",
        scale: float | None = None,
        doc_id: DocIdRule | None = None,
        documents: DocumentSource | None = None,
        interactions: InteractionSource | None = None,
    ) -> GoldenSet:
        """Make a golden set from ``{query_id: {doc_id: grade}}``.

        Args:
            judgments: the grade of each judged document of each query; or the text that a returned
                chunk must contain, or a list of texts.
            queries: the text of each query; a query without judgments may be given here alone.
            attributes: ``{query_id: {attribute: value}}``, to slice by.
            name: what messages and records call the set.
            contradictions: which of two grades counts if ``doc_id`` makes two documents one, as in
                `load`.
            scale: the highest grade that a document could get, as in `load`.
            doc_id: maps the ids of documents, as in `load`.
            documents: all documents that can be ranked, as in `load`.
            interactions: what users have interacted with before, as in `load`.

        Raises:
            GoldenSetError: no query is given, an id or a grade is invalid, or attributes are given
                for an unknown query.
        """
        from pytest_rankcheck.golden.contents_builder import contents_from_dict

        source = Source.of(contradictions=contradictions, scale=scale)
        contents = contents_from_dict(judgments, queries or {}, attributes or {}, source)
        return cls(_with_tables(contents, documents, interactions, doc_id), name)

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
        documents: DocumentSource | None = None,
        interactions: InteractionSource | None = None,
    ) -> GoldenSet:
        """Make a golden set from DataFrames of pandas or polars, or tables of Arrow.

        Args:
            judgments: one row per judgment, with columns ``query_id``, ``doc_id`` and
                ``relevance``, or other usual names. Another column is an attribute of the query if
                all rows of each query agree on it. Otherwise it belongs to the candidates, and then
                all columns of numbers do.
            queries: columns ``query_id`` and, if the queries have texts, ``query``; further columns
                are attributes.
            name: what messages and records call the set.
            grades: the grade of each code, as in `load`.
            columns: ``{meaning: column}`` of ``judgments`` and ``queries``, as in `load`.
            contradictions: which of two grades for one document counts, as in `load`.
            attributes: the columns that are attributes of queries, as in `load`.
            scale: the highest grade that a document could get, as in `load`.
            doc_id: maps the ids of documents, as in `load`.
            documents: all documents that can be ranked, as in `load`.
            interactions: what users have interacted with before, as in `load`.

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
        return cls(_with_tables(contents, documents, interactions, doc_id), name)

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
        from pytest_rankcheck.golden.golden_files import contents_of_dataset, loaded

        dataset_name = dataset if isinstance(dataset, str) else "dataset"
        source = Source.of(grades=grades, contradictions=contradictions, scale=scale)
        data = loaded(dataset) if isinstance(dataset, str) else dataset
        contents = contents_of_dataset(data, dataset_name, source)
        return cls(_with_tables(contents, None, None, doc_id), name or dataset_name)

    def save(self, path: str | PathLike[str], format: str | None = None) -> None:
        """Write the golden set to a file, completely or not at all.

        Args:
            path: the file; packed if its name ends with ``.gz`` or ``.zst``. TREC qrels hold no
                texts or attributes: they go to a second file that ends with ``.queries.tsv``.
            format: ``"jsonl"``, ``"trec"``, ``"csv"``, ``"tsv"`` or ``"parquet"``; without it, the
                name decides: ``.qrels`` and ``.txt`` are TREC, an unknown ending means JSON lines.

        Raises:
            GoldenSetError: the format cannot hold this set; TREC, for example, cannot hold an id
                with a space.
        """
        from pytest_rankcheck.golden.golden_files import write_contents

        write_contents(self.contents, Path(path), format)

    @checked_arguments
    def lint(
        self,
        *,
        scale: tuple[float, float] | None = None,
        min_queries: int = 30,
        rules: Collection[str] | None = None,
        documents: CorpusSource | None = None,
    ) -> list[LintFinding]:
        """Return the findings of the linter: what would mislead a gate, errors first.

        Args:
            scale: the lowest and the highest valid grade.
            min_queries: the fewest queries that a gate needs.
            rules: the names of the rules to apply; without them, all.
            documents: all documents that can be ranked, as in `load`, or an iterable of their ids;
                without it, those of the set. They are read once, a part at a time.

        Raises:
            GoldenSetError: a rule is unknown, an option invalid, or a table unreadable.
        """
        from pytest_rankcheck.golden.lint.lint_rule import LintOptions
        from pytest_rankcheck.golden.lint.linter import findings_of

        options = LintOptions(scale=scale, min_queries=min_queries)
        return findings_of(self, options, rules, documents=documents)

    @checked_arguments
    def subset(
        self, query_ids: Iterable[str] | None = None, *, name: str | None = None, **attributes: Any
    ) -> Self:
        """Return the queries with these ids and these attributes, as a golden set.

        Args:
            query_ids: the ids; without them, all.
            name: what messages and records call the part; without it, the name of the whole.
            attributes: values of attributes, as slices show them: ``locale="de"``.

        Raises:
            GoldenSetError: a query or an attribute is unknown, or no query is left.
        """
        chosen = set(self.query_ids if query_ids is None else query_ids)
        unknown = sorted(chosen.difference(self._queries))
        if unknown:
            raise GoldenSetError(
                f"golden set '{quoted(self.name)}' has no query {listed(unknown)}"
                f"{suggestion(unknown[0], self._queries)}"
            )
        pairs = (f"{key}={quoted(value)}" for key, value in attributes.items())
        why = f"none has {', '.join(pairs)}" if chosen else "the list of ids is empty"
        for attribute, value in attributes.items():
            chosen &= set(self.slices(attribute).get(label_of(value), ()))
        if not chosen:
            raise GoldenSetError(f"no query of golden set '{quoted(self.name)}' is chosen: {why}")
        return self._part(chosen, name)

    @checked_arguments
    def sample(self, count: int, seed: int = 0, *, name: str | None = None) -> Self:
        """Return ``count`` random queries as a golden set; the same ones for the same ``seed``.

        The draw depends only on the hashes of the ids, not on the order of the queries or on
        versions, so a set that grows keeps most of its sample.

        Raises:
            GoldenSetError: ``count`` is below 1 or above the number of queries.
        """
        if not 1 <= count <= len(self):
            raise GoldenSetError(
                f"cannot draw {count:,} queries from the {len(self):,} of golden set "
                f"'{quoted(self.name)}'"
            )
        import hashlib  # loads OpenSSL, so only when needed

        def drawn(query_id: str) -> bytes:
            return hashlib.sha256(f"{seed} {query_id}".encode("utf-8", "surrogatepass")).digest()

        return self._part(set(sorted(self.query_ids, key=drawn)[:count]), name)

    def _part(self, query_ids: Collection[str], name: str | None) -> Self:
        """Return some queries, in this set's order, as a golden set with its scale."""
        chosen = [each for each in self.query_ids if each in query_ids]
        part = self.contents.of_queries(chosen)
        scale = self.scale if self.scale > 0 else None
        return type(self)(replace(part, scale=scale), name or self.name)

    def for_ranker(self, query_ids: Sequence[str]) -> Self:
        """Return some queries with only what a ranker can see, to send to a worker.

        The time is linear in these queries, not in the whole set. The names of all attributes and
        features are kept; titles, expectations and places in files are not. Unpickling the result
        needs no library that the files were read with.

        Args:
            query_ids: some of the queries, each once, in the order of the result.
        """
        from pytest_rankcheck.files.id_columns import HeldIds
        from pytest_rankcheck.golden.golden_contents import Contents

        part = replace(self.contents, repeats=()).of_queries(query_ids)
        documents = HeldIds(part.judgments.documents.texts())
        contents = Contents(
            judgments=replace(part.judgments, documents=documents, lines=None),
            by_subtopic=part.by_subtopic,
            queries=part.queries,
            by_text=part.by_text,
            candidates=part.candidates.compact(),
            scale=self.scale if self.scale > 0 else None,
            weight_by=part.weight_by,
            cluster_by=part.cluster_by,
            known_attributes=tuple(self.attributes),
        )
        return type(self)(contents, self.name)

    def weighted(self, by: str) -> Self:
        """Return the set with queries weighted by an attribute, such as how often each is asked.

        All means are then weighted.

        Args:
            by: the attribute; each query needs a number above 0.

        Raises:
            GoldenSetError: a query has no such number.
        """
        self.check_no_feature(by)
        weighted = type(self)(replace(self.contents, weight_by=by), self.name)
        _ = weighted.weights  # raises now if a weight is invalid
        return weighted

    def clustered(self, by: str) -> Self:
        """Return the set with queries grouped into independent units, such as sessions or users.

        Queries of one unit are not independent; intervals and tests take that into account.

        Args:
            by: the attribute whose values are the independent units.

        Raises:
            GoldenSetError: a query lacks the attribute.
        """
        self.check_no_feature(by)
        clustered = type(self)(replace(self.contents, cluster_by=by), self.name)
        _ = clustered.clusters  # raises now if a query belongs to no unit
        return clustered

    def expecting(self, *expectations: Expectation, name: str | None = None) -> Self:
        """Return the set with more expectations of its queries.

        Args:
            expectations: the expectations to add.
            name: what messages and records call the result; without it, the name of this one.

        Raises:
            GoldenSetError: a query is unknown, or no ranking can meet all its expectations.
        """
        from pytest_rankcheck.golden.expectation import add_expectation

        known = self.contents.expectations
        every = {query_id: list(of_query) for query_id, of_query in known.items()}
        for expectation in expectations:
            add_expectation(every, expectation, self.query_ids, f"golden set '{quoted(self.name)}'")
        return type(self)(replace(self.contents, expectations=every), name or self.name)

    @checked_arguments
    def merge(
        self, *others: Self, contradictions: Contradictions = "error", name: str | None = None
    ) -> Self:
        """Return this set and others as one; a query in several sets gets the judgments of all.

        Args:
            others: the other sets.
            contradictions: which grade counts if two sets judge a document differently.
            name: what messages and records call the result; without it, the name of this one.

        Raises:
            GoldenSetError: a query has two texts, a document two grades, or several sets candidates
                with columns.
        """
        parts = [golden.contents for golden in (self, *others)]
        from pytest_rankcheck.golden.derived_contents import merged

        return type(self)(merged(parts, contradictions), name or self.name)


def _with_tables(
    contents: Contents,
    documents: DocumentSource | None,
    interactions: InteractionSource | None,
    doc_id: DocIdRule | None,
) -> Contents:
    """Return a golden set with what is known about its documents and users, and its ids mapped."""
    if documents is None and interactions is None and doc_id is None:
        return contents
    from pytest_rankcheck.golden.derived_contents import with_mapped_ids  # loads numpy
    from pytest_rankcheck.golden.documents import Documents, Interactions, with_column_rules

    columns = contents.source.columns
    rule = with_column_rules(doc_id, documents, columns)
    catalogue = None if documents is None else Documents(documents, columns, rule)
    seen = None if interactions is None else Interactions(interactions, columns, rule)
    return with_mapped_ids(replace(contents, documents=catalogue, interactions=seen), rule)
