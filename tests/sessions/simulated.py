"""Simulated logs with known true values: a position-based model of what users look at.

There are many searches with one good document each. The ranker of the log shows ten documents; the
user looks at rank r with the probability r ** -1, and selects the good document if they look at
it. A new ranker puts the same good document at another rank. Its true mean RR is over all
searches; a log has a selection only if the user looked far enough down.
"""

from dataclasses import dataclass

import numpy as np

from pytest_rankcheck import GoldenSet, Run, SessionLog

SHOWN = 10


@dataclass(frozen=True)
class Simulation:
    """A log, the new ranker's rankings of what it showed, and the new ranker's true mean RR."""

    log: SessionLog
    rankings: dict[str, list[str]]
    truth: float

    def run(self, golden: GoldenSet) -> Run:
        """Return the new ranker's run over a replay of the log."""
        rankings = {
            query_id: self.rankings[query_id.partition(".")[0]] for query_id in golden.query_ids
        }
        return Run.from_dict(rankings, name="new ranker")


def simulate(searches: int, seed: int) -> Simulation:
    """Return the log of some searches, and the true values.

    The old ranker has the good document at rank 1 in half of the searches, and at any rank in the
    others. The new ranker has it at the old rank in one half of the searches, and at any rank in the
    other, so that it is worse exactly where the old ranker was good.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    old = np.where(rng.random(searches) < 0.5, 1, rng.integers(1, SHOWN + 1, searches))
    new = np.where(rng.random(searches) < 0.5, old, rng.integers(1, SHOWN + 1, searches))
    looked = rng.random(searches) < 1 / old
    rows, rankings = [], {}
    for number in range(searches):
        documents = [f"d{place}" for place in range(1, SHOWN + 1)]
        rows.append(
            {
                "session_id": f"s{number}",
                "event": 1,
                "query": f"query {number}",
                "results": list(documents),
                "selected": documents[old[number] - 1] if looked[number] else None,
            }
        )
        good = documents.pop(old[number] - 1)
        documents.insert(new[number] - 1, good)
        rankings[f"s{number}"] = documents
    log = SessionLog.from_frame(pd.DataFrame(rows))
    return Simulation(log, rankings, float((1 / new).mean()))
