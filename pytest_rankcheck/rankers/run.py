"""The run: the ranked documents of every query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.argument_checks import check_whole_number, checked_arguments
from pytest_rankcheck.errors import RunError, plural, quoted, unknown_id
from pytest_rankcheck.files.paused_collector import collector_paused
from pytest_rankcheck.rankers.held_rankings import HeldColumns, answers_of
from pytest_rankcheck.rankers.ranked_columns import Answer, RankedColumns, RunSource
from pytest_rankcheck.rankers.ranking import (
    Duplicates,
    IncompleteRanks,
    Ranking,
    RankingRules,
    Ties,
    id_map,
)

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.document_ids import DocIdRule
    from pytest_rankcheck.files.frame_tables import Frame
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.rankers.ranking_rows import Rankings
    from pytest_rankcheck.rankers.run_file import RunFile
    from pytest_rankcheck.rankers.run_parts import RunParts

__all__ = ["Run"]

_SMALL_FILE_BYTES = 4 << 20
"""A run file up to this size is read at once, so that errors in it are raised at once."""


class Run:
    """What a ranker answered: for each query, document ids, best first.

    Build one with `load`, `from_dict`, `from_frame` or ``rank``. It does not change after that.
    """

    def __init__(
        self,
        rankings: Mapping[str, Answer] | HeldColumns | RunFile | RunParts,
        *,
        name: str = "run",
        depth: int | None = None,
        ties: Ties = "doc_id",
        duplicates: Duplicates = "error",
        seconds: Mapping[str, float] | None = None,
    ) -> None:
        self.name = name
        """What messages and records call the run."""
        if depth is not None:
            check_whole_number("depth", depth, 1, RunError)
        self.depth = None if depth is None else int(depth)
        """How many documents the ranker was asked for per query; None if unknown."""
        self.ties: Ties = ties
        self.duplicates: Duplicates = duplicates
        self.seconds: Mapping[str, float] = dict(seconds or {})
        """How long each query took to rank, in seconds; empty if unknown."""
        self.asked: str | None = None
        """The name of the golden set that was ranked; None if unknown."""
        self.repeats: tuple[Run, ...] = ()
        """More runs of the same ranker, if it was asked more than once."""
        self.differing: tuple[str, ...] = ()
        """The queries that were answered twice with different answers; the first one counts."""
        self.notes: tuple[str, ...] = ()
        """What a reader must know about how the run was ranked, as sentences."""
        self._parts: RunParts | None = None
        self._rankings: HeldColumns | RunFile | RunParts = (
            HeldColumns.of(rankings, RankingRules(ties, duplicates))
            if isinstance(rankings, Mapping)
            else rankings
        )

    @classmethod
    @checked_arguments
    def load(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        name: str | None = None,
        columns: Mapping[str, str] | None = None,
        ties: Ties = "doc_id",
        duplicates: Duplicates = "error",
        doc_id: DocIdRule | None = None,
        incomplete_ranks: IncompleteRanks = "error",
    ) -> Run:
        """Read a run from a file, or from a folder of parts.

        Args:
            path: the file; it may be packed with gzip or Zstandard. Or a folder or a pattern, such
                as ``"runs/2026-11-21/"`` or ``"runs/part-*.parquet"``, whose files together form
                the run, as Spark and others write it. A subfolder named ``key=value`` adds a column
                to its files. Names that begin with ``_`` or ``.`` are left out.
            format: ``"trec"``, ``"jsonl"``, ``"csv"``, ``"tsv"`` or ``"parquet"``; without it, the
                content decides.
            name: what messages call the run; without it, the name of the file or folder.
            columns: ``{meaning: column}`` of a table, for ``query_id``, ``doc_id``, ``score`` and
                ``rank``, where the columns have unusual names.
            ties: the order of equal scores: ``"doc_id"`` (descending, as in trec_eval),
                ``"input"`` (as in the file) or ``"error"``.
            duplicates: a document twice in a ranking: ``"error"``; or only its first place counts,
                and the documents below move up (``"close_gaps"``) or keep their places
                (``"keep_places"``).
            doc_id: maps the ids of documents, before duplicates are found: a named rule such as
                ``"lower"`` or ``"before:#"``, a function from an id to an id, or several. The file
                is then read into memory.
            incomplete_ranks: a gap or a repeat in the ranks of a table without scores: ``"error"``,
                or ``"close_gaps"`` if the ranks give only the order.

        A file of more than a few megabytes is read when it is needed, as with `scan`.

        Raises:
            RunError: the file is missing, empty, in an unknown format, or a line is malformed,
                has a score that is not finite, or repeats a document. A large file raises errors
                about its lines when they are read. A folder has no parts, or they have different
                formats or columns.
        """
        from pytest_rankcheck.files.packed_files import failures_named
        from pytest_rankcheck.files.regular_files import size_of

        run = cls.scan(
            path,
            format,
            name=name,
            columns=columns,
            ties=ties,
            duplicates=duplicates,
            doc_id=doc_id,
            incomplete_ranks=incomplete_ranks,
        )
        assert not isinstance(run._rankings, HeldColumns)
        size = 0
        for file in run._rankings.files:
            with failures_named(file, RunError):
                size += size_of(file)
        if size <= _SMALL_FILE_BYTES:
            run.read()
        return run

    @classmethod
    @checked_arguments
    def scan(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        name: str | None = None,
        columns: Mapping[str, str] | None = None,
        ties: Ties = "doc_id",
        duplicates: Duplicates = "error",
        doc_id: DocIdRule | None = None,
        incomplete_ranks: IncompleteRanks = "error",
    ) -> Run:
        """Return the run of a file, or of a folder of parts, without reading it yet.

        An evaluation then reads the file once, and keeps the ranks of the judged documents and the
        top of each ranking, so that a run larger than memory can be measured. Anything else that
        needs the rankings reads all of them.

        The arguments are those of `load`. The file must not change while the run is used.

        Raises:
            RunError: the file is missing, empty or in an unknown format.
        """
        from pytest_rankcheck.files.packed_files import shown_name
        from pytest_rankcheck.files.part_files import are_parts
        from pytest_rankcheck.rankers.run_file import RunFile
        from pytest_rankcheck.rankers.run_parts import RunParts

        file = Path(path)
        rules = RankingRules(ties, duplicates, id_map(doc_id), incomplete_ranks)
        source = RunSource(file, rules, dict(columns or {}))
        if are_parts(file):
            own_name = file.name if file.is_dir() else shown_name(file)
            parts = RunParts.of(source, format)
            run = cls(parts, name=name or own_name, ties=ties, duplicates=duplicates)
            run._parts = parts
            return run
        found = RunFile.of(source, format)
        return cls(found, name=name or file.name, ties=ties, duplicates=duplicates)

    @classmethod
    @checked_arguments
    def from_dict(
        cls,
        rankings: Mapping[str, object],
        *,
        name: str = "run",
        depth: int | None = None,
        ties: Ties = "doc_id",
        duplicates: Duplicates = "error",
        doc_id: DocIdRule | None = None,
    ) -> Run:
        """Make a run from ``{query_id: ranking}``.

        A ranking is what a ranker may return: document ids, best first; (id, score) pairs;
        ``{id: score}``; or a DataFrame. Lists and dicts are not copied and must not change.
        ``doc_id`` maps the ids of documents, as in `load`.

        Raises:
            RunError: a ranking has another form, a score is not finite, a ranking has a
                duplicate document, in most queries the scores of (id, score) pairs rise or the
                scores of ``{id: score}`` are ranks, or ``depth`` is less than 1.
        """
        rules = RankingRules(ties, duplicates, id_map(doc_id))
        with collector_paused():
            answers = answers_of(rankings, rules, depth, name)
            return cls(answers, name=name, depth=depth, ties=ties, duplicates=duplicates)

    @classmethod
    @checked_arguments
    def from_candidates(cls, golden: GoldenSet, *, name: str = "candidates") -> Run:
        """Make a run from the candidates of each query, in their order.

        For a replayed log, this is what users saw, in the order they saw it.
        """
        rankings = {query_id: golden.candidates_of(query_id) for query_id in golden.query_ids}
        return cls.from_dict(rankings, name=name)

    @classmethod
    @checked_arguments
    def from_frame(
        cls,
        frame: Frame,
        *,
        name: str = "run",
        columns: Mapping[str, str] | None = None,
        ties: Ties = "doc_id",
        duplicates: Duplicates = "error",
        doc_id: DocIdRule | None = None,
        incomplete_ranks: IncompleteRanks = "error",
    ) -> Run:
        """Make a run from a table with one row for each ranked document.

        ``frame`` is a DataFrame of pandas or polars, or an Arrow table, with the columns
        ``query_id``, ``doc_id`` and ``score`` (highest first) or ``rank`` (lowest first). With
        neither, and no other column of numbers that could be one of them, the order of the rows is
        the ranking. The usual other names are recognised, as in files. In a query whose scores are
        all None or NaN, the ranks decide. The other arguments are those of `load`.

        Raises:
            RunError: a column is missing, an id or a score is invalid, a ranking has a duplicate
                document, or the ranks that decide the order are incomplete.
        """
        from pytest_rankcheck.rankers.run_tables import columns_of_table

        rules = RankingRules(ties, duplicates, id_map(doc_id), incomplete_ranks)
        blocks = partial(columns_of_table, frame, columns or {}, rules)
        return cls(HeldColumns.read(blocks), name=name, ties=ties, duplicates=duplicates)

    @checked_arguments
    def save(self, path: str | PathLike[str], format: str | None = None) -> None:
        """Write the run to a file, whole or not at all.

        Args:
            path: the file.
            format: ``"trec"``, ``"jsonl"``, ``"csv"``, ``"tsv"`` or ``"parquet"``; without it, the
                name decides; an unknown ending means TREC. A file is packed if its name ends with
                ``.gz`` or ``.zst``.

        Raises:
            RunError: the format cannot hold this run; TREC, for example, cannot hold an id with a
                space.
        """
        from pytest_rankcheck.files.packed_files import require_packer, unpacked_suffix
        from pytest_rankcheck.rankers.run_file import RUN_FORMATS

        file = Path(path)
        require_packer(file, RunError)
        chosen = RUN_FORMATS.to_write(format, unpacked_suffix(file), "trec")
        assert chosen.write is not None
        chosen.write(self.rankings(), file)

    def rankings(self) -> Rankings:
        """Return all rankings, in order and with their scores."""
        return {query_id: self._ranking(query_id) for query_id in self}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per ranked document: ``query_id``, ``doc_id``, ``rank``, ``score``.

        `from_frame` reads the same run from it. So ``score`` is None in a query whose scores do not
        give its order (no scores, a pinned document, ties in another order); `scores` has them.
        An empty ranking has no row.
        """
        from pytest_rankcheck.rankers.ranking_rows import frame_of

        return frame_of(self.rankings())

    @checked_arguments
    def top(self, depth: int) -> Run:
        """Return the run cut to the first ``depth`` documents of each query.

        Raises:
            RunError: ``depth`` is less than 1.
        """
        depth = min(depth, self.depth or depth)
        run = Run(
            self._rankings.top(depth),
            name=self.name,
            depth=depth,
            ties=self.ties,
            duplicates=self.duplicates,
            seconds=self.seconds,
        )
        run.asked, run.differing, run.notes = self.asked, self.differing, self.notes
        run._parts = self._parts
        return run

    def columns(self, *, together: bool = False) -> Iterator[RankedColumns]:
        """Yield all rankings in columns, which is all that an evaluation reads.

        The run of a file that is not read yet is read here, once, and not kept.

        Args:
            together: whether to bring the rows of each query of a file together first.

        Raises:
            RunError: a line of the file is malformed; file and line are named.
            SplitQueryError: the rows of a query are not together.
        """
        return self._rankings.columns(together=together)

    def read(self) -> None:
        """Read the rankings into memory, if they are in a file that is not read yet.

        Raises:
            RunError: a line of the file is malformed; file and line are named.
        """
        self._in_memory  # noqa: B018 - reads the file

    @property
    def is_in_memory(self) -> bool:
        """Whether the rankings are in memory; False if they are in a file that is not read yet."""
        return isinstance(self._rankings, HeldColumns)

    @property
    def part_notes(self) -> Sequence[str]:
        """What was unusual in the parts of a folder, as sentences; known once they were read."""
        return () if self._parts is None else self._parts.notes

    @property
    def query_ids(self) -> Sequence[str]:
        """The ids of the queries that have a ranking, including empty ones."""
        return tuple(self._in_memory)

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return a query's document ids, best first; the same as ``run[query_id]``.

        Raises:
            UnknownIdError: the run lacks the query; a KeyError.
        """
        return self._ranking(query_id).doc_ids

    def get(self, query_id: str) -> Sequence[str]:
        """Return a query's document ids, best first; empty if the run lacks the query."""
        return self._ranking(query_id).doc_ids if query_id in self._in_memory else ()

    def scores(self, query_id: str) -> Sequence[float] | None:
        """Return the scores of a query's ranking, best first, or None if it has no scores.

        Raises:
            UnknownIdError: the run lacks the query.
        """
        return self._ranking(query_id).scores

    def has_ties(self, query_id: str) -> bool:
        """Return whether two documents of a query's ranking have the same score.

        Raises:
            UnknownIdError: the run lacks the query.
        """
        self._require(query_id)
        return self._in_memory.has_ties(query_id)

    @property
    def repeated(self) -> Sequence[str]:
        """The queries with a duplicate document; empty for a run in a file that is not read yet."""
        if self.duplicates == "error" or not self.is_in_memory:
            return ()
        return tuple(query_id for query_id in self if self._ranking(query_id).repeated)

    @property
    def _in_memory(self) -> HeldColumns:
        """The rankings, read from the file if they are not in memory yet."""
        if not isinstance(self._rankings, HeldColumns):
            with collector_paused():
                self._rankings = self._rankings.read()
        return self._rankings

    def _ranking(self, query_id: str) -> Ranking:
        """Return a query's ranking in order."""
        self._require(query_id)
        return self._in_memory.ranking(query_id)

    def _require(self, query_id: str) -> None:
        if query_id not in self._in_memory:
            owner = f"run '{quoted(self.name)}'"
            raise unknown_id(owner, "query", query_id, tuple(self._in_memory))

    def __getitem__(self, query_id: str) -> Sequence[str]:
        return self.ranking(query_id)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._in_memory

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._in_memory))

    def __len__(self) -> int:
        return len(self._in_memory)

    def __repr__(self) -> str:
        if not self.is_in_memory:
            return f"Run({self.name!r}, not read yet)"
        documents = plural(self._in_memory.documents, "document")
        return f"Run({self.name!r}, {plural(len(self), 'query', 'queries')}, {documents})"
