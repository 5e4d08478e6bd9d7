"""The assertions of a test: the metrics, gates and slices that are decided as one family.

A record keeps the families that it was approved under, so that additions of a branch cannot dilute
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_rankcheck.baselines.change import Change, is_looser
from pytest_rankcheck.errors import plural


@dataclass(frozen=True, slots=True)
class Family:
    """One assertion: metrics with their gates, and the attributes by whose slices it gates."""

    metrics: Mapping[str, str]
    """The text of the gate of each metric, by canonical name."""
    by: tuple[str, ...] = ()


def families_of_last(recorded: Iterable[Family], asserted: Sequence[Family]) -> Sequence[Family]:
    """Return the recorded families by which the last assertion of a test so far is judged.

    An assertion is judged by the family that equals it; otherwise, for each of its metrics, by the
    first family that no other assertion was judged by.

    Args:
        recorded: the families of the record.
        asserted: the assertions that the test has made, in their order.
    """
    left = {
        (number, metric): family
        for number, family in enumerate(recorded)
        for metric in family.metrics
    }
    of_last: dict[int, Family] = {}
    for assertion in asserted:
        equal = [key for key, family in left.items() if family == assertion]
        first: dict[str, tuple[int, str]] = {}
        for key in left:
            if key[1] in assertion.metrics:
                first.setdefault(key[1], key)
        number = equal[0][0] if equal else None
        chosen = [key for key in equal if key[0] == number] or [*first.values()]
        of_last = {key[0]: left[key] for key in chosen}
        for key in chosen:
            del left[key]
    return [*of_last.values()]


def larger_families(recorded: Sequence[Family], asserted: Sequence[Family]) -> Iterator[str]:
    """Yield the recorded metrics that are now decided together with further ones."""
    for number, family in enumerate(asserted, start=1):
        for before in families_of_last(recorded, asserted[:number]):
            shared = [metric for metric in before.metrics if metric in family.metrics]
            more = len(family.metrics.keys() - before.metrics.keys())
            if shared and more:
                metrics = plural(more, "more metric")
                yield f"{', '.join(shared)}, with {metrics}"


def next_families(before: Iterable[Family], asserted: Sequence[Family]) -> Sequence[Family]:
    """Return what an update without a reason records: the assertions, and stricter earlier ones."""
    kept = [*_undecided(before, asserted)]
    families = []
    for family in asserted:
        wider = [each for each in kept if {*family.by} <= {*each.by}]
        metrics = {
            metric: gate
            for metric, gate in family.metrics.items()
            if not any(_is_no_looser(each.metrics.get(metric), gate) for each in wider)
        }
        families += [replace(family, metrics=metrics)] if metrics else []
    return [*families, *kept]


def _is_no_looser(kept: str | None, gate: str) -> bool:
    """Whether a kept gate blocks whatever another does, or is not known to block less."""
    return kept is not None and (not is_looser(gate, kept) or is_looser(kept, gate))


def _undecided(before: Iterable[Family], after: Sequence[Family]) -> Iterator[Family]:
    """Yield what earlier families decide but later ones do not decide as strictly."""
    for family in before:
        metrics = family.metrics.items()
        kept = {metric: gate for metric, gate in metrics if any(_lost(metric, family, after))}
        if kept:
            yield replace(family, metrics=kept)


def lost_gates(before: Iterable[Family], after: Sequence[Family]) -> Iterator[Change]:
    """Yield the gates and the slices of metrics that later families do not decide as strictly."""
    for family in before:
        for metric in family.metrics:
            yield from (key for key in _lost(metric, family, after) if key.kind != "metric-gone")


def _lost(metric: str, family: Family, after: Sequence[Family]) -> Iterator[Change]:
    gate = family.metrics[metric]
    same = [each for each in after if metric in each.metrics]
    strict = [each for each in same if not is_looser(gate, each.metrics[metric])]
    if not same:
        yield Change("metric-gone", metric, gate)
        return
    if not strict:
        yield Change("gate-looser", metric, gate, same[0].metrics[metric])
    for attribute in family.by:
        if not any(attribute in each.by for each in strict or same):
            yield Change("slice-gone", attribute)
