"""Comparing rankings with those of the baseline, without judgments: ``assert_ranking_stable``."""

from __future__ import annotations

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.entered_findings import conclude
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.measured_runs import evaluate
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.reports.findings import Topic
from pytest_rankcheck.reports.text.behaviour_text import stability_note
from pytest_rankcheck.reports.text.blocked_text import blocked_rankings


@checked_arguments
def assert_ranking_stable(
    ranking_run: Run | Evaluation,
    baseline: Baseline,
    min_rbo: float | None = 0.9,
    p: float = 0.9,
    *,
    min_overlap: float | None = None,
    max_kendall: float | None = None,
    min_tau_ap: float | None = None,
    max_changed_queries: float | None = None,
    k: int = 10,
    allowed_queries: int = 0,
) -> None:
    """Fail if the rankings differ from those of the baseline; no judgments are needed.

    For refactorings and migrations that should change nothing. The baseline is created, kept and
    approved like those of metrics. An update does not record changes within the limits, so small
    changes cannot add up. It keeps the limits, too: looser ones need a reason.

    Args:
        ranking_run: the fixture ``ranking_run``; or the ``evaluation``, which also knows the texts
            of the queries, so that a query whose text changed is not compared.
        baseline: the fixture ``baseline``.
        min_rbo: the lowest rank-biased overlap of any query; None: no limit.
        p: the patience of RBO.
        min_overlap: the lowest share of the top k that any query keeps.
        max_kendall: the largest Kendall distance, from 0 to 1, between the two top k of any query.
        min_tau_ap: the lowest AP correlation of any query with its approved ranking.
        max_changed_queries: how many queries may have a different top k: a number, or a share
            below 1. With 0, no query may change.
        k: how many documents of each ranking count, and are recorded.
        allowed_queries: how many queries may exceed the limits on a single query, however far.

    Raises:
        AssertionError: rankings changed by more than allowed, or there is no baseline.
        ConfigurationError: a limit is invalid, or can never fail.
        MetricError: ``k`` is larger than the depth that the ranker was asked for.
        BaselineError: the baseline file cannot be read.
        RunError: the ``evaluation`` is given, and no ranked document is judged in any of at least 5
            queries.
    """
    limits = StabilityLimits(
        min_rbo, p, min_overlap, max_kendall, min_tau_ap, max_changed_queries, k, allowed_queries
    )
    if isinstance(ranking_run, Evaluation):
        evaluation = ranking_run
    else:
        unjudged: dict[str, dict[str, float]] = {query_id: {} for query_id in ranking_run.query_ids}
        name = ranking_run.asked or ranking_run.name
        evaluation = evaluate(ranking_run, GoldenSet.from_dict(unjudged, name=name))
    evaluation.refuse_unmet_ids()
    evaluation.refuse_beyond_depth("assert_ranking_stable", limits.k)
    limits.refuse_never_failing(len(evaluation.query_ids))
    check, block = baseline.check_rankings(evaluation, limits)
    note = stability_note(check, evaluation)
    explanation = block and blocked_rankings(check, block, evaluation, baseline.place)
    conclude(Topic.STABILITY, note, explanation or None)
