"""The golden set: made from files, dicts and frames, cut into parts, merged, written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion
from pytest_rankcheck.files.format_registry import Formats
from pytest_rankcheck.files.packed_files import require_packer, shown_name, unpacked_suffix
from pytest_rankcheck.golden import formats
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.golden_contents import Contents, checked_id
from pytest_rankcheck.golden.golden_source import (
    Contradictions,
    GradeMap,
    Source,
    checked_contradictions,
)
from pytest_rankcheck.golden.golden_subsets import (
    in_query_order,
    merged,
    restricted,
    reworded,
    sampled_ids,
)
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.golden.query import Query, label_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GoldenSet"]

GOLDEN_FORMATS: Formats[Contents] = Formats(formats, "golden sets", GoldenSetError)


class GoldenSet(JudgedQueries):
    """Judged queries to measure a ranker on.

    Build one with `load`, `from_dict`, `from_frame` or `from_ir_datasets`. It does not change
    afterwards.
    """

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        name: str | None = None,
        grades: Mapping[Any, float] | None = None,
        columns: Mapping[str, str] | None = None,
        split: str | None = None,
        contradictions: Contradictions = "error",
    ) -> GoldenSet:
        """Read a golden set from a file or a folder; a file may be packed with gzip or Zstandard.

        Args:
            path: the file. A file of TREC qrels takes the texts and attributes of its queries
                from the file of the same name with the ending ``.queries.tsv``, if there is one.
            format: ``"jsonl"``, ``"trec"``, ``"csv"``, ``"tsv"``, ``"parquet"``, ``"beir"``,
                ``"quepid"``, ``"rre"``, ``"elasticsearch"``, ``"opensearch"`` or ``"letor"``;
                without it, the content decides.
            name: what messages and records call the set; without it, the file's name up to the
                first dot.
            grades: what the codes of the file mean, ``{1: 4, 2: 3, "irrelevant": 0}``; then a code
                that is not in it is an error.
            columns: which columns of a table are ``query_id``, ``query``, ``doc_id``,
                ``relevance`` and ``title``, where they have other names than usual.
            split: which of several sets of judgments, in a BEIR folder.
            contradictions: what counts of two grades for one document: ``"first"``, ``"last"``,
                ``"highest"``, or that is an ``"error"``.

        Raises:
            GoldenSetError: the file is absent, empty, in an unknown format, or has a line that
                is malformed or contradicts another; the message names the file and the line.
        """
        file = Path(path)
        source = Source(
            file,
            GradeMap(grades) if grades is not None else None,
            dict(columns or {}),
            split,
            checked_contradictions(contradictions),
        )
        chosen = GOLDEN_FORMATS.named(format) if format else GOLDEN_FORMATS.detected(file, columns)
        contents = chosen.read(source)
        if not contents.grades:
            raise GoldenSetError(f"{file} is empty; a golden set has at least one judged query")
        return cls(contents, name or shown_name(file))

    @classmethod
    def from_dict(
        cls,
        judgments: Mapping[str, Mapping[str, float]],
        queries: Mapping[str, str] | None = None,
        *,
        attributes: Mapping[str, Mapping[str, object]] | None = None,
        name: str = "golden set",
    ) -> GoldenSet:
        """Make a golden set from ``{query_id: {doc_id: grade}}``.

        Args:
            judgments: the grade of each judged document of each query.
            queries: the text of each query; queries that only stand here have no judgments.
            attributes: ``{query_id: {attribute: value}}``, to slice by.
            name: what messages and records call the set.

        Raises:
            GoldenSetError: no query, an id or a grade that is none, or attributes of a query
                that is not there.
        """
        contents, texts = Contents(), dict(queries or {})
        given = dict(attributes or {})
        for query_id in {**judgments, **texts}:
            where = f"query '{quoted(query_id)}'"
            key = checked_id(query_id, "the query id", where)
            contents.add_query(
                Query(key, texts.get(query_id), dict(given.pop(query_id, {}))), where
            )
            for doc_id, grade in judgments.get(query_id, {}).items():
                contents.add_judgment(key, doc_id, grade, where)
        if given:
            raise GoldenSetError(f"attributes of queries that are not there: {listed(list(given))}")
        return cls(contents, name)

    @classmethod
    def from_frame(
        cls,
        judgments: pd.DataFrame,
        queries: pd.DataFrame | None = None,
        *,
        name: str = "golden set",
        grades: Mapping[Any, float] | None = None,
        columns: Mapping[str, str] | None = None,
        contradictions: Contradictions = "error",
    ) -> GoldenSet:
        """Make a golden set from DataFrames.

        Args:
            judgments: columns ``query_id``, ``doc_id``, ``relevance``, or other usual names; one
                row a judgment. Of further columns those that are the same for all rows of a query
                are its attributes, the others belong to the candidates.
            queries: columns ``query_id`` and ``query``; further columns are attributes.
            name: what messages and records call the set.
            grades: as in `load`, and so are ``columns`` and ``contradictions``.
            columns: which columns of ``judgments`` are which.
            contradictions: what counts of two grades for one document.

        Raises:
            GoldenSetError: a column is missing, or a row has no id, no number for a grade, or
                contradicts another; the message names the row.
        """
        from pytest_rankcheck.golden.golden_frames import contents_from_frames

        source = Source(
            None,
            GradeMap(grades) if grades is not None else None,
            dict(columns or {}),
            contradictions=checked_contradictions(contradictions),
        )
        return cls(contents_from_frames(judgments, queries, source), name)

    @classmethod
    def from_ir_datasets(
        cls, dataset: Any, *, name: str | None = None, grades: Mapping[Any, float] | None = None
    ) -> GoldenSet:
        """Make a golden set of the judged queries of a dataset of ir_datasets.

        Args:
            dataset: its name, such as ``"beir/scifact/test"``, which ir_datasets may download; or
                a dataset that it loaded.
            name: what messages and records call the set; without it, the dataset's name.
            grades: what the relevance codes mean, as in `load`.

        Raises:
            GoldenSetError: ir_datasets is not installed or does not know the name, or the dataset
                has no judgments.
        """
        from pytest_rankcheck.golden.ir_datasets_loader import contents_of_dataset, loaded

        called = dataset if isinstance(dataset, str) else "dataset"
        source = Source(None, GradeMap(grades) if grades is not None else None)
        found = loaded(dataset) if isinstance(dataset, str) else dataset
        return cls(contents_of_dataset(found, called, source), name or called)

    def save(self, path: str | PathLike[str], format: str | None = None) -> None:
        """Write the golden set to a file, whole or not at all.

        Args:
            path: the file; packed if its name ends with ``.gz`` or ``.zst``. TREC qrels hold no
                texts and attributes: these go to a second file with the ending ``.queries.tsv``.
            format: ``"jsonl"``, ``"trec"``, ``"csv"``, ``"tsv"``, ``"parquet"`` or ``"beir"`` (a
                folder); without it, the name decides: ``.qrels`` and ``.txt`` are TREC, and what
                has no known ending is JSON lines.

        Raises:
            GoldenSetError: the format cannot hold this set, such as TREC an id with a space.
        """
        file = Path(path)
        require_packer(file, GoldenSetError)
        chosen = GOLDEN_FORMATS.to_write(format, unpacked_suffix(file), "jsonl")
        assert chosen.write is not None
        chosen.write(self._contents, file)

    def subset(
        self, query_ids: Iterable[str] | None = None, *, name: str | None = None, **attributes: Any
    ) -> GoldenSet:
        """Return the part of the set with these queries, and with these attributes.

        Args:
            query_ids: the queries; without them, all.
            name: what messages and records call the part; without it, as the whole.
            attributes: the values that attributes have, ``locale="de"``, as slices show them.

        Raises:
            GoldenSetError: a query or an attribute is not there, or no query is left.
        """
        chosen = set(self.query_ids if query_ids is None else query_ids)
        unknown = sorted(chosen.difference(self._queries))
        if unknown:
            raise GoldenSetError(
                f"golden set '{quoted(self.name)}' has no query {listed(unknown)}"
                f"{suggestion(unknown[0], self._queries)}"
            )
        for attribute, value in attributes.items():
            chosen &= set(self.slices(attribute).get(label_of(value), ()))
        if not chosen:
            asked = ", ".join(f"{key}={quoted(value)}" for key, value in attributes.items())
            raise GoldenSetError(
                f"golden set '{quoted(self.name)}' has no query with {asked or 'no id'}"
            )
        return GoldenSet(restricted(self._contents, chosen), name or self.name)

    def sample(self, count: int, seed: int = 0, *, name: str | None = None) -> GoldenSet:
        """Return ``count`` queries of the set, drawn at random; the same for the same ``seed``.

        The draw does not depend on the order of the queries or the version of anything.

        Raises:
            GoldenSetError: there are not so many queries, or ``count`` is less than 1.
        """
        if not 1 <= count <= len(self):
            raise GoldenSetError(
                f"a sample of {count:,} queries cannot be drawn from the {len(self):,} of golden "
                f"set '{quoted(self.name)}'"
            )
        chosen = sampled_ids(self.query_ids, count, seed)
        return GoldenSet(restricted(self._contents, set(chosen)), name or self.name)

    def weighted(self, by: str) -> GoldenSet:
        """Return the set with queries that count as much as an attribute of theirs says.

        All means are weighted then, such as by how often a query is asked.

        Args:
            by: the attribute; a number above 0 for each query.

        Raises:
            GoldenSetError: a query does not have such a number.
        """
        whole = restricted(self._contents, self._contents.grades)
        whole.weight_by = by
        made = GoldenSet(whole, self.name)
        _ = made.weights  # refuse now what is no weight
        return made

    def clustered(self, by: str) -> GoldenSet:
        """Return the set with queries that belong together, such as those of one session or user.

        They are not independent: intervals and tests keep them together.

        Args:
            by: the attribute whose values are the independent units.

        Raises:
            GoldenSetError: a query does not have it.
        """
        whole = restricted(self._contents, self._contents.grades)
        whole.cluster_by = by
        made = GoldenSet(whole, self.name)
        _ = made.clusters
        return made

    def expecting(self, *expectations: Expectation, name: str | None = None) -> GoldenSet:
        """Return the set with further expectations of its queries.

        Args:
            expectations: what is expected; see ``Expectation``.
            name: what messages and records call the result; without it, as this one.

        Raises:
            GoldenSetError: a query is not there, or no ranking can meet all that is expected of it.
        """
        contents = restricted(self._contents, self.query_ids)
        for expectation in expectations:
            contents.add_expectation(expectation, f"golden set '{quoted(self.name)}'")
        return GoldenSet(contents, name or self.name)

    def ordered(self, query_ids: Iterable[str]) -> GoldenSet:
        """Return these queries of the set, in this order.

        Raises:
            GoldenSetError: a query is not there, or none is left.
        """
        chosen = tuple(dict.fromkeys(query_ids))
        return GoldenSet(in_query_order(self.subset(chosen)._contents, chosen), self.name)

    def reworded(self, texts: Mapping[str, str]) -> GoldenSet:
        """Return the queries of ``texts`` with these texts, and their judgments as they are.

        Raises:
            GoldenSetError: a query is not there, or there is none.
        """
        return GoldenSet(reworded(self.subset(texts)._contents, texts), self.name)

    def merge(
        self, *others: GoldenSet, contradictions: Contradictions = "error", name: str | None = None
    ) -> GoldenSet:
        """Return this set and others as one; a query of several has the judgments of all.

        Args:
            others: the other sets.
            contradictions: what counts where two of them judge a document differently.
            name: what messages and records call the whole; without it, as this one.

        Raises:
            GoldenSetError: a query has two texts, or a document two grades.
        """
        parts = [golden._contents for golden in (self, *others)]
        return GoldenSet(merged(parts, checked_contradictions(contradictions)), name or self.name)
