"""What is found at the end of a test, beside what its assertions found; and its baseline settled.

pytest imports this at every start: what is heavy is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.fixtures import BASELINE
from pytest_rankcheck.reports.ledger import Entry

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.evaluation.evaluation import Evaluation

__all__ = ["SHOWN", "findings_beside", "settle"]

SHOWN = pytest.StashKey[dict[int, object]]()
"""The evaluations that are in a ledger already, kept so that their ids stay theirs."""

_LOOKED_AT = pytest.StashKey[dict[int, set[str]]]()
"""The metrics whose resolution is in a ledger already, by the id of the evaluation."""


def settle(baseline: Baseline, ledger: list[Entry]) -> None:
    """Write or keep the baseline of a test that has passed so far.

    Raises:
        AssertionError: the update is refused.
    """
    __tracebackhide__ = True
    from pytest_rankcheck.baselines.update_policy import Action
    from pytest_rankcheck.reports.text.blocked_text import refused_text
    from pytest_rankcheck.reports.text.summary_notes import baseline_notes

    settlement = baseline.settle()
    if settlement is None:
        return
    ledger.extend(baseline_notes(baseline, settlement))
    if settlement.action is Action.REFUSE:
        raise AssertionError(refused_text(settlement, baseline.command, baseline.shown_path))


def findings_beside(item: pytest.Item, ledger: Sequence[Entry]) -> Iterator[Entry]:
    """Yield what the summary and the reports say beside what assertions found.

    Args:
        item: the test, which has ended.
        ledger: what its assertions found.
    """
    yield from _of_baseline(item)
    for name in ("evaluation", "session_evaluation"):
        evaluation: Any = getattr(item, "funcargs", {}).get(name)
        # Somebody else's fixture of this name is not ours to look at, nor worth importing numpy.
        if type(evaluation).__module__.partition(".")[0] != "pytest_rankcheck":
            continue
        yield from _of_evaluation(item, evaluation, ledger)
        if item.config.stash[CONFIG].resolution:
            yield from _resolution(item, evaluation)
        if item.config.stash[CONFIG].reports.wanted:
            yield from _for_reports(item, evaluation, ledger)


def _of_baseline(item: pytest.Item) -> Iterator[Entry]:
    """Yield the recorded metrics that are not gated, and the plan where it is asked for."""
    if BASELINE not in item.stash:
        return
    from pytest_rankcheck.reports.text.summary_notes import watched_entries

    yield from watched_entries(item.stash[BASELINE])
    if item.config.stash[CONFIG].plan:
        from pytest_rankcheck.reports.text.plan_text import plan_entries

        yield from plan_entries(item.stash[BASELINE])


def _of_evaluation(
    item: pytest.Item, evaluation: Evaluation, ledger: Sequence[Entry]
) -> Iterator[Entry]:
    """Yield, once an evaluation, the configured metrics and what a reader must know of it.

    How much a metric varies from run to run is said of every metric that a test has measured.
    """
    shown = item.config.stash[SHOWN]
    if evaluation.repeats:
        from pytest_rankcheck.reports.text.summary_notes import noise_notes

        measured = dict.fromkeys(entry["metric"] for entry in ledger if "metric" in entry)
        yield from noise_notes(evaluation, [*measured, *item.config.stash[CONFIG].metrics])
    if id(evaluation) in shown:
        return
    shown[id(evaluation)] = evaluation
    from pytest_rankcheck.metrics.metric_names import Metric
    from pytest_rankcheck.reports.text.summary_notes import evaluation_notes, timing_notes

    for metric in map(Metric.parse, item.config.stash[CONFIG].metrics):
        if not evaluation.fits(metric):
            continue
        yield Entry(
            golden=evaluation.golden.name,
            queries=len(evaluation.query_ids),
            metric=str(metric),
            baseline=None,
            now=evaluation.mean(metric),
            verdict="",
            failed=False,
        )
    yield from evaluation_notes(evaluation)
    yield from timing_notes(evaluation)


def _resolution(item: pytest.Item, evaluation: Evaluation) -> Iterator[Entry]:
    """Yield what the metrics see that this and earlier tests have asked for, if there are new ones.

    The reports and the summary take the last, which has them all.
    """
    from pytest_rankcheck.reports.text.resolution_text import resolution_entries

    metrics = (*item.config.stash[CONFIG].metrics, *evaluation.computed)
    looked_at = item.config.stash.setdefault(_LOOKED_AT, {})
    before, now = looked_at.get(id(evaluation), set()), {str(metric) for metric in metrics}
    if not now <= before:
        looked_at[id(evaluation)] = before | now
        yield from resolution_entries(evaluation, metrics)


def _for_reports(
    item: pytest.Item, evaluation: Evaluation, ledger: Sequence[Entry]
) -> Iterator[Entry]:
    """Yield what reports show beside the gates of a test: configured metrics, what to judge."""
    from pytest_rankcheck.metrics.metric_names import Metric
    from pytest_rankcheck.reports.finding_detail import measurement_detail, unjudged_detail

    chosen = item.config.stash[CONFIG]
    metrics = [one for one in map(Metric.parse, chosen.metrics) if evaluation.fits(one)]
    baseline = item.stash.get(BASELINE, None)
    other = baseline.comparable_record if baseline else None
    if metrics:
        yield Entry(measurement=measurement_detail(evaluation, other, metrics))
    if chosen.reports.unjudged and evaluation.unit == "query":
        named = dict.fromkeys(entry["metric"] for entry in ledger if "detail" in entry)
        told = [*map(Metric.parse, named), *metrics]
        of_queries = [one for one in told if one.unit == "query"]
        yield Entry(unjudged=unjudged_detail(evaluation, of_queries))
