"""The promises of a baseline file, checked on its JSON with plain Python.

Nothing here uses the code that keeps them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "Entry",
    "Ledger",
    "broken_promises",
    "is_all_or_nothing",
    "is_traded",
    "lines_of",
    "mean_of",
]

Entry = dict[str, Any]

LOWER_IS_BETTER = "FirstRank"
EXACT = 1e-9
ROUNDING = 2e-8
"""Best means are written with nine decimals."""


def lines_of(entry: Entry) -> dict[str, Entry]:
    return {line["id"]: line for line in entry["queries"]}


def shared_ids(before: Entry, after: Entry) -> list[str]:
    """Return the queries that are unchanged."""
    then, now = lines_of(before), lines_of(after)
    return [
        query_id
        for query_id, line in then.items()
        if query_id in now and now[query_id]["fingerprint"] == line["fingerprint"]
    ]


def replaced(before: Entry, after: Entry) -> int:
    """Return how many queries were removed or edited."""
    return len(before["queries"]) - len(shared_ids(before, after))


def mean_of(entry: Entry, metric: str, ids: list[str] | None = None) -> float:
    """Return the mean of what counts, of all queries or of some."""
    lines = lines_of(entry)
    values = [lines[query_id]["values"][metric] for query_id in (lines if ids is None else ids)]
    counted = [value for value in values if value is not None]
    return math.fsum(counted) / len(counted) if counted else math.nan


def counting(entry: Entry, metric: str, ids: list[str]) -> list[str]:
    """Return those of some queries that have a value."""
    lines = lines_of(entry)
    return [query_id for query_id in ids if lines[query_id]["values"][metric] is not None]


def gain(metric: str, before: float, after: float) -> float:
    """Return by how much a mean is better."""
    return before - after if metric.startswith(LOWER_IS_BETTER) else after - before


def below_best(entry: Entry, metric: str) -> float:
    return max(0.0, gain(metric, mean_of(entry, metric), entry["metrics"][metric]["best"]))


def allowance(gate: str) -> float:
    """Return what a tolerance allows."""
    match = re.search(r"abs=([0-9.e-]+)", gate)
    return float(match[1]) if match else 0.0


def new_reasons(before: Entry, after: Entry) -> list[Entry]:
    """Return the approvals that are new; one that only raises does not justify a fall."""
    added = after["approvals"][len(before["approvals"]) :]
    return [approval for approval in added if "raised" not in approval]


@dataclass
class Ledger:
    """What was taken away since the last approval, counted from outside."""

    queries: int = 0
    replaced: int = 0
    counted: dict[str, int] = field(default_factory=dict)
    uncounted: Counter[str] = field(default_factory=Counter)

    def copy(self) -> Ledger:
        return Ledger(self.queries, self.replaced, dict(self.counted), Counter(self.uncounted))

    def start(self, entry: Entry) -> None:
        """Start again at a record that is new, or was approved as a whole."""
        self.queries, self.replaced, self.uncounted = len(entry["queries"]), 0, Counter()
        self.counted = {name: counted(entry, name) for name in entry["metrics"]}

    def follow(self, before: Entry, after: Entry) -> None:
        """Add what an update took away."""
        if new_reasons(before, after):
            self.start(after)
            return
        self.replaced += replaced(before, after)
        then, now = lines_of(before), lines_of(after)
        for name in after["metrics"]:
            self.counted.setdefault(name, counted(after, name))
            if name in before["metrics"]:
                self.uncounted[name] += sum(
                    then[query_id]["values"][name] is not None
                    and now[query_id]["values"][name] is None
                    for query_id in shared_ids(before, after)
                )

    def broken(self) -> Iterator[str]:
        if self.replaced > max(1, math.floor(0.05 * self.queries)):
            yield f"{self.replaced} of {self.queries} queries were removed or edited"
        for name, count in self.uncounted.items():
            if count > 0.05 * self.counted[name]:
                yield f"{count} of {self.counted[name]} queries lost their value of {name}"


def counted(entry: Entry, metric: str) -> int:
    return sum(line["values"][metric] is not None for line in entry["queries"])


def broken_promises(before: Entry, after: Entry, *, updates: int = 1) -> Iterator[str]:
    """Yield what a record may not change of the one before it.

    Args:
        before: the record before.
        after: the record after.
        updates: how many updates are between them. After several, the queries that each of them
            compared are unknown, so the distance from the best is only checked if none has left.
    """
    kept = after["approvals"][: len(before["approvals"])]
    if kept != before["approvals"]:
        yield "an approval is gone"
        return
    reasons = new_reasons(before, after)
    ids = shared_ids(before, after)
    for name, then in before["metrics"].items():
        if then["gate"] is None:
            continue
        now = after["metrics"].get(name)
        if now is None:
            if not reasons:
                yield f"{name} is gone"
            continue
        is_loosened = now["gate"] is None or allowance(now["gate"]) > allowance(then["gate"])
        if is_loosened and not reasons:
            yield f"the gate of {name} was loosened: {then['gate']} to {now['gate']}"
        yield from _of_means(before, after, name, ids, reasons)
        knows_the_queries = updates == 1 or len(ids) == len(before["queries"])
        if not reasons and knows_the_queries:
            yield from _of_best_means(before, after, name, ids, is_exact=updates == 1)


def _of_means(
    before: Entry, after: Entry, name: str, ids: list[str], reasons: list[Entry]
) -> Iterator[str]:
    then, now = mean_of(before, name, ids), mean_of(after, name, ids)
    better = gain(name, then, now)
    is_covered = any(name in approval["fall"] or approval.get("change") for approval in reasons)
    if not is_covered and ids and not math.isnan(then) and not better >= -EXACT:
        yield f"{name} fell from {then} to {now} on {len(ids)} unchanged queries"


def _of_best_means(
    before: Entry, after: Entry, name: str, ids: list[str], *, is_exact: bool
) -> Iterator[str]:
    if not ids or counting(before, name, ids) != counting(after, name, ids):
        return  # the means are of different queries
    better = gain(name, mean_of(before, name, ids), mean_of(after, name, ids))
    if math.isnan(better):
        return
    expected = max(0.0, below_best(before, name) - better)
    error = below_best(after, name) - expected
    if error < -ROUNDING or (is_exact and error > ROUNDING):
        yield f"{name} is {below_best(after, name)} below its best mean, and should be {expected}"


def is_all_or_nothing(
    before: Entry, after: Entry, measured: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Yield the metrics whose unchanged lines were rewritten query by query.

    Args:
        before: the record before.
        after: the record after.
        measured: the values of the session that wrote it: metric -> query id -> value.
    """
    then, now = lines_of(before), lines_of(after)
    ids = shared_ids(before, after)
    for name in after["metrics"]:
        if name not in before["metrics"]:
            continue
        values = [now[query_id]["values"][name] for query_id in ids]
        is_old = values == [then[query_id]["values"][name] for query_id in ids]
        is_new = values == [measured[name][query_id] for query_id in ids]
        if not is_old and not is_new:
            yield f"some lines of {name} were rewritten and others not"
    for query_id, line in now.items():
        if query_id not in ids:
            for name, value in line["values"].items():
                if value != measured[name][query_id]:
                    yield f"the new line of {query_id} has {name} {value}"


def is_traded(
    before: Entry, after: Entry, measured: Mapping[str, Mapping[str, Any]], gated: Iterable[str]
) -> Iterator[str]:
    """Yield the metrics whose lines were rewritten though another gated metric is lower now."""
    ids = shared_ids(before, after)
    fallen = [
        name
        for name in gated
        if name in before["metrics"]
        and is_lower(name, before, measured[name], counting(before, name, ids))
    ]
    then, now = lines_of(before), lines_of(after)
    for name in before["metrics"] if fallen else ():
        if name in after["metrics"] and any(
            then[query_id]["values"][name] != now[query_id]["values"][name] for query_id in ids
        ):
            yield f"{name} was rewritten though {fallen} fell"


def is_lower(metric: str, before: Entry, measured: Mapping[str, Any], ids: list[str]) -> bool:
    """Return whether the mean is lower now, on queries that have a value in both."""
    both = [query_id for query_id in ids if measured[query_id] is not None]
    if not both:
        return False
    now = math.fsum(measured[query_id] for query_id in both) / len(both)
    return gain(metric, mean_of(before, metric, both), now) < -1e-6
