"""Propensities that are estimated from a log of two or more rankers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, SessionLogError, plural, quoted, suggestion
from pytest_rankcheck.golden.query import label_of
from pytest_rankcheck.sessions.log_reader import LogContents
from pytest_rankcheck.statistics.intervention_harvesting import Harvest, Impressions, harvested

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EstimatedPropensity", "estimated_propensity"]

_Z = 1.959964
"""The quantile of a normal distribution of a 95% interval."""


@dataclass(frozen=True)
class EstimatedPropensity(Mapping[int, float]):
    """How likely users look at each rank, relative to the rank where they look most often.

    A mapping of ranks to propensities; give it as ``propensity=``.
    """

    by: str
    """The attribute that tells the rankers apart."""
    harvest: Harvest

    @cached_property
    def _chances(self) -> Mapping[int, float]:
        pairs = zip(self.harvest.ranks.tolist(), self.harvest.chances.tolist(), strict=True)
        return dict(pairs)

    def __getitem__(self, rank: int) -> float:
        return self._chances[rank]

    def __iter__(self) -> Iterator[int]:
        return iter(self._chances)

    def __len__(self) -> int:
        return len(self._chances)

    def interval(self, rank: int) -> tuple[float, float]:
        """Return the 95% interval of a propensity (delta method, sessions as clusters).

        Raises:
            KeyError: the propensity of this rank was not estimated.
        """
        half = _Z * float(self.harvest.errors[list(self._chances).index(rank)])
        chance = self[rank]
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
        """One row per rank: ``propensity`` and its 95% interval, ``low`` and ``high``."""
        import pandas as pd

        rows = [(self[rank], *self.interval(rank)) for rank in self]
        index = pd.Index(list(self), name="rank")
        return pd.DataFrame(rows, index=index, columns=["propensity", "low", "high"])

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
            lines.append(f"  rank {rank:>2}  {self[rank]:.3f}  [{low:.3f}, {high:.3f}]")
        return "\n".join(lines)


def estimated_propensity(log: LogContents, by: str, name: str) -> EstimatedPropensity:
    """Return the propensities of the ranks at which rankers showed the same documents.

    Args:
        log: the events.
        by: the attribute of the sessions that tells the rankers apart.
        name: the name of the log.

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
    harvest = harvested(_impressions(log, group))
    if harvest is None:
        raise SessionLogError(
            f"{where}: propensities cannot be estimated, because no selected document was shown "
            f"for the same query at different ranks by two values of '{quoted(by)}'. Collect a log "
            "in which two rankers answered the same queries"
        )
    return EstimatedPropensity(by, harvest)


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
