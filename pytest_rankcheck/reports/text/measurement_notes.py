"""Notes on what was measured: weights, missing queries, ties and the noise of a ranker."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pytest_rankcheck.errors import MetricWarning, listed, plural, quoted
from pytest_rankcheck.evaluation.evaluation import MIN_QUERIES, Evaluation
from pytest_rankcheck.golden.lint.lint_rule import LintOptions
from pytest_rankcheck.golden.lint.linter import findings_of
from pytest_rankcheck.metrics.metric_names import Metric, usual_metrics
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.reports.text.wording import (
    golden_name,
    number_text,
    unanswered_text,
)

_USUAL = LintOptions()
_TINY = 0.1
"""An effective sample size below this share of the queries causes a warning."""
_MANY_ALIKE = 5
"""From this number of queries on, one ranking for all of them causes a warning."""
_MANY_UNANSWERED = 0.05
"""From this share of the queries on, empty answers cause a warning."""
_LINTED = {
    "no-judgment": Topic.MISLEADING,
    "no-relevant": Topic.MISLEADING,
    "reversed-grades": Topic.MISLEADING,
}
"""Lint findings that one needs to read a mean; the others are for ``--rankcheck-lint``."""


def evaluation_notes(evaluation: Evaluation, options: LintOptions = _USUAL) -> Iterator[Note]:
    """Yield what a reader of the means must know about the golden set and the run.

    Args:
        evaluation: what was measured.
        options: those of the linter.
    """
    if evaluation.source.identical:
        yield Note(Topic.MISLEADING, f"{golden_name(evaluation)}: {evaluation.source.identical}")
    for text in evaluation.notes:
        if text in evaluation.source.document_notes:
            continue
        yield Note(Topic.MEASURED, f"{golden_name(evaluation)}: {text}")
    if evaluation.kind.recur:
        options = replace(options, no_relevant=evaluation.conventions.no_relevant)
        for finding in findings_of(evaluation.golden, options, _LINTED):
            text = f"{golden_name(evaluation)}: {finding.message}"
            yield Note(_LINTED[finding.rule], text)
        for topic, text in _remarks(evaluation):
            yield Note(topic, f"{golden_name(evaluation)}: {text}")
        yield from tie_notes(evaluation)
    if evaluation.source.unmet_ids is not None:
        yield Note(Topic.UNMET_IDS, "; ".join(evaluation.source.unmet_ids.lines))


def _remarks(evaluation: Evaluation) -> Iterator[tuple[Topic, str]]:
    """Yield what must be known about a golden set and its run, to follow its name."""
    golden, missing, extra = evaluation.golden, evaluation.missing, evaluation.extra
    if golden.replay is not None:
        from pytest_rankcheck.comparison.rank_changes import TOP
        from pytest_rankcheck.comparison.unjudged_documents import unseen_share

        share = unseen_share(evaluation)
        if share:
            text = f"{share:.0%} of the top {TOP} was never shown in its search"
            yield Topic.MEASURED, f"{text}, and counts as not relevant"
    if golden.weights is not None:
        size = golden.effective_size
        queries = plural(len(golden), "weighted query", "weighted queries")
        warning = ""
        if size < MIN_QUERIES or size < _TINY * len(golden):
            warning = (
                ", too small: few queries carry most of the weight, and a fall of the others "
                "hardly moves a mean; gate the set without weights too"
            )
        topic = Topic.MISLEADING if warning else Topic.MEASURED
        yield topic, f"the effective sample size of {queries} is {size:,.1f}{warning}"
    for metric in evaluation.computed:
        left_out = sum(map(math.isnan, evaluation.values(metric).tolist()))
        if metric.definition.aggregate == "by_judged" and left_out:
            queries = plural(left_out, "query", "queries")
            text = f"{metric} has no value for {queries} of {len(golden):,}, left out"
            yield Topic.MEASURED, text
    if evaluation.failed or len(evaluation.unanswered) >= max(1, _MANY_UNANSWERED * len(golden)):
        yield Topic.MISLEADING, unanswered_text(evaluation)
    rankings = map(evaluation.ranking, evaluation.query_ids)
    first = next(rankings)
    if first and len(golden) >= _MANY_ALIKE and all(each == first for each in rankings):
        same = f"all {len(golden):,} queries have the same ranking: {listed(first)}"
        yield Topic.MISLEADING, f"{same}; does the ranker read the query?"
    if missing:
        count = plural(len(missing), "judged query is", "judged queries are")
        text = f"{count} not in the run and counted as empty rankings: {listed(missing)}"
        yield Topic.MISLEADING, text
    if extra:
        count = plural(len(extra), "query", "queries")
        yield Topic.MEASURED, f"{count} of the run without judgments, not measured: {listed(extra)}"


def document_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield what metrics did not know about documents; the same note may come again."""
    for text, is_about_many in evaluation.source.document_notes.items():
        topic = Topic.MISLEADING if is_about_many else Topic.MEASURED
        yield Note(topic, f"{golden_name(evaluation)}: {text}")


def tie_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield a warning if tied scores leave the order of most rankings open, or if that is unknown.

    A large file is not read just for this, and parts have no scores.
    """
    start = f"golden set '{quoted(evaluation.golden.name)}'"
    run = f"run '{quoted(evaluation.name)}'"
    if not evaluation.source.knows_ties:
        text = (
            f"tied scores were not looked for, because {run} is a large file or was merged from "
            "parts; evaluation.tie_range(metric) reads the file and looks for them"
        )
        yield Note(Topic.MEASURED, f"{start}: {text}")
        return
    tied = evaluation.source.mostly_tied
    if not tied:
        return
    metric = usual_metrics(evaluation.depth)[0]
    with warnings.catch_warnings():  # the evaluation itself has warned already
        warnings.simplefilter("ignore", MetricWarning)
        low, high = (f"{mean:.4f}" for mean in evaluation.tie_range(metric))
    effect = f"depending on how ties are ordered, {metric} ranges from {low} to {high} (tie_range)"
    text = (
        f"the scores of {run} are mostly tied, as in query '{quoted(tied[0])}'; "
        f"{effect}; does the ranker return its real scores?"
    )
    yield Note(Topic.MISLEADING, f"{start}: {text}")


def noise_notes(evaluation: Evaluation, metrics: Iterable[str]) -> Iterator[Note]:
    """Yield how much metrics vary between the averaged runs."""
    for metric in metrics:
        averaged = evaluation.averaged(Metric.parse(metric), evaluation.query_ids)
        means = averaged.means
        if not means:
            return
        low, high = number_text(min(means)), number_text(max(means))
        deviation = number_text(averaged.deviation, 6)
        text = f"{metric} has a standard deviation of {deviation}, from {low} to {high}"
        yield Note(Topic.RUN_NOISE, f"{golden_name(evaluation)}: {text}", str(len(means)))
