"""Judged queries as a sample: their weights, their independent units, and their replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.golden.query import (
    ALTERNATIVE,
    REPLAY,
    WEIGHT,
    clusters_of,
    effective_size,
    weights_of,
)

if TYPE_CHECKING:
    from pytest_rankcheck.golden.log_replay import Replay

__all__ = ["SampledQueries"]


class SampledQueries(JudgedQueries):
    """Judged queries, how much each counts in a mean, and which of them are independent."""

    @cached_property
    def weights(self) -> Sequence[float] | None:
        """The weight of each query in a mean, in the set's order; None if all weigh the same."""
        by = self._contents.weight_by
        return None if by is None else weights_of(self, by, self.name)

    def weights_under(self, propensity: str) -> Sequence[float]:
        """Return the weight of each query of a replay under another propensity, given as text."""
        return weights_of(self, f"{ALTERNATIVE}{propensity}", self.name)

    @property
    def cluster_by(self) -> str | None:
        """The attribute whose values are the independent units; None if each query is one."""
        return self._contents.cluster_by

    @cached_property
    def clusters(self) -> Sequence[str] | None:
        """The independent unit that each query belongs to; None if each query is one."""
        by = self._contents.cluster_by
        return None if by is None else clusters_of(self, by, self.name)

    @cached_property
    def replay(self) -> Replay | None:
        """How the set was made from a session log; None if it was not.

        Raises:
            GoldenSetError: its queries come from different replays.
        """
        if REPLAY not in self.attributes:
            return None
        from pytest_rankcheck.golden.log_replay import replay_of

        return replay_of([query.attributes.get(REPLAY) for query in self], self.name)

    @property
    def corrects_positions(self) -> bool:
        """Whether the means of a replay are corrected for where documents were shown."""
        replay = self.replay
        if replay is None or replay.propensity is None:
            return False
        return self.has_estimates or self._contents.weight_by == WEIGHT

    @property
    def has_estimates(self) -> bool:
        """Whether its grades are estimates of relevance, which may be negative (a replay)."""
        return self.replay is not None and self.replay.is_estimated

    @property
    def effective_size(self) -> float:
        """The number of equally weighted queries that would be as informative (Kish 1965).

        Kish, Survey Sampling, 1965: (sum of w)^2 / sum of w^2. It is the number of queries if all
        weigh the same.
        """
        return float(len(self)) if self.weights is None else effective_size(self.weights)

    @cached_property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each query's text and judgments, by query id."""
        from pytest_rankcheck.golden.fingerprint import query_fingerprints

        contents = self._contents
        return query_fingerprints(self.columns, contents.queries, contents.candidates, self.weights)

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of all queries and judgments.

        It depends on the content alone. The order of lines, the file format and the set's name do
        not matter, nor do attributes, titles and expectations, which do not change what is
        measured. Candidates, which a reranker sees, weights, and a scale above all grades do.
        """
        from pytest_rankcheck.golden.fingerprint import fingerprint_of

        return fingerprint_of(self.query_fingerprints.values(), self._contents.stored_scale)
