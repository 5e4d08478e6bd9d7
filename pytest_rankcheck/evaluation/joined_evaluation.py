"""An evaluation of rankings joined with a golden set, whether or not the run is available.

`RunEvaluation` has the run; `MergedEvaluation` has only the content of its parts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.errors import MetricError, RunError, listed, plural, quoted, warn_caller
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.ranked_depth import warn_if_rankings_are_short
from pytest_rankcheck.evaluation.run_golden_join import BLOCK, Joined, QueryHits, judged_hits
from pytest_rankcheck.evaluation.value_checks import computed_values
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.whole_run import WholeRun
from pytest_rankcheck.rankers.ranking import first_ranks

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.unmet_ids import UnmetIds

__all__ = ["JoinedEvaluation"]

_COMPARED = 10_000
"""How many query ids of each side are compared if the two sides share no id."""


class JoinedEvaluation(Evaluation):
    """The evaluation of rankings joined with their judgments.

    Args:
        name: how messages refer to the rankings.
        depth: how many documents were requested for each query; None: no limit.
        golden: the judged queries.
        conventions: how ties, gaps and duplicates were treated.
        joined: the judged hits.
    """

    golden: GoldenSet

    def __init__(
        self,
        name: str,
        depth: int | None,
        golden: GoldenSet,
        conventions: Conventions,
        joined: Joined,
    ) -> None:
        super().__init__(name, depth, golden, conventions)
        self._joined = joined

    @property
    @abstractmethod
    def is_ranked_here(self) -> bool:
        """Whether a ranker in this process made the rankings, so that messages can blame it."""

    def checked(self) -> Self:
        """Return this evaluation after checking that something is ranked and conventions are kept.

        Raises:
            RunError: every ranking of a judged query is empty; judged queries are missing, but
                ranked under the same ids without leading zeros; or a query is missing or extra, and
                the conventions make that an error.
        """
        self._refuse_empty()
        self._refuse_lost_zeros()
        for convention, query_ids, problem in (
            (self.conventions.missing, self.missing, "lacks judged queries"),
            (self.conventions.extra, self.extra, "has queries without judgments"),
        ):
            if convention == "error" and query_ids:
                raise RunError(
                    f"run '{quoted(self.name)}' {problem} of golden set "
                    f"'{quoted(self.golden.name)}', {len(query_ids):,}: {listed(query_ids)}; fix "
                    "the run, or use the conventions missing='empty' and extra='ignore'"
                )
        return self

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

    def _refuse_lost_zeros(self) -> None:
        """Refuse a run in which some files or parts have the id ``"004"`` as 4."""
        if not self.extra or not self.missing:
            return
        ranked = {each.lstrip("0"): each for each in self.extra if each.isdecimal()}
        lacking = {each: each.lstrip("0") for each in self.missing if each.isdecimal()}
        lost = [(judged, ranked[bare]) for judged, bare in lacking.items() if bare in ranked]
        if lost:
            judged, own = lost[0]
            raise RunError(
                f"run '{quoted(self.name)}' has no query '{quoted(judged)}' of golden set "
                f"'{quoted(self.golden.name)}', but '{quoted(own)}' "
                f"({plural(len(lost), 'such query', 'such queries')} in all): the ids differ in "
                "leading zeros, which are lost when ids are read as numbers; read them as text"
            )

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
            return None  # nearly always at least 1%, and then nothing else has to be loaded
        from pytest_rankcheck.evaluation.unmet_ids import unmet_ids

        return unmet_ids(
            self.name, self.golden, self._joined, self.ranking, is_ranked_here=self.is_ranked_here
        )

    def warn_of_ids(self) -> None:
        """Warn if judged documents are hardly ever ranked, or ``doc_id=`` maps many ids to few."""
        if self.unmet_ids is not None:
            warn_caller("\n  ".join(self.unmet_ids.lines))
        if self.golden.has_merged_ids:
            for finding in self.golden.lint(rules=("merged-ids",)):
                warn_caller(f"golden set '{quoted(self.golden.name)}': {finding.message}")

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the means must know about a replayed log, as sentences."""
        replay = self.golden.replay
        if replay is None:
            return ()
        return replay.notes(is_weighted=self.golden.corrects_positions)

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the first documents ranked for a query, best first, down to `known_depth`."""
        ranked = self._hits_of(query_id)
        return tuple(ranked.top) if ranked else ()

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """Return the rank of each document of `ranking`, and of every judged one."""
        ranks = first_ranks(self.ranking(query_id))
        ranked = None if self.known_depth is None else self._hits_of(query_id)
        if ranked:
            ranks.update(zip(ranked.doc_ids, ranked.ranks, strict=True))
        return ranks

    def _hits_of(self, query_id: str) -> QueryHits | None:
        """Return the hits of a query; None if the run or the golden set lacks it."""
        code = self.golden.columns.codes.get(query_id)
        return None if code is None else self._joined.of_query(code)

    def _check_depth(self, metric: Metric) -> None:
        super()._check_depth(metric)
        warn_if_rankings_are_short(metric, self.hits, self.name, self.depth, self._may_go_on)

    @cached_property
    def is_cut(self) -> bool:
        """Whether rankings may continue below `depth`.

        A reranker's rankings do not continue if each is shorter, or consists of all candidates of
        its query.
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
            values = self._ir_measures_values(metric.definition.ir_measures)
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

    @abstractmethod
    def _ir_measures_values(self, name: str) -> FloatArray:
        """Return the value of each query that ir_measures computes, ``[Q]``."""

    def _whole_run(self, metric: Metric) -> WholeRun:
        """Return the top of all rankings, down to the depth that a metric of the whole run uses."""
        depth = self.known_depth
        if depth is not None and (metric.cutoff or depth + 1) > depth and metric.definition.at:
            raise MetricError(
                f"{metric} needs whole rankings, but {self._why_tops} only the first {depth} "
                f"documents of each ranking are known; use a cutoff of at most {depth}, or "
                f"{self._how_to_know_more}"
            )
        return WholeRun.of(
            [
                tuple(dict.fromkeys(self.ranking(query_id)[: metric.cutoff]))
                for query_id in self.query_ids
            ],
            self._joined.retrieved.tolist(),
        )

    _why_tops: str
    """Why only the tops of the rankings are known, as the start of a sentence."""
    _how_to_know_more: str
    """How to keep more of the rankings, as the end of a sentence."""

    @cached_property
    def hits(self) -> Sequence[JudgedHits]:
        """The judged hits of all queries, in blocks."""
        return tuple(judged_hits(self._joined, self.golden))

    @cached_property
    def _has_relevant(self) -> BoolArray:
        return np.concatenate([(hits.ideal > 0).any(axis=1) for hits in self.hits])
