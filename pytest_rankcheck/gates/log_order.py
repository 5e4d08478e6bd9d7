"""A replay without a propensity cannot compare a ranker with the order that the log showed.

Users select what they see first, so without a correction the order of the log looks better than any
other: an equal ranker, and even a better one, would be blocked every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.golden.sampled_queries import SampledQueries

__all__ = ["refuse_order_of_log"]

Ranking = Callable[[str], Sequence[str]]
"""Returns the known top of the ranking of a query."""


def refuse_order_of_log(golden: SampledQueries, sides: Iterable[tuple[str, Ranking]]) -> None:
    """Refuse a gate that compares with the order of the log, if positions are not corrected.

    Args:
        golden: the golden set.
        sides: what is compared: how messages call it, and its rankings.

    Raises:
        ConfigurationError: a side has the order of the log; the message says what to write.
    """
    replay = golden.replay
    if replay is None or replay.uncorrected or golden.corrects_positions:
        return
    for name, ranking in sides:
        if _is_order_of_log(golden, ranking):
            raise ConfigurationError(
                f"golden set '{quoted(golden.name)}' is a replay whose positions are not "
                f"corrected, and {name} has the documents in the order of the log, which such a "
                "replay favours over every other order. Correct the positions: "
                'to_golden_set(..., propensity="power(1)"), or a table of propensities, such as '
                "that of log.estimate_propensity(by=...). To gate nevertheless: "
                "to_golden_set(..., uncorrected=True)"
            )


def _is_order_of_log(golden: SampledQueries, ranking: Ranking) -> bool:
    """Return whether all rankings of several documents are the beginning of what was shown."""
    seen = False
    for query_id in golden.query_ids:
        ranked = list(ranking(query_id))
        shown = list(golden.candidates_of(query_id))[: len(ranked)]
        if len(ranked) > 1 and len(shown) > 1:
            if ranked[: len(shown)] != shown:
                return False
            seen = True
    return seen
