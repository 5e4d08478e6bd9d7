"""A run on a golden set, as an evaluation measures it, in one piece or merged from parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError, plural, quoted, warn_caller
from pytest_rankcheck.evaluation.conventions import (
    Conventions,
    conventions_for,
    run_as_chosen,
)
from pytest_rankcheck.evaluation.expected_matches import in_expected_texts
from pytest_rankcheck.evaluation.measured_source import Source
from pytest_rankcheck.evaluation.metric_values import cutoff_of, ir_measures_values, refuse_constant
from pytest_rankcheck.evaluation.run_golden_join import Joined, block_size, join, judged_hits
from pytest_rankcheck.evaluation.tied_scores import mostly_tied, tied_queries, ties_reordered
from pytest_rankcheck.evaluation.unfit_runs import (
    Notes,
    UnmetIds,
    document_notes,
    gaps_of,
    refuse_unusable,
    unmet_ids,
)
from pytest_rankcheck.files.table_batches import collector_paused
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.judged_hits import HitDocuments, JudgedHits
from pytest_rankcheck.metrics.kinds import MetricInput
from pytest_rankcheck.metrics.metric_inputs import Timings, WholeRun
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranked_columns import TOP
from pytest_rankcheck.rankers.ranking import TieOrder, first_ranks
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.run_documents import EvaluatedDocuments


class RankedRun(Source):
    """A run on a golden set, in one piece or merged from parts.

    Args:
        name: how messages refer to the run.
        depth: how many documents were requested for each query; None: no limit.
        golden: the judged queries.
        conventions: how ties, gaps and duplicates were treated.
        joined: the judged hits.
        run: the run; None if it was evaluated in parts.
        top: how many of the first documents of each ranking are known without the run.
        remarks: what a reader must know about how the run was evaluated, as sentences.
    """

    golden: GoldenSet

    def __init__(
        self,
        name: str,
        depth: int | None,
        golden: GoldenSet,
        conventions: Conventions,
        joined: Joined,
        *,
        run: Run | None = None,
        top: int = TOP,
        remarks: Sequence[str] = (),
    ) -> None:
        super().__init__(name, depth, golden, conventions)
        self.joined, self.run = joined, run
        self.missing, self.extra = joined.missing, joined.extra
        is_empty = joined.is_ranked & (joined.retrieved == 0)
        self.failed = (
            {} if run is None else {q: why for q, why in run.failed.items() if q in golden}
        )
        self.unanswered = [golden.query_ids[code] for code in np.flatnonzero(is_empty).tolist()]
        self._top, self._remarks = top, remarks
        self._block = block_size(golden.columns)
        self._document_notes: Notes = {} if run is None else dict(run.unknown)
        if golden.catalogue is not None:
            golden.catalogue.may_show(self._shown_documents)
        self._tied: dict[int | None, Sequence[str]] = {}
        self.gaps = gaps_of(golden, joined)

    @property
    def _is_in_memory(self) -> bool:
        return self.run is not None and self.run.is_in_memory

    @cached_property
    def unmet_ids(self) -> UnmetIds | None:
        """What is wrong if judged documents are never or hardly ever ranked, otherwise None."""
        return unmet_ids(self.name, self.golden, self.joined, self.ranking)

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the means must know about the run or a replayed log, as sentences."""
        of_run = () if self.run is None else self.run.notes
        replay = self.golden.replay
        of_replay = () if replay is None else replay.notes(self.golden.contents.weight_by)
        return (*of_run, *of_replay, *self._remarks, *self.document_notes)

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes; None: to the end."""
        return None if self._is_in_memory else self._top

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the documents ranked for a query, best first; empty if the run lacks it.

        Only the top of each ranking, down to `known_depth`, if the run is not in memory.
        """
        if self.run is not None and self.run.is_in_memory:
            return self.run.get(query_id)
        code = self.golden.columns.codes.get(query_id)
        if code is None:
            return ()
        return tuple(self.joined.of_query(code).top)

    def tops(self, k: int | None) -> Mapping[str, Sequence[str]]:
        """Return the first ``k`` documents of each query's ranking, or all that are known."""
        with collector_paused():
            return super().tops(k) if self._is_in_memory else self.joined.first_documents(k)

    def read_rankings(self, k: int) -> None:
        """Make `ranking` go down to rank ``k`` at least, reading the run into memory if needed."""
        if self.run is not None and self.known_depth is not None and k > self.known_depth:
            self.run.read()

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """Return the rank of each document of `ranking`, and of every judged one."""
        ranks = first_ranks(self.ranking(query_id))
        if self.known_depth is not None and query_id in self.golden:
            found = self.joined.of_query(self.golden.columns.codes[query_id])
            ranks.update(zip(found.doc_ids, found.ranks, strict=True))
        return ranks

    def warn_if_short(self, metric: Metric) -> None:
        """Warn if rankings end above the metric's cutoff, and a relevant document is missing."""
        cutoff, retrieved = cutoff_of(metric), self.joined.retrieved
        longest = int(retrieved.max(initial=0))
        if cutoff is None or cutoff <= longest or not longest:
            return
        is_ranked, at_the_end = retrieved > 0, int((retrieved == longest).sum())
        # A ranker that was asked for enough may return fewer documents, of different numbers.
        are_cut = self.depth is None or 2 * at_the_end >= is_ranked.sum()
        is_lacking = (is_ranked & self.joined.lacks_relevant).any()
        if is_lacking and are_cut and self._may_go_on(longest):
            warn_caller(
                f"{metric}: no ranking of run '{quoted(self.name)}' has "
                f"{plural(cutoff, 'document')}; the longest ({at_the_end:,} of "
                f"{is_ranked.sum():,}) ends at rank {longest:,}, so relevant documents further "
                "down are not counted; give a run that goes further down, or a cutoff of "
                f"{longest:,}"
            )

    @cached_property
    def is_cut(self) -> bool:
        """Whether rankings may continue below `depth`.

        A reranker's rankings do not continue if each is shorter, or consists of all candidates of
        its query.
        """
        if self.depth is None:
            return False
        return not self.golden.contents.candidates or self._may_go_on(self.depth)

    def _may_go_on(self, length: int) -> bool:
        """Return whether a ranking with at least this many documents may have been cut."""
        may_be_cut = self.joined.is_ranked & (self.joined.retrieved >= length)
        return not all(map(self._is_reranked, np.flatnonzero(may_be_cut).tolist()))

    def _is_reranked(self, code: int) -> bool:
        """Return whether a ranking has all candidates of its query and nothing else."""
        candidates = set(self.golden.candidates_of(self.query_ids[code]))
        is_whole = len(candidates) <= self.joined.retrieved[code]
        return is_whole and candidates.issuperset(self.ranking(self.query_ids[code]))

    @property
    def hits(self) -> Sequence[JudgedHits]:
        """The judged hits of all queries, in blocks."""
        # They refer to the run, so if it kept them, its memory would not be used again at once.
        return tuple(
            replace(hits, about=partial(self._about, number * self._block))
            for number, hits in enumerate(self._blocks)
        )

    @cached_property
    def _blocks(self) -> Sequence[JudgedHits]:
        return tuple(judged_hits(self.joined, self.golden, self._block))

    def _about(self, start: int) -> HitDocuments:
        """Return what is known about the documents of a block that begins at a query."""
        rankings = [*map(self.ranking, self.query_ids[start : start + self._block])]
        return self._documents.of_block(start, rankings)

    @cached_property
    def _documents(self) -> EvaluatedDocuments:
        from pytest_rankcheck.evaluation.run_documents import EvaluatedDocuments

        run = self.run if self._is_in_memory else None
        return EvaluatedDocuments(self.golden, self.joined, run, self._document_notes)

    def _shown_documents(self) -> Iterator[str]:
        """Yield the documents that reports show: judged ones, and the top of each ranking."""
        yield from self.golden.columns.documents.texts()
        for query_id in self.query_ids:
            yield from self.ranking(query_id)[:TOP]

    def depends_on_scale(self, metric: Metric, scale: float) -> bool:
        """Return whether another scale of the golden set would change values of a metric."""
        if not metric.kind.is_of_judgments or metric.definition.ir_measures:
            return False
        return any(
            not np.array_equal(
                metric.compute(hits), metric.compute(replace(hits, max_grade=scale)), equal_nan=True
            )
            for hits in self.hits
        )

    def fits(self, metric: Metric) -> bool:
        """Return whether a metric applies here; a time does only if each query was timed."""
        return super().fits(metric) and not (metric.kind.takes is Timings and self._why_untimed)

    @property
    def _why_untimed(self) -> str:
        """Why the time of each query is not known, and what to do; empty if it is known."""
        if self.run is None or not self.run.seconds:
            return (
                "it has no timings, since it was not ranked here in one piece, and times of "
                "another machine mean nothing; evaluate(rank(ranker, golden), golden) has them"
            )
        if self.run.largest_batch > 1:
            return (
                f"it was ranked in batches of up to {self.run.largest_batch} queries, and the "
                "seconds of a batch are not those of a query; ask one by one, such as with size=1"
            )
        answered = (query for query in self.run.seconds if query not in self.run.failed)
        if any(math.isnan(self.run.seconds[query]) for query in answered):
            return (
                "its ranker did not say how long each query took; a program, for example, is asked "
                'all of them at once, and must write "seconds" in each answer'
            )
        return ""

    def _timings(self, metric: Metric) -> Timings:
        """Return how long each query took.

        Raises:
            MetricError: that is not known.
        """
        if self.run is None or self._why_untimed:
            name = quoted(self.name)
            raise MetricError(f"{metric} of run '{name}' is not known: {self._why_untimed}")
        longest = np.nanmax([*self.run.seconds.values()])
        known = {**self.run.seconds, **dict.fromkeys(self.run.failed, longest)}
        seconds = [known.get(query_id, np.nan) for query_id in self.query_ids]
        return Timings(np.array(seconds, dtype=np.float64))

    def inputs(self, metric: Metric) -> Iterator[tuple[MetricInput, Sequence[str]]]:
        """Yield the judged hits, the whole run or the times."""
        if metric.kind.takes is Timings:
            yield self._timings(metric), self.query_ids
        elif metric.kind.takes is WholeRun:
            yield self._whole_run(metric), self.query_ids
        else:
            for number, hits in enumerate(self.hits):
                yield hits, self.query_ids[number * self._block : (number + 1) * self._block]

    def returned(self, metric: Metric) -> FloatArray:
        """Return what the metric's function, or ir_measures, returned for each query."""
        name = metric.definition.ir_measures
        if not name:
            return super().returned(metric)
        if self.run is None:
            raise MetricError(
                f"ir_measures computes {quoted(name)} from whole rankings, but this evaluation was "
                "merged from parts; evaluate the run itself: evaluate(Run.load(folder), golden)"
            )
        return ir_measures_values(name, self.run, self.golden)

    def _whole_run(self, metric: Metric) -> WholeRun:
        """Return the top of all rankings, at least to the depth that a metric of the run uses."""
        refuse_constant(metric, self.conventions.duplicates)
        depth = self.known_depth
        if depth is not None and (metric.cutoff or depth + 1) > depth and metric.definition.at:
            raise MetricError(
                f"{metric} needs whole rankings, but of a run in its file or in parts only the "
                f"first {depth} documents are known; use a cutoff of at most {depth}, or read the "
                "run into memory, Run.from_frame(run.to_frame()), or keep more in each part, "
                "evaluate_part(..., top=100)"
            )
        longest = int(self.joined.retrieved.max(initial=1)) if metric.definition.at else 1
        depth = min(metric.cutoff or longest, longest)
        return self._documents.whole_run(depth)

    @property
    def document_notes(self) -> Mapping[str, bool]:
        """What metrics did not know about documents, and whether this concerns many."""
        return self._document_notes | self._unfit_documents

    @cached_property
    def _unfit_documents(self) -> Notes:
        return dict(document_notes(self.golden, self.ranking))

    @property
    def knows_ties(self) -> bool:
        """Whether tied scores are known without reading a large file."""
        return self._is_in_memory

    def _run_with_scores(self) -> Run:
        if self.run is None:
            raise MetricError(
                f"tied scores of '{quoted(self.name)}' are not known: parts keep ranks, not "
                "scores. To look for ties, evaluate(Run.load(folder), golden) with the run itself"
            )
        return self.run

    def tied(self, k: int | None) -> Sequence[str]:
        """Return the queries in which a judged document of the top k shares its score."""
        if k not in self._tied:
            self._tied[k] = tied_queries(self._run_with_scores(), self.golden, k)
        return self._tied[k]

    @cached_property
    def mostly_tied(self) -> Sequence[str]:
        """The queries whose rankings are mostly ties, if these are at least half of all.

        If there are many rankings, only a sample is looked at.
        """
        return mostly_tied(self.run, self.golden) if self.run else ()

    def with_ties(self, order: TieOrder) -> RankedRun:
        """Return the run with its tied documents in another order."""
        run = ties_reordered(self._run_with_scores(), self.golden, order)
        known, joined = (self.name, self.depth, self.golden), join(run, self.golden)
        return RankedRun(*known, self.conventions, joined, run=run)

    def __repr__(self) -> str:
        run = self.name if self.run is None else self.run
        return f"{run!r} on {self.golden!r}"


def ranked_run(
    run: Run, golden: GoldenSet, conventions: Conventions | str | None = None
) -> RankedRun:
    """Return a run on a golden set, whether or not it can be measured."""
    chosen = Conventions.of(conventions)
    if golden.by_text:
        run, golden = in_expected_texts(run, golden)
    run = run_as_chosen(run, golden, chosen)
    return RankedRun(run.name, run.depth, golden, chosen, join(run, golden), run=run)


def usable_run(
    run: Run, golden: GoldenSet, conventions: Conventions | str | None = None
) -> RankedRun:
    """Return a run on a golden set that can be measured by the conventions.

    Raises:
        RunError: as in `evaluate`.
        ConfigurationError: as in `evaluate`.
    """
    chosen = conventions_for(run, golden, conventions)
    ranked = ranked_run(run, golden, chosen)
    refuse_unusable(ranked.name, golden, ranked.joined, chosen)
    return ranked
