"""Propensities that are estimated from a log of two or more rankers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, SessionLogError, plural, quoted, suggestion
from pytest_rankcheck.golden.query import label_of
from pytest_rankcheck.sessions.log_reader import LogContents
from pytest_rankcheck.sessions.replays.propensity import Chance
from pytest_rankcheck.statistics.intervention_harvesting import Harvest, Impressions, harvested

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EstimatedPropensity", "estimated_propensity"]

_Z = 1.959964
"""The quantile of a normal distribution of a 95% interval."""


@dataclass(frozen=True)
class EstimatedPropensity(Mapping[int, Chance]):
    """How likely users look at each rank, relative to the rank where they look most often.

    A mapping of ranks to propensities, or to (alpha, beta) if documents that are not good were
    known; give it as ``propensity=``.
    """

    by: str
    """The attribute that tells the rankers apart."""
    harvest: Harvest
    betas: Mapping[int, float] = field(default_factory=dict)
    """How often documents that are not good are selected, by rank; empty if they are not known."""

    @cached_property
    def _chances(self) -> Mapping[int, float]:
        """The propensity or alpha of each rank. No alpha and beta add up to more than 1."""
        ranks = self.harvest.ranks.tolist()
        betas = np.array([self.betas.get(rank, 0.0) for rank in ranks])
        scale = float(np.min((1 - betas) / self.harvest.chances)) if self.betas else 1.0
        return dict(zip(ranks, (scale * self.harvest.chances).tolist(), strict=True))

    def __getitem__(self, rank: int) -> Chance:
        chance = self._chances[rank]
        return (chance, self.betas[rank]) if self.betas else chance

    def __iter__(self) -> Iterator[int]:
        return iter(self._chances)

    def __len__(self) -> int:
        return len(self._chances)

    def interval(self, rank: int) -> tuple[float, float]:
        """Return the 95% interval of a propensity or alpha (delta method, sessions as clusters).

        Raises:
            KeyError: the propensity of this rank was not estimated.
        """
        half = _Z * float(self.harvest.errors[list(self._chances).index(rank)])
        chance = self._chances[rank]
        return chance * math.exp(-half), chance * math.exp(half)

    @property
    def exponent(self) -> float:
        """The eta of the ``power(eta)`` that is closest, for ranks that were not estimated.

        A weighted least-squares line through the logarithms; NaN with fewer than two ranks.
        """
        if len(self) < 2:
            return math.nan
        weights = 1 / (self.harvest.errors**2 + float(np.median(self.harvest.errors)) ** 2)
        slope = np.polyfit(
            np.log(self.harvest.ranks), np.log(self.harvest.chances), 1, w=np.sqrt(weights)
        )[0]
        return float(-slope)

    @property
    def table(self) -> pd.DataFrame:
        """One row per rank: ``propensity`` and its 95% interval, ``low`` and ``high``.

        If documents that are not good were known, it is that of alpha, and there is ``beta``.
        """
        import pandas as pd

        rows = [(self._chances[rank], *self.interval(rank)) for rank in self]
        index = pd.Index(list(self), name="rank")
        frame = pd.DataFrame(rows, index=index, columns=["propensity", "low", "high"])
        return frame.assign(beta=[self.betas[rank] for rank in self]) if self.betas else frame

    def __str__(self) -> str:
        harvest = self.harvest
        start = (
            f"propensities from {plural(harvest.units, 'document')} that rankers "
            f"({quoted(self.by)}) showed at different ranks, with "
            f"{plural(harvest.selections, 'selection')} in {harvest.impressions:,} impressions; "
            f"closest power({self.exponent:.2f})"
        )
        lines = [start]
        for rank in self:
            low, high = self.interval(rank)
            beta = f", beta {self.betas[rank]:.3f}" if self.betas else ""
            chance = f"{self._chances[rank]:.3f}  [{low:.3f}, {high:.3f}]"
            lines.append(f"  rank {rank:>2}  {chance}{beta}")
        return "\n".join(lines)


Irrelevant = Mapping[str, Collection[str]]
"""By query text, the ids of documents that are not good."""


def estimated_propensity(
    log: LogContents, by: str, name: str, irrelevant: Irrelevant | None = None
) -> EstimatedPropensity:
    """Return the propensities of the ranks at which rankers showed the same documents.

    Args:
        log: the events.
        by: the attribute of the sessions that tells the rankers apart.
        name: the name of the log.
        irrelevant: documents that are not good; None: nobody selects those.

    Raises:
        ConfigurationError: no session has the attribute, or all have the same value.
        SessionLogError: it is unknown what was shown, or no document that was selected was shown
            at different ranks.
    """
    where = f"session log '{quoted(name)}'"
    labels = [label_of(attributes.get(by)) for attributes in log.attributes]
    groups, group = np.unique(labels, return_inverse=True)
    if len(groups) < 2:
        names = {each for attributes in log.attributes for each in attributes}
        what = "the same value in all sessions" if by in names else "no value"
        raise ConfigurationError(
            f"{where}: by='{quoted(by)}' has {what}{suggestion(by, names)}; give the attribute "
            "that says which ranker a session saw"
        )
    if not log.events.has_list.any():
        raise SessionLogError(
            f"{where}: the results shown are unknown; to estimate propensities, their ids are "
            "needed (the column results)"
        )
    seen = _impressions(log, group)
    betas: Mapping[int, float] = {}
    if irrelevant is not None:
        betas = _betas(log, irrelevant, where)
        seen = seen.at(np.isin(seen.rank, list(betas)))
        seen = replace(seen, beta=np.array([betas[rank] for rank in seen.rank.tolist()]))
    harvest = harvested(seen)
    if harvest is None:
        raise SessionLogError(
            f"{where}: propensities cannot be estimated, because no selected document was shown "
            f"for the same query at different ranks by two values of '{quoted(by)}'. Collect a log "
            "in which two rankers answered the same queries"
        )
    return EstimatedPropensity(by, harvest, betas)


def _betas(log: LogContents, irrelevant: Irrelevant, where: str) -> Mapping[int, float]:
    """Return how often documents that are not good were selected, at each rank where they were.

    Raises:
        SessionLogError: the log never showed one of them.
    """
    shown: Counter[int] = Counter()
    selected: Counter[int] = Counter()
    bad = {query: set(documents) for query, documents in irrelevant.items()}
    events = log.events
    for place in range(len(events)):
        of_query = bad.get(log.query_at(place) or "")
        if not of_query:
            continue
        start, end = events.selected_starts[place : place + 2].tolist()
        picked = set(events.selected_rank[start:end].tolist())
        ranks = [n for n, each in enumerate(log.results_at(place), start=1) if each in of_query]
        shown.update(ranks)
        selected.update(picked.intersection(ranks))
    if not shown:
        raise SessionLogError(
            f"{where}: no document of irrelevant= was shown for its query; give the texts of "
            "queries with the ids of documents that are known not to be good"
        )
    return {rank: selected[rank] / count for rank, count in sorted(shown.items())}


def _impressions(log: LogContents, group: IntArray) -> Impressions:
    """Return each document that was shown for a query, at the usual rank of its ranker.

    Within a group, ranks that differ come from something else than the ranker, such as the user, so
    only those impressions count where the group shows the document most often.
    """
    events = log.events
    of_event = np.repeat(np.arange(len(events)), np.diff(events.shown_starts))
    rank = np.arange(len(of_event)) - events.shown_starts[of_event] + 1
    selected = np.zeros(len(of_event), dtype=bool)
    picked = np.repeat(np.arange(len(events)), events.selections)
    known = events.has_list[picked]
    selected[(events.shown_starts[picked] + events.selected_rank - 1)[known]] = True
    query, session = events.query[of_event], events.session[of_event]
    rows = query >= 0
    documents = int(events.shown.max(initial=0)) + 1
    codes = query[rows] * documents + events.shown[rows]
    unit = np.unique(codes, return_inverse=True)[1]
    seen = Impressions(unit, rank[rows], selected[rows], session[rows])
    return seen.at(_at_usual_rank(seen, group[seen.session]))


def _at_usual_rank(seen: Impressions, group: IntArray) -> BoolArray:
    """Return whether each impression is at the rank where its group shows the document most."""
    longest = int(seen.rank.max(initial=0)) + 1
    key = seen.unit * (int(group.max(initial=0)) + 1) + group
    placed, inverse, counts = np.unique(
        key * longest + seen.rank, return_inverse=True, return_counts=True
    )
    keys, ranks = placed // longest, placed % longest
    order = np.lexsort((-ranks, counts, keys))  # the most frequent rank last; of equals the highest
    usual = np.zeros(len(placed), dtype=bool)
    usual[order[np.append(np.diff(keys[order]) != 0, True)]] = True
    return np.asarray(usual[inverse])
