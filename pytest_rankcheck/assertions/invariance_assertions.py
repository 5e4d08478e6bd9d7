"""Checks that perturbed queries keep their answers, or move them in a known direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.compared_answers import refuse_unjudged
from pytest_rankcheck.behaviour.perturbation_limits import (
    Direction,
    DirectionLimits,
    DirectionScope,
    InvarianceLimits,
)
from pytest_rankcheck.behaviour.perturbed_answers import (
    PerturbedQuery,
    perturbed_answers,
)
from pytest_rankcheck.behaviour.query_changes import Perturb
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.rankers.rank import RankOptions
from pytest_rankcheck.reports.ledger import enter
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.invariance_text import (
    direction_note,
    direction_text,
    invariance_note,
    invariance_text,
)

if TYPE_CHECKING:
    from pytest_rankcheck.behaviour.document_changes import ChangedDocument

__all__ = ["assert_direction", "assert_invariant"]


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
        perturbation: the name of a built-in one (see ``perturbations``), or a function from a text
            (or from a query, if annotated ``Query``) to another text or query, or to several. For
            attributes, see ``counterfactual``.
        min_rbo: the lowest rank-biased overlap of the two rankings of any query, from 0 to 1.
        max_drop: how far the metric of any judged query may fall.
        min_mean_rbo: the lowest mean of the overlaps.
        max_mean_drop: how far the mean of the metric may fall.
        metric: what may fall: a name such as ``"nDCG@10"``.
        p: the patience of the rank-biased overlap.
        allowed_queries: how many queries may be beyond ``min_rbo`` and ``max_drop``. A query on
            which the ranker fails is never allowed.
        min_queries: how many queries the perturbation must change, so that something is checked.
        seed: of the random numbers, for typos.
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
        MetricError: unknown metric, or ``p`` is not between 0 and 1.
    """
    __tracebackhide__ = True
    if all(limit is None for limit in (min_rbo, max_drop, min_mean_rbo, max_mean_drop)):
        min_rbo = 1.0
    if allowed_queries and min_rbo is None and max_drop is None:
        raise ConfigurationError(
            "allowed_queries= applies to limits on single queries, but only limits on the mean are "
            "given; give min_rbo= or max_drop=, or leave allowed_queries= out"
        )
    limits = InvarianceLimits(min_rbo, min_mean_rbo, max_drop, max_mean_drop, allowed_queries)
    result = perturbed_answers(
        RepeatedRanker.of(ranker, golden_set, options),
        golden_set,
        perturbation,
        Metric.parse(metric),
        p=p,
        seed=seed,
        min_queries=min_queries,
    )
    if limits.on_metric:
        refuse_unjudged(golden_set, result)
    limits.refuse_never_failing(result)
    text = invariance_text(golden_set, result, limits) if limits.fails(result) else None
    enter(Note(Topic.INVARIANCE, invariance_note(golden_set, result), failure=text))
    if text is not None:
        raise AssertionError(text)


@checked_arguments
def assert_direction(
    ranker: object,
    golden_set: GoldenSet,
    perturbation: str | Perturb,
    direction: Direction | Callable[[PerturbedQuery], bool] | Callable[[ChangedDocument], bool],
    *,
    documents: Mapping[Any, Any] | Sequence[Any] | None = None,
    metric: MetricLike = "nDCG@10",
    slack: float = 0.0,
    of: DirectionScope = "query",
    allowed_queries: int = 0,
    min_queries: int = 1,
    queries: int | None = None,
    p: float = 0.9,
    seed: int = 0,
    **options: Unpack[RankOptions],
) -> None:
    """Fail if changing queries or documents moves answers in the wrong direction.

    With ``documents``, a document of the index is changed: with a lower price or more stock, for
    example, it must not move down. For each query, one of its top documents is changed: the one at
    rank 6, or in the middle of a shorter ranking; if the change leaves that one as it is, the
    nearest of the top ten that it does change. Each changed document needs an index of its own, so
    only 10 queries are checked by default.

    Args:
        ranker: as for ``rank``. With ``documents``, a function that builds an index from documents,
            as for ``assert_index_invariant``, and returns a ranker.
        golden_set: the queries, with judgments; with ``documents``, no judgments are needed.
        perturbation: as for `assert_invariant`. With ``documents``, a function from a document to
            the changed document; its id must stay.
        direction: ``"not_better"`` or ``"not_worse"``, by the metric; or a function that takes a
            ``PerturbedQuery``, with both rankings and values, and returns whether it is correct.
            With ``documents``, the rank of the changed document decides, and the function takes a
            ``ChangedDocument``.
        documents: the documents of the index, as for ``assert_index_invariant``.
        metric: a name such as ``"nDCG@10"``; not allowed with ``documents``.
        slack: how much better or worse it may still be; with ``documents``, by how many ranks.
        of: what must hold: every ``"query"``, or their ``"mean"``.
        allowed_queries: how many queries may move in the wrong direction.
        min_queries: how many queries the perturbation must change; with ``documents``, for how many
            queries it must change a document.
        queries: with ``documents``, the most queries to check, drawn by ``seed``; None: 10.
        p: the patience of the rank-biased overlap, which is shown.
        seed: the seed for the random numbers.
        options: as for `assert_invariant`.

    Raises:
        AssertionError: too many queries move in the wrong direction, or the mean does; the text
            shows the worst queries with both rankings.
        Exception: as in `assert_invariant`, and whatever ``direction`` raises; with ``documents``,
            as in ``assert_index_invariant``.
    """
    __tracebackhide__ = True
    directed = DirectionLimits(direction, slack, of, allowed_queries)
    if documents is not None:
        from pytest_rankcheck.assertions.index_assertions import check_changed_documents

        _refuse_query_options(perturbation, metric)
        check_changed_documents(
            ranker,
            documents,
            golden_set,
            perturbation,
            directed,
            queries=queries,
            min_queries=min_queries,
            p=p,
            seed=seed,
            options=options,
        )
        return
    if queries is not None:
        raise ConfigurationError(
            "queries= is for documents=; to check fewer queries, pass a sample"
        )
    result = perturbed_answers(
        RepeatedRanker.of(ranker, golden_set, options),
        golden_set,
        perturbation,
        Metric.parse(metric),
        p=p,
        seed=seed,
        min_queries=min_queries,
    )
    if not callable(direction):
        refuse_unjudged(golden_set, result)
    directed.refuse_never_failing(result, result.range_of_metric)
    beyond = directed.beyond(result)
    failed = directed.fails(result, beyond)
    text = direction_text(golden_set, result, directed, beyond) if failed else None
    enter(Note(Topic.DIRECTION, direction_note(golden_set, result, directed), failure=text))
    if text is not None:
        raise AssertionError(text)


def _refuse_query_options(change: object, metric: object) -> None:
    """Refuse arguments that have no meaning when documents are changed.

    Raises:
        ConfigurationError: the change is the name of a perturbation, or a metric is given.
    """
    if not callable(change):
        raise ConfigurationError(
            f"perturbation={quoted(repr(change), 60)} is invalid with documents=; give a function "
            "that takes a document and returns another version of it"
        )
    if metric != "nDCG@10":
        raise ConfigurationError(
            "with documents=, the rank of the changed document decides; leave metric= out"
        )
