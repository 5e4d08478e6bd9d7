"""What verdicts leave undecided, as notes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.gates.verdict import Outcome, Verdict
from pytest_rankcheck.metrics.metric_definition import Unit
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.reports.text.explanation_text import mix_lines, replay_lines
from pytest_rankcheck.reports.text.regression_text import means_text
from pytest_rankcheck.reports.text.wording import counted, number_text

_SLICES = 10
"""The number of slices in a line."""


def verdict_notes(golden_name: str, verdicts: Iterable[Verdict]) -> Iterator[Note]:
    """Yield what the verdicts of an assertion leave undecided.

    Args:
        golden_name: the golden set or session log.
        verdicts: one for each metric.
    """
    same_slices: dict[tuple[object, ...], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.not_gated:
            key = (*_ungated(verdict), verdict.min_queries, verdict.metric.unit)
            same_slices.setdefault(key, []).append(verdict)
        start = _start(golden_name, str(verdict.metric))
        for topic, text in _remarks(verdict):
            yield Note(topic, f"{start}{text}", of_test=True)
    for group in same_slices.values():
        first = group[0]
        yield from ungated_notes(
            golden_name,
            [str(verdict.metric) for verdict in group],
            list(_ungated(first)),
            unit=first.metric.unit,
            slices=len(first.slices),
            min_queries=first.min_queries,
        )


def _start(golden_name: str, metrics: str) -> str:
    return f"{metrics} on '{quoted(golden_name, 60)}'"


def _remarks(verdict: Verdict) -> Iterator[tuple[Topic, str]]:
    """Yield what one verdict leaves undecided, to follow the metric and the golden set."""
    for part in verdict.ungated_falls:
        units = "sessions" if verdict.metric.unit == "session" else "queries"
        means = f"{number_text(part.pairs.mean_before)} -> {number_text(part.pairs.mean_after)}"
        where = f" in {quoted(part.label)} ({part.pairs.size:,} {units})"
        yield (
            Topic.UNGATED_FALL,
            f"{where}: {means}, p = {part.p:.4f} (paired sign-flip test, Holm)",
        )
    if verdict.overall.futility:
        why = verdict.overall.futility
        yield Topic.DECIDES_NOTHING, f": {verdict.gate} decides nothing: {why}"
    pairs = verdict.overall.pairs
    if pairs.is_paired and not pairs.is_same and verdict.margin is None:
        yield from _unshown_fall(verdict)
    for line in mix_lines(verdict):
        yield Topic.MIX, f": {line}"
    if verdict.replay is not None:
        for line in replay_lines(verdict.replay):
            yield Topic.REPLAYS, f": {line}"


def _unshown_fall(verdict: Verdict) -> Iterator[tuple[Topic, str]]:
    """Yield a fall that passed because chance could explain it."""
    overall, pairs = verdict.overall, verdict.overall.pairs
    is_open = overall.outcome is Outcome.LOWER and not overall.futility
    if math.isnan(overall.p) or not is_open:
        return
    detectable = pairs.differences.smallest_detectable(verdict.alpha)
    limit = "; how small a fall would be shown is unknown"
    if not math.isnan(detectable):
        units = plural(pairs.size, "query", "queries")
        limit = (
            f"; with {units}, power is 80% for a fall of {detectable:.4f}, so a smaller loss is "
            "not ruled out"
        )
    means = means_text(pairs)
    yield Topic.UNSHOWN_FALL, f": {means}, p = {overall.p:.4f} under {verdict.gate}{limit}"


def _ungated(verdict: Verdict) -> Iterator[tuple[str, int, int | None]]:
    for part in verdict.not_gated:
        is_small = part.pairs.size < verdict.min_queries
        yield part.label, part.pairs.size, None if is_small else part.pairs.changed_units


def ungated_notes(
    golden_name: str,
    metrics: Sequence[str],
    not_gated: Sequence[tuple[str, int, int | None]],
    *,
    unit: Unit,
    slices: int,
    min_queries: int,
) -> Iterator[Note]:
    """Yield the slices that an assertion names but does not gate, a few in each line.

    Args:
        golden_name: the golden set or session log.
        metrics: the metrics for which these are the slices.
        not_gated: the label of each slice, its size, and how many of its queries changed, if those
            are too few; None: the slice itself is too small.
        unit: what has a value.
        slices: the number of slices, gated or not.
        min_queries: the smallest slice that is gated.
    """
    gated = slices - len(not_gated)
    topic = Topic.UNGATED_SLICES if gated else Topic.NO_SLICE_GATED
    begin = f"{gated:,} of {plural(slices, 'slice')} gated; not gated"
    start = _start(golden_name, ", ".join(metrics))
    for first in range(0, len(not_gated), _SLICES):
        part = not_gated[first : first + _SLICES]
        names = ", ".join(
            f"{quoted(label, 60)} ({counted(size, unit)}"
            + (")" if changed is None else f", {changed:,} changed: too few for a verdict)")
            for label, size, changed in part
        )
        is_small = any(changed is None for _, _, changed in part)
        limit = f"; min_queries={min_queries}" if is_small else ""
        yield Note(topic, f"{start}: {begin}: {names}{limit}", of_test=True)
        begin = "also not gated"
