"""The evaluation of a run on a golden set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.errors import (
    ConfigurationError,
    MetricError,
    RunError,
    listed,
    quoted,
    warn_caller,
)
from pytest_rankcheck.evaluation.conventions import Conventions, TieOrder
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.ranked_depth import warn_if_rankings_are_short
from pytest_rankcheck.evaluation.run_golden_join import (
    BLOCK,
    Joined,
    QueryHits,
    join,
    judged_hits,
)
from pytest_rankcheck.evaluation.value_checks import computed_values
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.whole_run import WholeRun
from pytest_rankcheck.rankers.ranked_columns import TOP
from pytest_rankcheck.rankers.ranking import first_ranks
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.tied_scores import MostlyTied
    from pytest_rankcheck.evaluation.unmet_ids import UnmetIds

__all__ = ["RunEvaluation", "evaluate"]

_COMPARED = 10_000
"""How many query ids of each side are compared if the two sides share no id."""


@checked_arguments
def evaluate(
    run: Run,
    golden: GoldenSet,
    *,
    conventions: Conventions | None = None,
) -> RunEvaluation:
    """Measure ``run`` on ``golden``. Lazy: a metric is computed when it is asked for.

    A `MetricWarning` says so if judged documents are never ranked, or in less than 1% of at least
    50 queries: the ids of the run may not be those of the golden set. Another says so if
    ``doc_id=`` made less than half as many documents of the judged ones.

    Args:
        run: the rankings.
        golden: the judged queries.
        conventions: what a missing query, an extra query and a query without a relevant document
            count as; without them, trec_eval's. ``ties`` and ``duplicates`` are always the run's:
            they were applied when it was made.

    Raises:
        RunError: every ranking of a judged query is empty, which means a broken ranker and not a
            bad one; or a query is missing or extra and the conventions make that an error.
        ConfigurationError: ``conventions`` names ties or duplicates that are not the run's.
    """
    evaluation = RunEvaluation.of(run, golden, conventions)
    if evaluation.unmet_ids is not None:
        warn_caller("\n  ".join(evaluation.unmet_ids.lines))
    if golden.has_merged_ids:
        for finding in golden.lint(rules=("merged-ids",)):
            warn_caller(f"golden set '{quoted(golden.name)}': {finding.message}")
    return evaluation


def _conventions_for(run: Run, golden: GoldenSet, chosen: Conventions) -> Conventions:
    """Return the chosen conventions with those by which the run and the golden set were made.

    Raises:
        ConfigurationError: other ties or duplicates than the run's, or another replay than the
            golden set's, were asked for.
    """
    if chosen.reading:
        raise ConfigurationError(
            f"reading={quoted(chosen.reading)} does not fit a golden set; it is for session logs"
        )
    replay = golden.replay.convention if golden.replay else ""
    if chosen.replay not in (replay, ""):
        raise ConfigurationError(
            f"replay={quoted(chosen.replay)} does not fit golden set '{quoted(golden.name)}'; "
            "choose the propensity in SessionLog.to_golden_set"
        )
    for name in ("ties", "duplicates"):
        of_run, of_choice = getattr(run, name), getattr(chosen, name)
        if of_choice not in (of_run, getattr(Conventions(), name)):
            raise ConfigurationError(
                f"{name}={of_choice} does not fit run '{quoted(run.name)}', which was made with "
                f"{name}={of_run}; make the run with {name}={of_choice!r}"
            )
    return replace(chosen, ties=run.ties, duplicates=run.duplicates, replay=replay)


class RunEvaluation(Evaluation):
    """The evaluation of a run. Make one with `evaluate`."""

    golden: GoldenSet

    def __init__(
        self, run: Run, golden: GoldenSet, conventions: Conventions, joined: Joined
    ) -> None:
        super().__init__(run.name, run.depth, golden, conventions)
        self._run = run
        self._joined = joined
        self._tied: dict[int | None, Sequence[str]] = {}
        self._reordered: dict[TieOrder, RunEvaluation] = {}

    @classmethod
    def of(cls, run: Run, golden: GoldenSet, conventions: Conventions | None) -> RunEvaluation:
        """Return the evaluation of a run, without a warning about ids.

        Raises:
            RunError: as in `evaluate`.
            ConfigurationError: as in `evaluate`.
        """
        chosen = _conventions_for(run, golden, conventions or Conventions())
        evaluation = cls(run, golden, chosen, join(run, golden))
        evaluation._refuse_empty()
        for convention, query_ids, problem in (
            (chosen.missing, evaluation.missing, "lacks judged queries"),
            (chosen.extra, evaluation.extra, "has queries without judgments"),
        ):
            if convention == "error" and query_ids:
                raise RunError(
                    f"run '{quoted(run.name)}' {problem} of golden set '{quoted(golden.name)}', "
                    f"{len(query_ids):,}: {listed(query_ids)}; fix the run, or use the conventions "
                    "missing='empty' and extra='ignore'"
                )
        return evaluation

    @property
    def run(self) -> Run:
        """The run that was measured."""
        return self._run

    @cached_property
    def missing(self) -> Sequence[str]:
        """The judged queries that the run lacks; they count as empty rankings."""
        codes = np.flatnonzero(~self._joined.is_ranked).tolist()
        return tuple(self.query_ids[code] for code in codes)

    @property
    def extra(self) -> Sequence[str]:
        """The queries of the run that have no judgments; they are not evaluated."""
        return self._joined.extra

    @cached_property
    def unmet_ids(self) -> UnmetIds | None:
        """What is wrong if judged documents are never or hardly ever ranked, otherwise None."""
        relevant = self.golden.columns.has_relevant
        if 100 * np.count_nonzero(self._joined.has_hits & relevant) > len(self.golden):
            return None  # at least 1%, as almost always; nothing else has to be loaded
        from pytest_rankcheck.evaluation.unmet_ids import unmet_ids

        return unmet_ids(self.run, self.golden, self._joined, self.ranking)

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the means must know of the ranking or a replayed log, as sentences."""
        replay = self.golden.replay
        if replay is None:
            return self.run.notes
        return (*self.run.notes, *replay.notes(is_weighted=self.golden.corrects_positions))

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes; None: to the end."""
        return None if self.run.is_in_memory else TOP

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the documents ranked for a query, best first; empty if the run lacks it.

        Only the top of each ranking, if the run was scanned and not read into memory.
        """
        if self.run.is_in_memory:
            return self.run.get(query_id)
        ranked = self._hits_of(query_id)
        return tuple(ranked.top) if ranked else ()

    def _hits_of(self, query_id: str) -> QueryHits | None:
        """Return the hits of a query; None if the run or the golden set lacks it."""
        code = self.golden.columns.codes.get(query_id)
        return None if code is None else self._joined.of_query(code)

    def read_rankings(self, k: int) -> None:
        """Make `ranking` go down to rank ``k`` at least, reading the run into memory if needed."""
        if self.known_depth is not None and k > self.known_depth:
            self.run.read()

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """Return the rank of each document of `ranking`, and of every judged one."""
        ranks = first_ranks(self.ranking(query_id))
        ranked = None if self.run.is_in_memory else self._hits_of(query_id)
        if ranked:
            ranks.update(zip(ranked.doc_ids, ranked.ranks, strict=True))
        return ranks

    def _check_depth(self, metric: Metric) -> None:
        super()._check_depth(metric)
        warn_if_rankings_are_short(metric, self.hits, self.name, self.depth, self._may_go_on)

    @cached_property
    def is_cut(self) -> bool:
        """Whether rankings may go on below `depth`.

        Those of a reranker do not if all are shorter, or have all candidates of their query and
        nothing else.
        """
        if self.depth is None:
            return False
        return not self.golden.has_candidates or self._may_go_on(self.depth)

    def _may_go_on(self, length: int) -> bool:
        """Return whether a ranking with at least this many documents may have been cut."""
        return any(
            not self._is_reranked(code)
            for code in np.flatnonzero(self._joined.retrieved >= length).tolist()
            if self._joined.is_ranked[code]
        )

    def _is_reranked(self, code: int) -> bool:
        """Return whether a ranking has all candidates of its query and nothing else."""
        candidates = set(self.golden.candidates_of(self.query_ids[code]))
        is_whole = len(candidates) <= self._joined.retrieved[code]
        return is_whole and candidates.issuperset(self.ranking(self.query_ids[code]))

    def _computed(self, metric: Metric) -> FloatArray:
        if self.golden.has_estimates:
            from pytest_rankcheck.evaluation.linear_values import linear_values

            blocks = [linear_values(metric, hits, self.golden.name) for hits in self.hits]
            return np.concatenate(blocks)
        if metric.definition.ir_measures:
            from pytest_rankcheck.evaluation.ir_measures_values import ir_measures_values

            values = ir_measures_values(metric.definition.ir_measures, self.run, self.golden)
        elif metric.unit == "run":
            values = computed_values(metric, self._whole_run(metric), self.query_ids)
        else:
            values = np.concatenate(
                [
                    computed_values(metric, hits, self.query_ids[place : place + BLOCK])
                    for place, hits in zip(
                        range(0, len(self.query_ids), BLOCK), self.hits, strict=True
                    )
                ]
            )
        if self.conventions.no_relevant == "exclude":
            values = np.where(self._has_relevant, values, np.nan)
        return values

    def _whole_run(self, metric: Metric) -> WholeRun:
        """Return the top of all rankings, as far down as a metric of the whole run looks."""
        depth = self.known_depth
        if depth is not None and (metric.cutoff or depth + 1) > depth and metric.definition.at:
            raise MetricError(
                f"{metric} needs whole rankings, but this run was scanned in its file, and only "
                f"the first {depth} documents of each ranking are known; use a cutoff of at most "
                f"{depth}, or read the run into memory: Run.from_frame(run.to_frame())"
            )
        return WholeRun.of(
            [
                tuple(dict.fromkeys(self.ranking(query_id)[: metric.cutoff]))
                for query_id in self.query_ids
            ],
            self._joined.retrieved.tolist(),
        )

    @property
    def has_ties_at_hand(self) -> bool:
        """Whether tied scores are known without reading the run of a large file into memory."""
        return self.run.is_in_memory

    @checked_arguments
    def tied(self, k: int | None = 10) -> Sequence[str]:
        """Return the queries in which a judged document of the top k shares its score.

        Empty if the ranker gives no scores. ``k=None`` means the whole ranking. A run that is still
        in its file is read into memory.
        """
        if k not in self._tied:
            from pytest_rankcheck.evaluation.tied_scores import tied_queries

            self._tied[k] = tied_queries(self.run, self.golden, k)
        return self._tied[k]

    @cached_property
    def mostly_tied(self) -> MostlyTied | None:
        """How many rankings are mostly ties, if at least half of them are; else None."""
        from pytest_rankcheck.evaluation.tied_scores import mostly_tied

        return mostly_tied(self.run, self.golden)

    @checked_arguments
    def with_ties(self, order: TieOrder) -> RunEvaluation:
        """Return the evaluation of the run with its tied documents in another order."""
        if order not in self._reordered:
            from pytest_rankcheck.evaluation.tied_scores import ties_reordered

            self._reordered[order] = self._alike(ties_reordered(self.run, self.golden, order))
        return self._reordered[order]

    def _alike(self, run: Run) -> RunEvaluation:
        """Return the evaluation of another run, measured by the same conventions."""
        conventions = replace(self.conventions, ties=run.ties, duplicates=run.duplicates)
        return RunEvaluation.of(run, self.golden, conventions)

    @cached_property
    def repeats(self) -> Sequence[RunEvaluation]:
        """The evaluations of the run's repeats (``--rankcheck-repeat``), measured alike."""
        return tuple(map(self._alike, self.run.repeats))

    @cached_property
    def hits(self) -> Sequence[JudgedHits]:
        """The judged hits of all queries, in blocks."""
        return tuple(judged_hits(self._joined, self.golden))

    def _refuse_empty(self) -> None:
        """Refuse a run that ranks no document for any judged query."""
        if self._joined.retrieved.any():
            return
        why = "every ranking is empty: the ranker is broken, not bad"
        if not self._joined.is_ranked.any():
            from pytest_rankcheck.document_ids import differences, joining_rule

            both_sides = (self.query_ids[:_COMPARED], self.extra[:_COMPARED])
            rules = joining_rule([both_sides], enough=1)
            why = (
                f"they share no query: the run has {listed(self.extra, 3) or 'no query'}, the "
                f"golden set {listed(self.query_ids, 3)}; "
                + (
                    f"they differ in {differences(rules)}"
                    if rules
                    else "are the ids of the same kind?"
                )
            )
        raise RunError(
            f"run '{quoted(self.name)}' cannot be measured on golden set "
            f"'{quoted(self.golden.name)}': {why}"
        )

    @cached_property
    def _has_relevant(self) -> BoolArray:
        return np.concatenate([(hits.ideal > 0).any(axis=1) for hits in self.hits])

    def __repr__(self) -> str:
        return f"RunEvaluation(of {self.run!r} on {self.golden!r})"
