"""Real pairs: the values of the same queries under two rankers that somebody might swap.

From the reference data: a BM25 of our own on Cranfield (225 queries) with other settings, and
LightGBM's LambdaRank with other seeds and parameters (251 queries in two folds). The data has one
log of sessions, in which no wait was measured under two rankers. So a pair of durations is what one
user did at one state and at the next: the seconds until the first click, or those of the first
click's visit. Nothing else in the reference data was timed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import cranfield_bm25
import lambdarank_folds
import numpy as np
from cranfield_bm25 import Settings

from pytest_rankcheck import GoldenSet, Metric, Run, evaluate
from pytest_rankcheck.array_types import FloatArray

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / os.environ.get("RANKCHECK_REFERENCE_DATA", "../shared/data")


@dataclass(frozen=True)
class Family:
    """A kind of metric, and the fall that counts as its margin."""

    name: str
    metric: Metric
    margin: float | None
    """None: `SHARE_OF_SPREAD` of the standard deviation of the pair's differences."""


SHARE_OF_SPREAD = 0.2
"""The margin of durations in standard deviations. On the nDCG@10 pairs 0.02 is about as many."""

FAMILIES = (
    Family("nDCG@10", Metric.parse("nDCG@10"), 0.02),
    Family("RR", Metric.parse("RR"), 0.02),
    Family("AP", Metric.parse("AP"), 0.02),
    Family("Success@1", Metric.parse("Success@1"), 0.02),
    Family("count", Metric.parse("NumRelRet@10"), 0.2),  # 0.02 of ten places
    Family("duration", Metric.parse("TimeToSelection(abandoned=exclude)"), None),
)


@dataclass(frozen=True)
class RealPair:
    """One metric of the same queries under two rankers, ``[queries]``."""

    family: Family
    name: str
    before: FloatArray
    after: FloatArray

    @property
    def gains(self) -> FloatArray:
        """How much better each query is."""
        sign = 1.0 if self.family.metric.higher_is_better else -1.0
        return sign * (self.after - self.before)

    def reversed(self) -> RealPair:
        """Return the pair with the other ranker as the new one."""
        return RealPair(self.family, f"{self.name}, reversed", self.after, self.before)


Ranking = Callable[[], Run]
Event = Mapping[str, Any]


def cranfield_changes(folder: Path) -> Mapping[str, tuple[Ranking, Ranking]]:
    """Return the changes of BM25."""
    changes = {
        "k1 1.2 to 0.6": (Settings(), Settings(k1=0.6)),
        "k1 1.2 to 3": (Settings(), Settings(k1=3.0)),
        "b 0.75 to 0.3": (Settings(), Settings(b=0.3)),
        "b 0.75 to 1": (Settings(), Settings(b=1.0)),
        "stop words removed": (Settings(), Settings(has_stop_words=False)),
        "words cut after 6 letters": (Settings(), Settings(stem=6)),
        "words to 4-grams": (Settings(), Settings(letters=4)),
        "3-grams to 5-grams": (Settings(letters=3), Settings(letters=5)),
        "every 5th term dropped": (Settings(), Settings(dropped=5)),
        "titles not indexed": (Settings(), Settings(has_titles=False)),
    }
    run = partial(cranfield_bm25.ranked, folder)
    return {
        f"BM25, {name}": (partial(run, old), partial(run, new))
        for name, (old, new) in changes.items()
    }


def lambdarank_changes(folder: Path) -> Mapping[str, tuple[Ranking, Ranking]]:
    """Return the changes of LambdaRank."""
    changes: dict[str, dict[str, Any]] = {
        "another seed": {"seed": 2},
        "7 leaves": {"num_leaves": 7},
        "100 trees": {"rounds": 100},
        "learning rate 0.03": {"learning_rate": 0.03},
        "a fifth of the features": {"feature_fraction": 0.2},
        "15 rows per leaf": {"min_data_in_leaf": 15},
    }
    run = partial(lambdarank_folds.ranked, folder)
    return {f"LambdaRank, {name}": (run, partial(run, **new)) for name, new in changes.items()}


def duration_pairs(path: Path) -> list[RealPair]:
    """Return the seconds at one state of a session and at the next, of states with a click."""
    sessions = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    measures: dict[str, Callable[[Event, Event], float]] = {
        "seconds to the first click": lambda event, click: click["start"] - event["time"],
        "seconds of the first visit": lambda _, click: click["end"] - click["start"],
    }
    made = []
    for name, measure in measures.items():
        pairs = [
            (measure(*one), measure(*other))
            for session in sessions
            for one, other in pairwise(_clicked(session))
        ]
        before, after = np.array(pairs).T
        made.append(RealPair(FAMILIES[-1], f"sessions, {name}", before, after))
    return made


def _clicked(session: Event) -> Sequence[tuple[Event, Event]]:
    """Return the states with a click that has an end, and the first such click."""
    timed = (
        (event, [click for click in event["clicks"] if click["end"] is not None])
        for event in session["events"]
    )
    return [
        (event, min(clicks, key=lambda click: click["start"])) for event, clicks in timed if clicks
    ]


def build(data: Path = DATA) -> list[RealPair]:
    """Rank with every variant, and return the pairs of every family; end without the data."""
    if not data.is_dir():
        sys.exit(f"no reference data in {data}; set RANKCHECK_REFERENCE_DATA")
    cranfield, lambdarank = data / "cranfield", data / "lightgbm-lambdarank"
    made = [
        *_measured(cranfield_bm25.golden_set(cranfield), cranfield_changes(cranfield)),
        *_measured(lambdarank_folds.golden_set(lambdarank), lambdarank_changes(lambdarank)),
    ]
    return made + duration_pairs(data / "trec-session-2013" / "sessions.jsonl")


def _measured(golden: GoldenSet, changes: Mapping[str, tuple[Ranking, Ranking]]) -> list[RealPair]:
    made = []
    for name, rankings in changes.items():
        old, new = (evaluate(ranking(), golden) for ranking in rankings)
        for family in FAMILIES[:-1]:
            values = [np.round(one.values(family.metric), 6) for one in (old, new)]
            made.append(RealPair(family, name, *values))
    return made


def cached(path: Path, data: Path = DATA) -> list[RealPair]:
    """Return the pairs, kept in a file (``.npz``) from one call to the next."""
    if not path.exists():
        made = build(data)
        values: dict[str, Any] = {
            f"{pair.family.name}/{pair.name}": (pair.before, pair.after) for pair in made
        }
        np.savez(path, **values)  # numpy 1 would save ``allow_pickle`` as one more array
    families = {family.name: family for family in FAMILIES}
    kept = []
    with np.load(path) as values:
        for key in values.files:
            family, _, name = key.partition("/")
            kept.append(RealPair(families[family], name, *values[key]))
    return kept
