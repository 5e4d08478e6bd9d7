"""What verdicts leave undecided, as notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.explanation.gate_numbers import verdict_numbers
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.metrics.kinds import MeasurementKind
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.reports.text.evidence_text import (
    evidence_lines,
    fell_word,
    mix_lines,
    p_text,
    replay_lines,
)
from pytest_rankcheck.reports.text.metrics_text import verdict_headline
from pytest_rankcheck.reports.text.wording import golden_name, means_change, number_text, query_in

_NAMED = 3
"""How many queries are named of a fall that passed."""
_SLICES = 10
"""The number of slices in a line."""


def verdict_notes(golden_name: str, verdicts: Iterable[Verdict]) -> Iterator[Note]:
    """Yield what the verdicts of an assertion leave undecided.

    Args:
        golden_name: the golden set or session log.
        verdicts: one for each metric.
    """
    verdicts = list(verdicts)
    for verdict in verdicts:
        start = _start(golden_name, str(verdict.metric))
        for topic, text in _remarks(verdict):
            yield Note(topic, f"{start}{text}", of_test=True)
    ungated = [verdict for verdict in verdicts if verdict.not_gated]
    if ungated:
        first = ungated[0]
        yield ungated_note(
            golden_name,
            [str(verdict.metric) for verdict in ungated],
            [(part.label, part.pairs.size) for part in first.not_gated],
            kind=first.metric.kind,
            slices=len(first.slices),
            min_queries=first.min_queries,
        )


def passed_fall_notes(golden: JudgedQueries, verdicts: Iterable[Verdict]) -> Iterator[Note]:
    """Yield the falls that passed: the queries that fell most.

    The note on an inconclusive verdict already has its evidence, so only the queries are added.

    Args:
        golden: what was measured on.
        verdicts: those that fail no test.
    """
    for verdict in verdicts:
        part, pairs, is_open = verdict.leading, verdict.leading.pairs, verdict.inconclusive
        worst = [query_in(golden, pairs.query_ids[place]) for place in pairs.worst(_NAMED)]
        if verdict.regressed or not pairs.gain < -SLACK or (is_open and not worst):
            continue
        where = f" in {quoted(part.label, 60)}" if part.label else ""
        texts = [f"{where}: {means_change(pairs.mean_before, pairs.mean_after)}"]
        if worst:
            more = f" and {pairs.losses - len(worst):,} more" if pairs.losses > len(worst) else ""
            texts.append(f"{', '.join(worst)}{more} {fell_word(verdict.metric)}")
        text = f"{_start(golden.name, str(verdict.metric))}{'; '.join(texts)}"
        yield Note(Topic.PASSED_FALLS, text, of_test=True)


def inconclusive_text(verdict: Verdict, evaluation: Evaluation) -> str:
    """Return an inconclusive verdict with its evidence, in a line."""
    explained = verdict_numbers(verdict, has_evidence=True)
    lines = [verdict_headline(explained, golden_name(evaluation)), *mix_lines(explained)]
    if verdict.replay is not None:
        lines += replay_lines(verdict.replay)
    lines += evidence_lines(explained)
    return "; ".join(lines)


def _start(golden_name: str, metrics: str) -> str:
    return f"{metrics} on '{quoted(golden_name, 60)}'"


def _remarks(verdict: Verdict) -> Iterator[tuple[Topic, str]]:
    """Yield what one verdict leaves undecided, to follow the metric and the golden set."""
    for part in verdict.ungated_falls:
        units = verdict.metric.kind.plural
        means = f"{number_text(part.pairs.mean_before)} -> {number_text(part.pairs.mean_after)}"
        where = f" in {quoted(part.label)} ({part.pairs.size:,} {units})"
        yield (
            Topic.UNGATED_FALL,
            f"{where}: {means}, p {p_text(part.p)} ({part.pairs.test_name}, Holm)",
        )
    if verdict.futility:
        yield Topic.DECIDES_NOTHING, f": {verdict.gate} decides nothing: {verdict.futility}"
    for part in verdict.untested[:_SLICES]:
        yield Topic.UNTESTED_SLICES, f": {quoted(part.label, 60)}: {part.futility}"
    if verdict.lost_answers is not None and not verdict.lost_answers.is_known:
        yield Topic.NO_LOST_ANSWERS, ": the baseline keeps fewer than 10 documents of a ranking"
    if verdict.replay is not None:
        for line in replay_lines(verdict.replay):
            yield Topic.REPLAYS, f": {line}"


def ungated_note(
    golden_name: str,
    metrics: Sequence[str],
    not_gated: Sequence[tuple[str, int]],
    *,
    kind: MeasurementKind,
    slices: int,
    min_queries: int,
) -> Note:
    """Return the slices that an assertion names but does not gate.

    Args:
        golden_name: the golden set or session log.
        metrics: the metrics that have these slices.
        not_gated: the label of each slice, and its size.
        kind: what has a value.
        slices: the number of slices, gated or not.
        min_queries: the smallest slice that is gated.
    """
    gated = slices - len(not_gated)
    names = [f"{quoted(label, 60)} ({kind.counted(size)})" for label, size in not_gated[:_SLICES]]
    if len(not_gated) > _SLICES:
        names.append(f"and {len(not_gated) - _SLICES:,} more")
    text = f"{gated:,} of {plural(slices, 'slice')} gated; not gated: {', '.join(names)}"
    topic = Topic.UNGATED_SLICES if gated else Topic.NO_SLICE_GATED
    start = _start(golden_name, ", ".join(metrics))
    return Note(topic, f"{start}: {text}; min_queries={min_queries}", of_test=True)
