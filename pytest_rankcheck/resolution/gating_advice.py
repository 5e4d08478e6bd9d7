"""Which of several metrics to gate on, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.resolution.metric_resolution import Resolution

__all__ = ["ALIKE", "HALF", "MORE", "GatingAdvice", "ranks_text"]

ALIKE = 0.9
"""Two orders of queries count as the same if their tau is at least this. Voorhees (Evaluation by
highly relevant documents, SIGIR 2001) uses this value for orders of systems."""
HALF = 0.5
"""The share of queries, or of the swaps that could be seen, from which a fact is mentioned."""
MORE = 1.27
"""A second gate is worth its price if its sight is at least this many times that of the first.

Two gates share the level: each is tested at 2.5% instead of 5%. For a power of 80%, the mean must
then be 1.960 + 0.842 standard errors from 0 instead of 1.645 + 0.842, and the square of the ratio
is 1.27. A metric whose sight is larger by more than this factor gains more than it costs."""


@dataclass(frozen=True, eq=False)
class GatingAdvice:
    """The advice on which of several metrics to gate, compared at one depth.

    Metrics that are declared not monotone are left out, since a worse ranking can have a better
    value; so are metrics that see neither swaps of different grades nor losses. Of the others:

    - The lead is the metric with the largest sight of order, at the compared ranks; if no metric
      sees the order, the one with the largest sight of losses.
    - A second metric is gated beside it for lost documents, which the lead misses: the one with
      the largest sight of losses, if that is at least `MORE` times the lead's.

    R and nDCG are suggested by the same factor if they are not among the metrics.
    """

    resolutions: Sequence[Resolution]
    """``[M]`` what each metric can see."""
    tau: FloatArray
    """``[M, M]`` the agreement (tau) between the metrics; NaN without a run."""
    depth: int | None
    """Swaps at ranks 1 to ``depth`` were tried; None: all swaps."""
    recall: Resolution | None = None
    """What R could see at the depth of the run; None without a run, or if R is a metric here."""
    ndcg: Resolution | None = None
    """What nDCG could see at the compared depth, or at 10; None if nDCG is a metric here."""
    of_ideal: bool = False
    """Whether the rankings are ideal ones, because there is no run."""

    @property
    def gated(self) -> tuple[Metric, ...]:
        """The metrics to gate: the lead and, if there is one, the second metric."""
        return tuple(self.resolutions[place].metric for place in self._chosen)

    def sentences(self) -> Iterator[str]:
        """Yield which metrics to gate and why, what the others add, and what they cannot see."""
        if not any(each.telling or each.losses.tried for each in self.resolutions):
            yield (
                f"no two neighbours{self._at} have different grades and no relevant document is "
                "ranked, so no metric can see a fall: judge more of what is ranked"
            )
            return
        for place, resolution in enumerate(self.resolutions):
            if resolution.metric.declared("monotone") is False:
                yield (
                    f"do not gate on {resolution.metric}: a worse ranking can have a better value "
                    "of it"
                )
            elif place not in self._usable:
                yield (
                    f"do not gate on {resolution.metric}: it sees neither lost documents nor swaps "
                    "of documents with different grades"
                )
        if self._chosen:
            yield from self._gates()
            yield from self._others()
            yield from self._overlooked()
            yield from self._often_at_ends()

    @property
    def _at(self) -> str:
        return "" if self.depth is None else f" {ranks_text(self.depth)}"

    @property
    def _usable(self) -> Sequence[int]:
        return [
            place
            for place, resolution in enumerate(self.resolutions)
            if resolution.metric.declared("monotone") is not False
            and (resolution.seen_telling or resolution.losses.seen)
        ]

    @property
    def _chosen(self) -> tuple[int, ...]:
        """The places of the metrics to gate."""
        if not self._usable:
            return ()
        # ties go to the first metric
        lead = max(self._usable, key=lambda place: (self._order(place), self._losses(place)))
        rest = [place for place in self._usable if place != lead]
        if rest:
            beside = max(rest, key=self._losses)
            if self._losses(beside) > 0 and self._losses(beside) >= MORE * self._losses(lead):
                return lead, beside
        return (lead,)

    def _order(self, place: int) -> float:
        return _known(self.resolutions[place].disorder.sight)

    def _losses(self, place: int) -> float:
        return _known(self.resolutions[place].losses.sight)

    def _gates(self) -> Iterator[str]:
        """Yield which metrics to gate, and what the second one is for."""
        lead, *beside = self._chosen
        leading = self.resolutions[lead]
        several = len(self._usable) > 1
        if self._order(lead):
            alike = [each for each in self._usable if self._order(each) == self._order(lead)]
            how = "most clearly of these" if len(alike) == 1 else "as clearly as any of these"
            most = f"it shows a worse order{self._at} {how}; it" if several else "it"
            yield (
                f"gate on {leading.metric}: {most} sees {leading.share_of_telling:.1%} of the "
                f"swaps of documents with different grades{'' if several else self._at}"
            )
        else:
            most = " most clearly of these" if several else ""
            yield f"gate on {leading.metric}: it shows lost documents{most}"
        for place in beside:
            second = self.resolutions[place]
            how = f"for what {leading.metric} misses: lost documents show more clearly in it"
            if second.losses.share <= leading.losses.share:
                how = "because lost documents cost more in it"
            yield f"gate on {second.metric} beside it, {how}; {_compared_losses(second, leading)}"
        if self._ndcg_is_better:
            yield self._about_ndcg()
        if self._recall_is_better:
            yield self._about_recall()

    @property
    def _ndcg_is_better(self) -> bool:
        """Whether nDCG, which is not among the metrics, would show a worse order more clearly."""
        if self.ndcg is None:
            return False
        sight = _known(self.ndcg.disorder.sight)
        return sight > 0 and sight >= MORE * self._order(self._chosen[0])

    def _about_ndcg(self) -> str:
        ndcg, lead = self.ndcg, self._chosen[0]
        assert ndcg is not None
        leading = self.resolutions[lead]
        if not self._order(lead):
            return f"add {ndcg.metric}: none of these metrics shows a worse order{self._at}"
        how = "" if self._is_needed_for_losses else f", and gate on it instead of {leading.metric}"
        return (
            f"add {ndcg.metric}{how}: it is not among these metrics, but a worse order{self._at} "
            f"shows more clearly in it; {_compared_order(ndcg, leading)}"
        )

    @property
    def _is_needed_for_losses(self) -> bool:
        """Whether the lead, and no other metric, shows lost documents more clearly than nDCG."""
        assert self.ndcg is not None
        needed = MORE * _known(self.ndcg.losses.sight)
        is_only = len(self._chosen) == 1 and not self._recall_is_better
        return is_only and self._losses(self._chosen[0]) >= needed

    @property
    def _recall_is_better(self) -> bool:
        """Whether R, which is not among the metrics, would show lost documents more clearly."""
        if self.recall is None:
            return False
        return _known(self.recall.losses.sight) >= MORE * self._losses(self._chosen[-1])

    def _about_recall(self) -> str:
        recall, last = self.recall, self.resolutions[self._chosen[-1]]
        assert recall is not None
        beside = "it"
        if self.ndcg is not None and self._ndcg_is_better:
            beside = str(self.ndcg.metric)
        how = f"beside {beside}" if len(self._chosen) == 1 else f"instead of {last.metric}"
        return (
            f"consider {recall.metric} {how}: it is not among these metrics, but lost "
            f"documents show more clearly in it; {_compared_losses(recall, last)}"
        )

    def _others(self) -> Iterator[str]:
        """Yield which metrics add little to the gated ones, and which to watch."""
        if self.of_ideal:
            return  # without a run, the agreement of the metrics is unknown
        watched = []
        gated = list(self._chosen)
        for place in self._usable:
            metric, taus = self.resolutions[place].metric, self.tau[place, gated]
            if place in gated:
                continue
            if (taus >= ALIKE).any():
                alike = self.resolutions[gated[int(np.nanargmax(taus))]].metric
                yield (
                    f"{metric} adds little: it orders the queries as {alike} does "
                    f"(tau {float(np.nanmax(taus)):.2f})"
                )
            else:
                watched.append(str(metric))
        if watched:
            yield (
                f"watch without a gate: {', '.join(watched)}; more gates fail more often by chance"
            )

    def _overlooked(self) -> Iterator[str]:
        """Yield which metrics see less than half of the telling swaps."""
        clauses = [
            f"{resolution.metric} ({resolution.share_of_telling:.1%})"
            for resolution in (self.resolutions[place] for place in self._usable)
            if resolution.share_of_telling < HALF
        ]
        if clauses:
            why = "its own, because it sees" if len(clauses) == 1 else "their own, because they see"
            yield (
                f"not enough on {why} few of the swaps of documents with different "
                f"grades{self._at}: {', '.join(clauses)}"
            )

    def _often_at_ends(self) -> Iterator[str]:
        """Yield which metrics are at their floor or ceiling on half of the queries.

        A gate for lost documents need not separate good rankers, so its ceiling is not a fault.
        """
        for_losses = self._chosen[1:] if self._order(self._chosen[0]) else self._chosen
        usable = [self.resolutions[place] for place in self._usable]
        ordering = [place for place in self._usable if place not in for_losses]
        low = [
            f"{resolution.metric} ({resolution.share_that_cannot_fall:.0%} of the queries)"
            for resolution in usable
            if resolution.share_that_cannot_fall >= HALF
        ]
        high = [
            f"{resolution.metric} ({resolution.at_ceiling / resolution.queries:.0%})"
            for resolution in (self.resolutions[place] for place in ordering)
            if resolution.queries and resolution.at_ceiling >= HALF * resolution.queries
        ]
        if low:
            they = "it does" if len(low) == 1 else "they do"
            yield f"at the floor, so {they} not show what gets worse there: {', '.join(low)}"
        if high and not self.of_ideal:
            they = "it hardly separates" if len(high) == 1 else "they hardly separate"
            yield (
                f"at the ceiling on half of the queries or more, so {they} good rankers: "
                f"{', '.join(high)}; add harder queries"
            )


def ranks_text(depth: int) -> str:
    """Return the compared ranks, as text."""
    return f"at ranks 1 to {depth}" if depth > 1 else "at rank 1"


def _compared_losses(one: Resolution, other: Resolution) -> str:
    """Return what two metrics see of losses."""
    return (
        f"it sees {one.losses.share:.1%} of the losses (sight {_known(one.losses.sight):.2f}), "
        f"{other.metric} {other.losses.share:.1%} ({_known(other.losses.sight):.2f})"
    )


def _compared_order(one: Resolution, other: Resolution) -> str:
    """Return what two metrics see of the order."""
    return (
        f"it sees {one.share_of_telling:.1%} of the swaps of documents with different grades "
        f"(sight {_known(one.disorder.sight):.2f}), {other.metric} {other.share_of_telling:.1%} "
        f"({_known(other.disorder.sight):.2f})"
    )


def _known(sight: float) -> float:
    """Return a sight for comparisons: 0 if nothing was tried, and without rounding errors."""
    return 0.0 if math.isnan(sight) else round(sight, 6)
