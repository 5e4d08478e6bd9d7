"""Notes on what was measured: weights, missing queries, the time and the noise of a ranker."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence

from pytest_rankcheck.errors import MetricWarning, listed, plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import MIN_QUERIES
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.golden.lint.linter import findings_of
from pytest_rankcheck.metrics.metric_names import Metric, usual_metrics
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.wording import duration, number_text

__all__ = ["evaluation_notes", "noise_notes", "tie_notes", "timing_notes", "unmet_id_notes"]

_TINY = 0.1
"""An effective sample size below this share of the queries causes a warning."""
_SLOWEST = 3
_HOPELESS = ("no-judgment", "only-expectations", "no-relevant", "merged-ids")
"""Lint findings without which a mean is misread; the others are for ``--rankcheck-lint``."""


def evaluation_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield what a reader of the means must know about the golden set and the run."""
    name = quoted(evaluation.golden.name)
    if evaluation.unit == "session":
        for text in evaluation.notes:
            yield Note(Topic.MEASURED, f"session log '{name}': {text}")
        return
    for text in evaluation.notes:
        yield Note(Topic.MEASURED, f"golden set '{name}': {text}")
    yield from _unseen_notes(evaluation)
    yield from _weight_notes(evaluation)
    yield from tie_notes(evaluation)
    for finding in findings_of(evaluation.golden, LintOptions(), _HOPELESS):
        yield Note(Topic.MEASURED, f"golden set '{name}': {finding.message}")
    yield from unmet_id_notes(evaluation)
    twice = evaluation.run.differing if evaluation.run else ()
    if twice:
        verb = f"{'was' if len(twice) == 1 else 'were'} answered twice, differently"
        found = _not_deterministic(evaluation, twice, verb)
        yield Note(Topic.MEASURED, f"{found}; the first answer counts")
    if evaluation.missing:
        count = plural(len(evaluation.missing), "judged query is", "judged queries are")
        yield Note(
            Topic.MEASURED,
            f"golden set '{name}': {count} not in the run and counted as empty rankings: "
            f"{listed(evaluation.missing)}",
        )
    if evaluation.extra:
        count = plural(len(evaluation.extra), "query", "queries")
        verbs = ("has", "was") if len(evaluation.extra) == 1 else ("have", "were")
        yield Note(
            Topic.MEASURED,
            f"golden set '{name}': {count} of the run {verbs[0]} no judgments and {verbs[1]} "
            f"not measured: {listed(evaluation.extra)}",
        )


def _not_deterministic(evaluation: Evaluation, query_ids: Sequence[str], verb: str) -> str:
    """Return which queries have more than one ranking, and how that was seen."""
    of = plural(len(evaluation.query_ids), "query", "queries")
    return (
        f"golden set '{quoted(evaluation.golden.name)}': the ranker is not deterministic: "
        f"{len(query_ids):,} of {of} {verb} ({listed(query_ids)})"
    )


def unmet_id_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield what is wrong if judged documents are never or hardly ever ranked."""
    if evaluation.unmet_ids is not None:
        yield Note(Topic.UNMET_IDS, "; ".join(evaluation.unmet_ids.lines))


def _weight_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield the effective sample size, if queries have different weights."""
    golden = evaluation.golden
    if golden.weights is None:
        return
    size = golden.effective_size
    queries = plural(len(golden), "weighted query", "weighted queries")
    warning = ""
    if size < MIN_QUERIES or size < _TINY * len(golden):
        warning = (
            ", too small for a reliable mean: few selections carry most of the weight; replay a "
            "longer log, or clip more"
        )
    text = f"the effective sample size of {queries} is {size:,.1f}{warning}"
    yield Note(Topic.MEASURED, f"golden set '{quoted(golden.name)}': {text}")


def _unseen_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield how much of the top a replayed log never showed."""
    if evaluation.golden.replay is None:
        return
    from pytest_rankcheck.comparison.unseen_documents import TOP, unseen_share

    share = unseen_share(evaluation)
    if share:
        yield Note(
            Topic.MEASURED,
            f"golden set '{quoted(evaluation.golden.name)}': {share:.0%} of the top {TOP} was "
            "never shown in its search, and counts as not relevant",
        )


def tie_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield a warning if tied scores leave the order of most rankings open.

    Yield a note if this is unknown: a large file is not read only for this, and parts have no
    scores.
    """
    if not evaluation.has_ties_at_hand:
        yield Note(
            Topic.MEASURED,
            f"golden set '{quoted(evaluation.golden.name)}': tied scores were not looked for, "
            f"because run '{quoted(evaluation.name)}' {evaluation.why_no_ties}",
        )
        return
    tied = evaluation.mostly_tied
    if tied is None:
        return
    metrics = [
        metric
        for metric in evaluation.computed
        if metric.unit == "query" and not metric.definition.ir_measures
    ]
    metric = metrics[0] if metrics else Metric.parse(usual_metrics(evaluation.depth)[0])
    with warnings.catch_warnings():  # the evaluation itself has warned already
        warnings.simplefilter("ignore", MetricWarning)
        low, high = evaluation.tie_range(metric)
    yield Note(
        Topic.MEASURED,
        f"golden set '{quoted(evaluation.golden.name)}': the scores of run "
        f"'{quoted(evaluation.name)}' are mostly tied in {tied.queries:,} of "
        f"{plural(tied.looked_at, 'ranking')} (query '{quoted(tied.example)}': "
        f"{plural(tied.documents, 'document')}, {plural(tied.scores, 'distinct score')}); "
        f"depending on how ties are ordered, {metric} ranges from {low:.4f} to {high:.4f} "
        "(tie_range); does the ranker return its real scores?",
    )


def timing_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield how long the ranker took for a query, if it ran in this test session."""
    seconds = evaluation.run.seconds if evaluation.run else {}
    times = sorted(value for value in seconds.values() if not math.isnan(value))
    if not times:
        return
    slowest = sorted(seconds, key=lambda query_id: -seconds[query_id])[:_SLOWEST]
    slowest_text = ", ".join(
        f"{quoted(query_id, 40)} {duration(seconds[query_id])}" for query_id in slowest
    )
    middle, late = (duration(_quantile(times, share)) for share in (0.5, 0.95))
    yield Note(
        Topic.TIMING,
        f"golden set '{quoted(evaluation.golden.name)}': p50 {middle}, p95 {late}; "
        f"slowest {slowest_text}",
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest time that this share of the queries does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def noise_notes(evaluation: Evaluation, metrics: Iterable[str]) -> Iterator[Note]:
    """Yield how much metrics vary from run to run, and which rankings changed."""
    if not evaluation.repeats:
        return
    runs = 1 + len(evaluation.repeats)
    name = quoted(evaluation.golden.name)
    changed = evaluation.unstable
    if not changed:
        yield Note(Topic.REPEATS, f"golden set '{name}': all rankings are the same", str(runs))
        return
    verb = f"{'is' if len(changed) == 1 else 'are'} ranked differently"
    yield Note(Topic.REPEATS, _not_deterministic(evaluation, changed, verb), str(runs))
    for metric in metrics:
        means = [repeat.mean(metric) for repeat in (evaluation, *evaluation.repeats)]
        yield Note(
            Topic.REPEATS,
            f"golden set '{name}': {metric} has a standard deviation of "
            f"{number_text(evaluation.noise(metric), 6)}, from {number_text(min(means))} to "
            f"{number_text(max(means))}",
            str(runs),
        )
