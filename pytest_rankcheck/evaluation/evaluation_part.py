"""Evaluating one part of a run on any machine, so that all parts can be merged later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.argument_checks import check_whole_number, checked_arguments
from pytest_rankcheck.errors import ConfigurationError, RunError, quoted
from pytest_rankcheck.evaluation.block_hits import hits_of_block
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.merged_evaluation import MergedEvaluation
from pytest_rankcheck.evaluation.merged_parts import Expected
from pytest_rankcheck.evaluation.part_contents import UNNAMED, PartContents, PartOrigin
from pytest_rankcheck.evaluation.part_sources import HeldSource, PartSource, TableSource
from pytest_rankcheck.evaluation.ranking_digests import digests_of
from pytest_rankcheck.evaluation.run_evaluation import conventions_for
from pytest_rankcheck.files.id_runs import starts_of
from pytest_rankcheck.files.paused_collector import collector_paused
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.package_version import package_version
from pytest_rankcheck.rankers.ranked_columns import (
    TOP,
    HeldDocuments,
    RankedColumns,
    SplitQueryError,
)
from pytest_rankcheck.rankers.ranking import (
    Duplicates,
    IncompleteRanks,
    RankingRules,
    Ties,
    id_map,
)
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdRule
    from pytest_rankcheck.files.frame_tables import Frame

__all__ = ["EvaluationPart", "evaluate_part"]


class EvaluationPart(PartContents):
    """The essence of a part of a run for an evaluation: small, and the same on every machine.

    It holds the judged documents that were ranked, the top of each ranking, how many documents
    were ranked, a digest of each ranking, the golden set's fingerprint, and the conventions. It
    holds no values, so every metric can be computed after `Evaluation.merge`. It can be pickled.
    Make one with `evaluate_part`.
    """

    @classmethod
    def merged(
        cls,
        parts: Sequence[PartContents],
        golden: GoldenSet | None,
        expected: Expected,
        name: str | None,
    ) -> MergedEvaluation:
        """Return the evaluation of all parts together. See `Evaluation.merge`."""
        if golden is None:
            raise ConfigurationError(
                "golden is missing: give the golden set on which the parts were evaluated, as in "
                "Evaluation.merge(parts, golden)"
            )
        for part in parts:
            if not isinstance(part, PartContents):
                raise ConfigurationError(
                    f"parts: {quoted(repr(part), 60)} is not an EvaluationPart; make each part "
                    "with evaluate_part(path, golden)"
                )
        merged = MergedEvaluation.of(parts, golden, expected, name)
        merged.note_parts(parts, expected)
        merged.warn_of_ids()
        return merged


@checked_arguments
def evaluate_part(
    source: str | PathLike[str] | Frame | Run,
    golden: GoldenSet,
    *,
    name: str | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    ties: Ties = "doc_id",
    duplicates: Duplicates = "error",
    doc_id: DocIdRule | None = None,
    incomplete_ranks: IncompleteRanks = "error",
    depth: int | None = None,
    top: int = TOP,
    conventions: Conventions | None = None,
) -> EvaluationPart:
    """Evaluate one part of a run; `Evaluation.merge` merges the parts.

    A part must have all rows of its queries: partition runs by query. Tables are read in blocks,
    so a part needs little memory, even if one query has millions of rows.

    Args:
        source: a file, a folder or a pattern, as in `Run.load`; a pandas or polars DataFrame, or an
            Arrow table or RecordBatchReader, as in `Run.from_frame`; or a `Run`.
        golden: the whole golden set, the same for all parts.
        name: what messages call the part; without it, the path or the name of the run.
        format: the format of a file, as in `Run.load`.
        columns: ``{meaning: column}`` for a table, as in `Run.load`.
        ties: the order of equal scores, as in `Run.load`.
        duplicates: a document twice in a ranking, as in `Run.load`.
        doc_id: maps the ids of documents, as in `Run.load`.
        incomplete_ranks: as in `Run.load`.
        depth: how many documents of each ranking count; None: all.
        top: how many of the first documents of each ranking to keep, judged or not.
        conventions: as in `evaluate`; ``missing`` and ``extra`` are applied by the merge.

    Raises:
        RunError: the part cannot be read, a document is a duplicate, or scores are tied, as in
            `Run.load`.
        ConfigurationError: options for reading are given with a `Run`, which has been read
            already; or the conventions do not fit.
    """
    check_whole_number("top", top, 1, ConfigurationError)
    rules = RankingRules(ties, duplicates, id_map(doc_id), incomplete_ranks)
    if isinstance(source, Run):
        if format or columns or rules != RankingRules() or depth is not None:
            raise ConfigurationError(
                "the source is a Run, which has been read already: give format, columns, ties, "
                "duplicates, doc_id, incomplete_ranks and depth when you read it"
            )
        rankings: PartSource = HeldSource(source)
        shown, depth = source.name, source.depth
        rules = RankingRules(source.ties, source.duplicates)
    else:
        is_path = isinstance(source, (str, PathLike))
        shown = str(source) if is_path else UNNAMED
        rankings = TableSource(source, rules, dict(columns or {}), format, depth)
    shown = name or shown
    chosen = conventions_for(
        shown, rules.ties, rules.duplicates, golden, conventions or Conventions()
    )
    origin = _origin(golden, chosen, rules, depth, top)
    with collector_paused():
        return _built(shown, origin, golden.columns, rules, rankings)


def _origin(
    golden: GoldenSet, chosen: Conventions, rules: RankingRules, depth: int | None, top: int
) -> PartOrigin:
    reading = [f"doc_id={rules.to_id.name}"] if rules.to_id else []
    if rules.incomplete_ranks != "error":
        reading.append(f"incomplete_ranks={rules.incomplete_ranks}")
    return PartOrigin(
        golden.fingerprint, golden.scale, chosen, ", ".join(reading), depth, top, package_version()
    )


def _built(
    name: str, origin: PartOrigin, judgments: Judgments, rules: RankingRules, rankings: PartSource
) -> EvaluationPart:
    for together in (False, True):
        builder = _Builder(judgments, rules, origin)
        try:
            for block in rankings.read(together, builder.add_long):
                builder.add(block)
        except SplitQueryError:
            if together:
                raise RunError(
                    f"part '{quoted(name)}': the rows of a query are not together"
                ) from None
            continue
        break
    return builder.part(name, rankings.notes)


@dataclass
class _Builder:
    """Collects the content of a part from its rankings."""

    judgments: Judgments
    rules: RankingRules
    origin: PartOrigin
    _seen: set[str] = field(default_factory=set)
    _query_ids: list[str] = field(default_factory=list)
    _digests: list[bytes] = field(default_factory=list)
    _retrieved: list[int] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)
    _ranks: list[int] = field(default_factory=list)
    _documents: list[str] = field(default_factory=list)
    _top_counts: list[int] = field(default_factory=list)
    _tops: list[str] = field(default_factory=list)
    _extra: list[str] = field(default_factory=list)

    def add(self, block: RankedColumns) -> None:
        """Add some rankings.

        Raises:
            SplitQueryError: a query occurred earlier.
        """
        self._see(block.query_ids)
        block = _in_lists(block)
        known = map(self.judgments.codes.get, block.query_ids, repeat(-1))
        codes = np.fromiter(known, np.int64, len(block))
        judged = np.flatnonzero(codes >= 0)
        self._extra += [block.query_ids[place] for place in np.flatnonzero(codes < 0).tolist()]
        if not len(judged):
            return
        hits = hits_of_block(block, codes, self.judgments, top=self.origin.top)
        assert hits.judged is not None
        assert hits.tops is not None
        self._query_ids += [block.query_ids[place] for place in judged.tolist()]
        self._digests += digests_of(block, judged)
        self._retrieved += hits.retrieved[judged].tolist()
        # Queries without judgments have neither hits nor a top.
        self._counts += np.diff(hits.starts)[judged].tolist()
        self._ranks += hits.ranks.tolist()
        self._documents += self.judgments.documents.texts(hits.judged)
        self._top_counts += np.diff(hits.tops[1])[judged].tolist()
        self._tops += hits.tops[0].texts()

    def add_long(self, query_id: str, pieces: Iterator[RankedColumns]) -> None:
        """Add a ranking with too many rows to be held in memory."""
        from pytest_rankcheck.evaluation.long_rankings import LongRanking

        self._see([query_id])
        code = self.judgments.codes.get(query_id)
        if code is None:
            for _ in pieces:  # the source continues after these rows
                pass
            self._extra.append(query_id)
            return
        judged, depth = self.judgments.rows_of(code), self.origin.depth
        found = LongRanking.of(query_id, pieces, self.rules, judged, self.origin.top)
        kept = {
            doc_id: rank for doc_id, rank in found.ranks.items() if depth is None or rank <= depth
        }
        tops = found.tops[:depth]
        self._query_ids.append(query_id)
        self._digests.append(found.digest)
        self._retrieved.append(min(found.retrieved, depth or found.retrieved))
        self._counts.append(len(kept))
        self._ranks += kept.values()
        self._documents += kept
        self._top_counts.append(len(tops))
        self._tops += tops

    def _see(self, query_ids: Sequence[str]) -> None:
        count = len(self._seen)
        self._seen.update(query_ids)
        if len(self._seen) < count + len(query_ids):
            raise SplitQueryError

    def part(self, name: str, notes: Sequence[str]) -> EvaluationPart:
        """Return the part with the collected content."""
        return EvaluationPart(
            name,
            self.origin,
            tuple(self._query_ids),
            tuple(self._digests),
            np.array(self._retrieved, np.int64),
            starts_of(self._counts),
            np.array(self._ranks, np.int64),
            tuple(self._documents),
            starts_of(self._top_counts),
            tuple(self._tops),
            tuple(self._extra),
            tuple(notes),
        )


def _in_lists(block: RankedColumns) -> RankedColumns:
    """Return the same rankings, with dicts replaced by lists of their keys."""
    block = block.with_scores()
    if not len(block) or block.unsorted(0) is None:
        return block
    groups = [block.doc_ids(place) for place in range(len(block))]
    return replace(block, documents=HeldDocuments(groups))
