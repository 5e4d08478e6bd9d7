"""The run: the ranked documents of every query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pytest_rankcheck.argument_checks import check_whole_number, checked_arguments
from pytest_rankcheck.errors import RunError, plural, quoted, unknown_id
from pytest_rankcheck.files.table_batches import collector_paused
from pytest_rankcheck.rankers.ranked_columns import (
    Answer,
    RankedColumns,
    columns_of,
    held_blocks,
)
from pytest_rankcheck.rankers.ranking import (
    Duplicates,
    Ranking,
    RankingRules,
    ReadingOptions,
    Ties,
    id_map,
    reading_rules,
)
from pytest_rankcheck.rankers.run_dicts import answers_of

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.document_ids import DocIdRule
    from pytest_rankcheck.files.frame_tables import Frame
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.rankers.ranking import Rankings
    from pytest_rankcheck.rankers.run_files import RunFiles


_SMALL_FILE_BYTES = 4 << 20
"""A run file up to this size is read at once, so that errors in it are raised at once."""


class Run:
    """What a ranker answered: for each query, document ids, best first.

    Build one with `load`, `from_dict`, `from_frame` or ``rank``. It does not change after that.
    """

    def __init__(
        self,
        rankings: Mapping[str, Answer] | Sequence[RankedColumns] | RunFiles,
        *,
        name: str = "run",
        depth: int | None = None,
        ties: Ties = "doc_id",
        duplicates: Duplicates = "error",
        seconds: Mapping[str, float] | None = None,
        largest_batch: int = 1,
        failed: Mapping[str, str] | None = None,
        asked: str | None = None,
        texts: Mapping[str, Sequence[str | None]] | None = None,
        notes: Sequence[str] = (),
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
        self.largest_batch = largest_batch
        """How many queries were ranked together at most; their seconds are then shares."""
        self.failed: Mapping[str, str] = failed or {}
        """Why the ranker failed on queries, if that is allowed; their rankings are empty."""
        self.asked = asked
        """The name of the golden set that was ranked; None if unknown."""
        self.texts: Mapping[str, Sequence[str | None]] = texts or {}
        """The texts of each ranking, if the ranker returns them and texts are judged."""
        self.notes = tuple(notes)
        """What a reader must know about how the run was ranked, as sentences."""
        self.unknown: Mapping[str, bool] = {}
        """What is unknown about its documents, as sentences, and whether this concerns many."""
        self._blocks: Sequence[RankedColumns] | None = None
        self._files: RunFiles | None = None  # if the run comes from files
        if isinstance(rankings, Mapping):
            rules, are_distinct = RankingRules(ties, duplicates), duplicates != "keep_places"
            self._blocks = [*columns_of(rankings.items(), rules, are_distinct=are_distinct)]
        elif isinstance(rankings, Sequence):
            self._blocks = rankings
        else:
            self._files = rankings
        self._rankings: dict[str, Ranking] = {}

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        name: str | None = None,
        **reading: Unpack[ReadingOptions],
    ) -> Run:
        """Read a run from a file, or from a folder of parts.

        Args:
            path: the file; it may be packed with gzip or Zstandard. Or a folder or a pattern, such
                as ``"runs/2026-11-21/"`` or ``"runs/part-*.parquet"``, whose files together form
                the run, as Spark and others write it. Names that begin with ``_`` or ``.`` are
                left out.
            format: ``"trec"``, ``"jsonl"``, ``"csv"``, ``"tsv"`` or ``"parquet"``; without it, the
                content decides.
            name: what messages call the run; without it, the name of the file or folder.
            columns: ``{meaning: column}`` of a table, for ``query_id``, ``doc_id``, ``score`` and
                ``rank``, where the columns have unusual names.
            ties: the order of equal scores: ``"doc_id"`` (descending, as in trec_eval),
                ``"input"`` (as in the file), ``"worst"`` (when measured, the lowest grade first) or
                ``"error"``.
            duplicates: a document twice in a ranking: ``"error"``; or only its first place counts,
                and the documents below move up (``"close_gaps"``) or keep their places
                (``"keep_places"``).
            doc_id: maps the ids of documents, before duplicates are found: a named rule such as
                ``"lower"`` or ``"before:#"``, a function from an id to an id, or several. The file
                is then read into memory.

        A file of more than a few megabytes is read when it is needed, as with `scan`.

        Raises:
            RunError: the file is missing, empty, in an unknown format, or a line is malformed,
                has a score that is not finite, or repeats a document. A large file raises errors
                about its lines when they are read. A folder has no parts, or they have different
                formats or columns.
        """
        run = cls.scan(path, format, name=name, **reading)
        assert run._files is not None
        if run._files.size <= _SMALL_FILE_BYTES:
            run.read()
        return run

    @classmethod
    def scan(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        name: str | None = None,
        **reading: Unpack[ReadingOptions],
    ) -> Run:
        """Return the run of a file, or of a folder of parts, without reading it yet.

        An evaluation then reads the file once, and keeps the ranks of the judged documents and the
        top of each ranking, so that a run larger than memory can be measured. Anything else that
        needs the rankings reads all of them.

        The arguments are those of `load`. The file must not change while the run is used.

        Raises:
            RunError: the file is missing, empty or in an unknown format.
        """
        from pytest_rankcheck.rankers.run_files import RunFiles

        columns, rules = reading_rules(**reading)
        files = RunFiles.of(Path(path), format, rules, columns)
        return cls(files, name=name or files.name, ties=rules.ties, duplicates=rules.duplicates)

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
        in_order: bool = False,
        **reading: Unpack[ReadingOptions],
    ) -> Run:
        """Make a run from a table with one row for each ranked document.

        ``frame`` is a DataFrame of pandas or polars, or an Arrow table, with the columns
        ``query_id``, ``doc_id`` and ``score`` (highest first) or ``rank`` (lowest first). With
        neither, ``in_order=True`` says that the rows are in order, best first. The usual other
        names are recognised, as in files. The other arguments are those of `load`.

        Raises:
            RunError: a column is missing, an id or a score is invalid, a ranking has a duplicate
                document, or the ranks that decide the order are incomplete.
        """
        from pytest_rankcheck.rankers.run_tables import columns_of_table

        columns, rules = reading_rules(**reading)
        read = partial(columns_of_table, frame, columns, rules, in_order=in_order)
        blocks = held_blocks(read)
        return cls(blocks, name=name, ties=rules.ties, duplicates=rules.duplicates)

    def save(self, path: str | PathLike[str], format: str | None = None) -> None:
        """Write the run to a file, completely or not at all.

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
        from pytest_rankcheck.rankers.run_files import RUN_FORMATS

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

        `from_frame` reads the same run from it. So there is no ``score`` if the scores of a query
        do not give its order (no scores, a pinned document, ties in another order); `scores` still
        returns them. An empty ranking has no row.
        """
        from pytest_rankcheck.rankers.ranking import frame_of

        return frame_of(self.rankings())

    @checked_arguments
    def top(self, depth: int) -> Run:
        """Return the run cut to the first ``depth`` documents of each query.

        Raises:
            RunError: ``depth`` is less than 1.
        """
        check_whole_number("depth", depth, 1, RunError)
        depth = min(depth, self.depth or depth)
        run = self._with(lambda block: replace(block, depth=depth), depth=depth)
        return run.with_facts(depth=depth)

    def whole(self) -> Run:
        """Return the run without the cut of `top`."""
        return self._with(lambda block: replace(block, depth=None), depth=None)

    def without_own_documents(self) -> Run:
        """Return the run without the documents whose id is that of their query."""
        return self._with(RankedColumns.without_own_documents, drops_own=True)

    def _with(self, change: Callable[[RankedColumns], RankedColumns], **of_files: Any) -> Run:
        """Return the run with its blocks changed; those of files are changed when read."""
        run = copy(self)
        run._rankings = {}
        vars(run).pop("_places", None)
        if self._blocks is not None:
            run._blocks = [*map(change, self._blocks)]
        elif self._files is not None:
            run._files = replace(self._files, **of_files)
        return run

    def with_facts(self, **facts: Any) -> Run:
        """Return the run with other facts about how it was made, such as ``asked="web"``."""
        run = copy(self)
        vars(run).update(facts)
        return run

    def with_rankings(self, rankings: Rankings) -> Run:
        """Return the run with other rankings of its queries."""
        run, own = Run(rankings, ties=self.ties, duplicates=self.duplicates), vars(self)
        vars(run).update({name: own[name] for name in own if not name.startswith("_")})
        return run

    def columns(self, *, together: bool = False) -> Iterator[RankedColumns]:
        """Yield all rankings in columns, which is all that an evaluation reads.

        If the run is still in a file, it is read here once and not kept.

        Args:
            together: whether to bring the rows of each query of a file together first.

        Raises:
            RunError: a line of the file is malformed; file and line are named.
            SplitQueryError: the rows of a query are not together.
        """
        if self._blocks is None and self._files is not None:
            return self._files.blocks(together=together)
        return map(RankedColumns.with_scores, self._blocks or ())

    def read(self) -> None:
        """Read the rankings into memory, if they are in a file that is not read yet.

        Raises:
            RunError: a line of the file is malformed; file and line are named.
        """
        if self._blocks is None and self._files is not None:
            with collector_paused():
                self._blocks = held_blocks(self._files.blocks)

    @property
    def is_in_memory(self) -> bool:
        """Whether the rankings are in memory; False if they are in a file that is not read yet."""
        return self._blocks is not None

    @property
    def query_ids(self) -> Sequence[str]:
        """The ids of the queries that have a ranking, including empty ones."""
        return tuple(self._places)

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return a query's document ids, best first; the same as ``run[query_id]``.

        Raises:
            UnknownIdError: the run lacks the query; a KeyError.
        """
        return self._ranking(query_id).doc_ids

    def get(self, query_id: str) -> Sequence[str]:
        """Return a query's document ids, best first; empty if the run lacks the query."""
        return self._ranking(query_id).doc_ids if query_id in self else ()

    def scores(self, query_id: str) -> Sequence[float] | None:
        """Return the scores of a query's ranking, best first; None without any.

        Raises:
            UnknownIdError: the run lacks the query.
        """
        return self._ranking(query_id).scores or None

    def has_ties(self, query_id: str) -> bool:
        """Return whether two documents of a query's ranking have the same score.

        Raises:
            UnknownIdError: the run lacks the query.
        """
        ranking = self._ranking(query_id)
        scores = ranking.scores or ()
        different = len(set(scores))
        return different < len(scores) and different < len(
            set(zip(scores, ranking.doc_ids, strict=False))
        )

    @cached_property
    def _places(self) -> Mapping[str, tuple[RankedColumns, int]]:
        """The block of each query, and its place there; reads the file if necessary."""
        self.read()
        return {
            query_id: (block, place)
            for block in self._blocks or ()
            for place, query_id in enumerate(block.query_ids)
        }

    def _ranking(self, query_id: str) -> Ranking:
        """Return a query's ranking in order; it is made on request."""
        if query_id not in self._places:
            raise unknown_id(f"run '{quoted(self.name)}'", "query", query_id, tuple(self._places))
        if query_id not in self._rankings:
            block, place = self._places[query_id]
            self._rankings[query_id] = block.ranking(place)
        return self._rankings[query_id]

    def __getitem__(self, query_id: str) -> Sequence[str]:
        return self.ranking(query_id)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._places))

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        if self._blocks is None:
            return f"Run({self.name!r}, not read yet)"
        documents = sum(int(each.retrieved.sum()) for each in self._blocks)
        return (
            f"Run({self.name!r}, {plural(len(self), 'query', 'queries')}, "
            f"{plural(documents, 'document')})"
        )
