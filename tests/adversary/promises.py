"""The promises of a baseline file, checked on its JSON with plain Python.

Nothing here uses the code that keeps them.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Entry = dict[str, Any]

LOWER_IS_BETTER = "FirstRank"
EXACT = 1e-9


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


def allowance(gate: str) -> float:
    """Return what a tolerance allows."""
    match = re.search(r"abs=([0-9.e-]+)", gate)
    return float(match[1]) if match else 0.0


def allowed(before: Entry, after: Entry) -> dict[str, list[Entry]]:
    """Return the keys of the approvals that are new, by name."""
    keys: dict[str, list[Entry]] = {}
    for approval in after["approvals"]:
        if approval not in before["approvals"]:
            for name, key in approval["keys"].items():
                keys.setdefault(name, []).append(key)
    return keys


def is_undone(approval: Entry, after: Entry) -> bool:
    """Whether a record is as good again as before an approval, which may go then."""
    for name, key in approval["keys"].items():
        kind, _, metric = name.partition(":")
        if kind == "fall" and (
            metric not in after["metrics"]
            or key["from"] is None
            or not gain(metric, key["from"], mean_of(after, metric)) >= -1e-6
        ):
            return False
    return True


def broken_promises(before: Entry, after: Entry, *, may_drop_gates: bool = False) -> Iterator[str]:
    """Yield what a record may not change of the one before it without a reason.

    An update may drop a gate, and keeps its lines; a pull request may not.
    """
    gone = [approval for approval in before["approvals"] if approval not in after["approvals"]]
    reworded = [approval["keys"] for approval in after["approvals"]]
    if not all(each["keys"] in reworded or is_undone(each, after) for each in gone):
        yield "an approval is gone"
        return
    keys, ids = allowed(before, after), shared_ids(before, after)
    lost = replaced(before, after)
    few = max(1, math.floor(0.05 * len(before["queries"])))
    if lost > sum(key["to"] for key in keys.get("queries-lost", [])) + few:
        yield f"{lost} of {len(before['queries'])} queries were removed or edited"
    for name, then in before["metrics"].items():
        if then["gate"] is None:
            continue
        now = after["metrics"].get(name)
        if now is None or (then["gated"] and not now["gated"] and not may_drop_gates):
            if f"metric-gone:{name}" not in keys:
                yield f"{name} is gone"
            continue
        looser = [allowance(key["to"]) for key in keys.get(f"gate-looser:{name}", [])]
        if allowance(now["gate"]) > max([allowance(then["gate"]), *looser]):
            yield f"the gate of {name} was loosened: {then['gate']} to {now['gate']}"
        yield from _of_values(before, after, name, ids, keys)
        yield from _of_slices(before, after, name, ids, keys)


def _of_slices(
    before: Entry, after: Entry, name: str, ids: list[str], keys: dict[str, list[Entry]]
) -> Iterator[str]:
    """Yield the slices of the record before, with its labels, that are lower."""
    lines = lines_of(before)
    for attribute, slices in before.get("slices", {}).items():
        moved = keys.get(f"slice-gone:{attribute}", [])
        if any(key["to"] is None for key in moved):
            continue
        for value in slices:
            own = [
                query_id
                for query_id in ids
                if value in lines[query_id].get("slices", {}).get(attribute, [])
            ]
            then, now = mean_of(before, name, own), mean_of(after, name, own)
            falls = keys.get(f"fall:{name}[{attribute}={value}]", [])
            room = sum(
                -gain(name, key["from"], key["to"])
                for key in falls
                if key["from"] is not None and key["to"] is not None
            )
            if not falls and gain(name, then, now) < -EXACT - room:
                yield f"{name} fell from {then} to {now} in {attribute}={value}"


def _of_values(
    before: Entry, after: Entry, name: str, ids: list[str], keys: dict[str, list[Entry]]
) -> Iterator[str]:
    had = counting(before, name, ids)
    lost = set(had) - set(counting(after, name, ids))
    counted = len(counting(before, name, [*lines_of(before)]))
    allowed_losses = sum(key["to"] for key in keys.get(f"no-value:{name}", []))
    if len(lost) > allowed_losses + max(1, 0.05 * counted):
        yield f"{len(lost)} of {counted} queries lost their value of {name}"
    then, now = mean_of(before, name, ids), mean_of(after, name, ids)
    falls = keys.get(f"fall:{name}", [])
    if not ids or math.isnan(then) or any(key["to"] is None for key in falls):
        return
    room = sum(-gain(name, key["from"], key["to"]) for key in falls if key["from"] is not None)
    better = gain(name, then, now)
    if not better >= -EXACT - room - 0.06 * abs(room):
        yield f"{name} fell from {then} to {now} on {len(ids)} unchanged queries"


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
