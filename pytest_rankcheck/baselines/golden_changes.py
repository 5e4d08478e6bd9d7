"""How a changed golden set affects a record: lost queries, values and labels, moved means.

If a label of a query moves, the query is still compared. Moved labels are listed, and need a reason
if there are many.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress

import numpy as np

from pytest_rankcheck.baselines.change import LOSS_SHARE, Change
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.comparison.measurement import Measured, QueryOverlap
from pytest_rankcheck.errors import listed, quoted
from pytest_rankcheck.evaluation.recorded_precision import as_recorded
from pytest_rankcheck.metrics.metric_names import Metric

_LISTED = 10
"""How many lost queries are named."""
_MOVES = 3
"""How many kinds of label moves are named."""

Labels = tuple[str, ...]


def lost_queries(record: Record, fingerprints: Mapping[str, str]) -> Iterator[Change]:
    """Yield the key for removed or edited queries; nothing if there are few.

    Args:
        record: the approved record.
        fingerprints: the fingerprints of the queries now, by query id.
    """
    is_lost = np.array(
        [fingerprints.get(name) != text for name, text in record.query_fingerprints.items()], bool
    )
    weights = record.weights
    weight = 0.0 if weights is None else float(weights[is_lost].sum() / weights.sum())
    lost, total = int(is_lost.sum()), len(is_lost)
    if lost > _few(total) or weight > LOSS_SHARE:
        heavy = f", which have {weight:.0%} of the weight" if weight > LOSS_SHARE else ""
        words = f"{lost:,} of {total:,} queries removed or edited{heavy}"
        yield Change("queries-lost", "", total, lost, round(weight, 6), words=words)


def _few(total: int) -> int:
    """Return how many of this many queries may change without a reason."""
    return max(1, math.floor(LOSS_SHARE * total))


def lost_values(record: Record, overlap: QueryOverlap, metric: Metric) -> Iterator[Change]:
    """Yield the key for queries that lost their value of a metric; nothing if there are few.

    If a log has other sessions, as the log of the next week does, the shares that count are
    compared. If it has the same sessions, it must not have lost many values.
    """
    then, now = record.values(metric), overlap.measured.values(metric)
    counted = record.queries.counted(str(metric))
    if overlap.is_paired:
        before, after = then[overlap.other_places], now[overlap.places]
        lost = int((~np.isnan(before) & np.isnan(after)).sum())
    else:
        sides = (record.query_ids, then), (overlap.measured.query_ids, now)
        had_value, has_value = (set(compress(ids, ~np.isnan(values))) for ids, values in sides)
        shared = len(set(record.query_ids).intersection(overlap.measured.query_ids))
        if 2 * shared >= min(len(then), len(now)):
            lost = len(had_value - has_value)
        else:
            counted = round(counted / max(len(then), 1) * len(now))
            lost = max(0, counted - len(has_value))
    if lost > LOSS_SHARE * counted:
        of_all = f"{lost:,} of {counted:,} {metric.kind.plural}"
        words = f"{metric} has no value for {of_all} that counted"
        yield Change("no-value", str(metric), counted, lost, words=words)


def lost_text(record: Record, overlap: QueryOverlap) -> str:
    """Return in words the removed or edited queries with their recorded values, or nothing."""
    lost = [*overlap.removed, *overlap.changed] if overlap.is_paired else []
    by_line = record.queries.by_line
    values = {name: by_line[name] for name in record.gated if name in by_line}
    texts = []
    for query_id, place in zip(lost, record.queries.places(lost), strict=True):
        shown = ", ".join(f"{name} {of_metric[place]:.4f}" for name, of_metric in values.items())
        texts.append(f"{query_id} ({shown})" if shown else query_id)
    return f"removed or edited: {listed(texts, _LISTED)}" if texts else ""


def set_changes(record: Record, overlap: QueryOverlap) -> Mapping[str, float]:
    """Return how far added, removed and edited queries move each mean of a record.

    This is the mean of the recorded values on the unchanged queries minus the recorded mean. It is
    empty for session logs, and if all queries are unchanged or none are.

    Args:
        record: the approved record.
        overlap: of what was measured later with the record.
    """
    if not overlap.is_paired or not (overlap.added or overlap.changed or overlap.removed):
        return {}
    if not overlap.query_ids:  # changes by the ranker cannot be told apart
        return {}
    changes = {}
    for metric in record.recorded_metrics:
        if overlap.measured.fits(metric) and str(metric) in record.queries.by_line:
            values = np.array(as_recorded(overlap.measured.values(metric)))
            values[overlap.places] = record.values(metric)[overlap.other_places]
            mean = metric.mean(values, overlap.measured.weights_of(metric))
            changes[str(metric)] = mean - record.mean(metric)
    return changes


def slice_changes(
    record: Record | None, attributes: Sequence[str], overlap: QueryOverlap | None
) -> Iterator[str]:
    """Yield how labels of gated attributes moved, and which attributes are newly gated."""
    if overlap is not None:
        yield from (text for _, text in _moved(overlap, attributes))
    added = [quoted(name) for name in attributes if record and name not in record.slices]
    if added:
        yield f"newly gated, and recorded by the next update: the slices of {', '.join(added)}"


# --- labels: of slices, and of clusters ----------------------------------------------------------


def label_moves(overlap: QueryOverlap, attribute: str) -> Mapping[tuple[Labels, Labels], int]:
    """Return how many shared queries moved from and to which labels of an attribute.

    Empty for logs that are not paired, and if one side lacks the attribute.
    """
    then, now = (_labels(side, attribute) for side in (overlap.other, overlap.measured))
    if not overlap.is_paired or not then or not now:
        return {}
    places = zip(overlap.other_places.tolist(), overlap.places.tolist(), strict=True)
    pairs = ((then[before], now[after]) for before, after in places)
    return Counter(pair for pair in pairs if pair[0] != pair[1])


def _labels(side: Measured, attribute: str) -> Sequence[Labels]:
    """Return the labels of each query, sorted; empty if none has any."""
    slices = side.slice_places(attribute)
    labels: list[Labels] = [()] * len(side.query_ids) if slices else []
    for value in sorted(slices):
        for place in slices[value]:
            labels[place] = (*labels[place], value)
    return labels


def cluster_moves(overlap: QueryOverlap) -> int:
    """Return how many of the shared queries left their cluster.

    Clusters are compared as partitions: each is matched to the one that has most of its queries,
    and no two are matched to the same one.
    """
    then, now = overlap.other.clusters, overlap.measured.clusters
    if not overlap.is_paired or then is None:
        return 0
    if now is None:  # of a record that was edited
        return len(overlap.query_ids)
    before, after = then[overlap.other_places].tolist(), now[overlap.places].tolist()
    stayed, taken_then, taken_now = 0, set(), set()
    for (old, new), size in Counter(zip(before, after, strict=True)).most_common():
        if old not in taken_then and new not in taken_now:
            taken_then.add(old)
            taken_now.add(new)
            stayed += size
    return len(before) - stayed


def _moved(overlap: QueryOverlap, attributes: Iterable[str]) -> Iterator[tuple[Change, str]]:
    """Yield the labels that were lost, as changes, and those that moved, in words.

    Such as ``3 of 40 queries moved in locale: de -> en (3)``.
    """
    total = len(overlap.query_ids)
    for attribute in attributes:
        moves = label_moves(overlap, attribute)
        if moves:
            text, moved = _moves_text(attribute, moves), sum(moves.values())
            lost = sum(size for (then, now), size in moves.items() if {*then} - {*now})
            words = f"{lost:,} of {total:,} queries lost a label of {text}"
            change = Change("slice-gone", attribute, total, lost, words=words)
            yield change, f"{moved:,} of {total:,} queries moved in {text}"
    count = cluster_moves(overlap)
    if count:
        words = f"{count:,} of {total:,} queries are in another cluster"
        yield Change("clusters", "", total, count, words=words), words


def have_moved(overlap: QueryOverlap, attributes: Iterable[str]) -> bool:
    """Return whether a query has other labels of these attributes, or is in another cluster."""
    return next(_moved(overlap, attributes), None) is not None


def lost_labels(overlap: QueryOverlap, attributes: Iterable[str]) -> Iterator[Change]:
    """Yield the changes of labels that need a reason: more than 5% of the queries lost theirs."""
    for change, _ in _moved(overlap, attributes):
        if isinstance(change.after, int) and change.after > _few(len(overlap.query_ids)):
            yield change


def _moves_text(attribute: str, moves: Mapping[tuple[Labels, Labels], int]) -> str:
    ordered = sorted(moves.items(), key=lambda move: (-move[1], move[0]))
    texts = [f"{_shown(then)} -> {_shown(now)} ({size:,})" for (then, now), size in ordered]
    return f"{quoted(attribute)}: {listed(texts, _MOVES)}"


def _shown(labels: Labels) -> str:
    return " and ".join(map(quoted, labels)) or "none"
