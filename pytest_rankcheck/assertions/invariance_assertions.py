"""Checks that perturbed queries keep their answers, or move them in a known direction."""

from __future__ import annotations

from typing import Unpack

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.entered_findings import conclude
from pytest_rankcheck.behaviour.changed_queries import Perturb
from pytest_rankcheck.behaviour.perturbed_answers import (
    Direction,
    DirectionLimits,
    DirectionScope,
    InvarianceLimits,
    perturbed_answers,
)
from pytest_rankcheck.behaviour.repeated_ranker import RepeatedRanker
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.explanation.answered_queries import changed_answers
from pytest_rankcheck.explanation.explanation import Explanation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.rankers.rank import RankOptions
from pytest_rankcheck.reports.findings import Topic
from pytest_rankcheck.reports.text.invariance_text import (
    direction_facts,
    direction_note,
    invariance_facts,
    invariance_note,
    perturbed_headline,
    to_fix,
)


@checked_arguments
def assert_invariant(
    ranker: object,
    golden_set: GoldenSet,
    perturbation: str | Perturb,
    *,
    min_rbo: float | None = None,
    max_drop: float | None = None,
    min_mean_rbo: float | None = None,
    max_mean_drop: float | None = None,
    metric: MetricLike = "nDCG@10",
    p: float = 0.9,
    allowed_queries: int = 0,
    min_queries: int = 1,
    seed: int = 0,
    **options: Unpack[RankOptions],
) -> None:
    """Fail if perturbing queries changes their answers.

    The queries that the perturbation changes are ranked as they are, and with each perturbed text
    or attribute. Without any limit, no ranking may change at all.

    Args:
        ranker: as for ``rank``.
        golden_set: the queries; perturbed queries keep their judgments.
        perturbation: ``"case"``, ``"white_space"``, ``"typo"`` or ``"word_order"``; or a function
            from a text (or from a query, if annotated ``Query``) to another text or query, or to
            several. For attributes, see ``counterfactual``.
        min_rbo: the lowest rank-biased overlap of the two rankings of any query, from 0 to 1.
        max_drop: how far the metric of any judged query may fall.
        min_mean_rbo: the lowest mean of the overlaps.
        max_mean_drop: how far the mean of the metric may fall.
        metric: what may fall: a name such as ``"nDCG@10"``.
        p: the patience of the rank-biased overlap.
        allowed_queries: how many queries may be beyond ``min_rbo`` and ``max_drop``. A query on
            which the ranker fails is never allowed.
        min_queries: how many queries the perturbation must change, so that something is checked.
        seed: the seed of typing errors.
        options: ``depth``, ``ties``, ``duplicates``, ``doc_id``, ``concurrency``, ``timeout``,
            ``retries`` and ``retry_on``, as for ``rank``.

    Raises:
        AssertionError: a limit is exceeded, or the ranker fails on a perturbed query; the text
            shows the worst queries with both rankings.
        RankerError: the ranker fails on an unchanged query.
        RunError: every ranking is empty; or the metric is limited, and no ranked document is judged
            in any of at least 5 queries.
        ConfigurationError: an argument is invalid, a limit can never fail, too few queries are
            perturbed, or the perturbation changes only attributes that the ranker does not receive.
        MetricError: unknown metric.
    """
    if all(limit is None for limit in (min_rbo, max_drop, min_mean_rbo, max_mean_drop)):
        min_rbo = 1.0
    if allowed_queries and min_rbo is None and max_drop is None:
        raise ConfigurationError(
            "allowed_queries= applies to limits on single queries, but only limits on the mean are "
            "given; give min_rbo= or max_drop=, or leave allowed_queries= out"
        )
    limits = InvarianceLimits(min_rbo, min_mean_rbo, max_drop, max_mean_drop, allowed_queries)
    asked, chosen = RepeatedRanker.of(ranker, options), Metric.parse(metric)
    result = perturbed_answers(
        asked, golden_set, perturbation, chosen, p=p, seed=seed, min_queries=min_queries
    )
    if limits.on_metric:
        result.refuse_unjudged(golden_set)
    limits.refuse_never_failing(result)
    explanation = None
    if limits.fails(result):
        beyond = limits.beyond(result) or result.by_query
        explanation = Explanation(
            golden_set=golden_set.name,
            headline=perturbed_headline(golden_set, result, "by more than allowed"),
            facts=(*invariance_facts(result, limits),),
            to_fix=to_fix(result, limits),
            **changed_answers(golden_set, result, beyond, limits.severity),
        )
    conclude(Topic.INVARIANCE, invariance_note(golden_set, result), explanation)


@checked_arguments
def assert_direction(
    ranker: object,
    golden_set: GoldenSet,
    perturbation: str | Perturb,
    direction: Direction,
    *,
    metric: MetricLike = "nDCG@10",
    slack: float = 0.0,
    of: DirectionScope = "query",
    allowed_queries: int = 0,
    min_queries: int = 1,
    p: float = 0.9,
    seed: int = 0,
    **options: Unpack[RankOptions],
) -> None:
    """Fail if changing queries moves their answers in the wrong direction.

    Args:
        ranker: as for ``rank``.
        golden_set: the queries, with judgments.
        perturbation: as for `assert_invariant`.
        direction: ``"not_better"`` or ``"not_worse"``, by the metric.
        metric: a name such as ``"nDCG@10"``.
        slack: how much better or worse it may still be.
        of: what must hold: every ``"query"``, or their ``"mean"``.
        allowed_queries: how many queries may move in the wrong direction.
        min_queries: how many queries the perturbation must change.
        p: the patience of the rank-biased overlap, which is shown.
        seed: the seed of typing errors.
        options: as for `assert_invariant`.

    Raises:
        AssertionError: too many queries, or their mean, move in the wrong direction; the text
            shows the worst queries with both rankings.
        Exception: as in `assert_invariant`.
    """
    directed = DirectionLimits(direction, slack, of, allowed_queries)
    asked, chosen = RepeatedRanker.of(ranker, options), Metric.parse(metric)
    result = perturbed_answers(
        asked, golden_set, perturbation, chosen, p=p, seed=seed, min_queries=min_queries
    )
    result.refuse_unjudged(golden_set)
    directed.refuse_never_failing(result)
    beyond = directed.beyond(result)
    explanation = None
    if directed.fails(result, beyond):
        explanation = Explanation(
            golden_set=golden_set.name,
            headline=perturbed_headline(golden_set, result, "in the wrong direction"),
            facts=(*direction_facts(result, directed, beyond),),
            **changed_answers(golden_set, result, beyond or result.by_query, directed.severity),
        )
    conclude(Topic.DIRECTION, direction_note(golden_set, result, directed), explanation)
