"""Checks of an index: how its answers change with its documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from pytest_rankcheck.argument_checks import check_whole_number, checked_arguments
from pytest_rankcheck.behaviour.compared_answers import refuse_unjudged
from pytest_rankcheck.behaviour.document_changes import (
    DocumentResult,
    appended_query,
    changed_document_answers,
)
from pytest_rankcheck.behaviour.index_builds import USUAL_SAMPLE, Build, IndexBuilds, sampled
from pytest_rankcheck.behaviour.index_documents import IndexDocuments
from pytest_rankcheck.behaviour.index_relations import IndexSetting, index_answers
from pytest_rankcheck.behaviour.perturbation_limits import DirectionLimits, InvarianceLimits
from pytest_rankcheck.behaviour.relation_rules import RELATIONS, Relation
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.rankers.rank import RankOptions
from pytest_rankcheck.reports.ledger import enter
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.index_text import (
    document_note,
    document_text,
    relation_note,
    relation_text,
)

__all__ = ["assert_index_invariant", "check_changed_documents"]


@checked_arguments
def assert_index_invariant(
    build: Build,
    documents: Mapping[Any, Any] | Sequence[Any],
    golden_set: GoldenSet,
    relation: Relation,
    *,
    k: int = 10,
    min_rbo: float | None = None,
    max_drop: float | None = None,
    min_mean_rbo: float | None = None,
    max_mean_drop: float | None = None,
    metric: MetricLike = "nDCG@10",
    p: float = 0.9,
    allowed_queries: int = 0,
    queries: int | None = None,
    fields: Sequence[str] | None = None,
    seed: int = 0,
    **options: Unpack[RankOptions],
) -> None:
    """Fail if changing the documents of an index changes answers that should stay the same.

    One index is built from the documents and queried. A second one is built without the top
    document of one query, to check that ``build`` uses its documents. Then one or more are built
    from changed documents. The relations are:

    - ``"order"``: the same documents in another order, drawn by ``seed``. The top k must stay the
      same.
    - ``"duplicate"``: the top document of each query has a copy with a new id, next to it. The top
      k must stay the same once the copies are left out; and a copy must have the score of its
      original (to 1e-6, absolute or relative); if the ranker returns no scores, it must be next to
      its original.
    - ``"irrelevant"``: 10% more documents (1,000 at most) are added at the end. They are as long as
      the existing ones, and their words share no sequence of three letters with any query. The
      top k must stay the same.
    - ``"remove_top"``: the first document of a query is removed. Ranks 2 to k + 1 must become ranks
      1 to k. Each removed document needs an index of its own.
    - ``"append_query_term"``: the text of the query is appended to the document at rank 6 (or in
      the middle of a shorter ranking); in a record, to the longest text. The document must not
      move down. Each query needs an index of its own.

    No relation is a law. Ties, length normalisation, truncation, dense encoders and the rarity of
    terms (IDF) break them for good reasons, so set a limit: by default no query may break one.

    Args:
        build: a function that takes documents, in the same form as ``documents``, and returns a
            ranker of them, as for ``rank``. It may replace an index in place.
        documents: all documents: ``{id: document}``, or a list of records with an id (``doc_id``,
            ``id``, ``_id``, ``docid`` or ``docno``). A document is a text, or a record: a dict or a
            dataclass.
        golden_set: the queries; judgments are needed only for limits on the metric.
        relation: what changes, and what must hold.
        k: how many documents of each ranking are compared.
        min_rbo: the lowest rank-biased overlap of the two top k of any query, from 0 to 1.
        max_drop: how far the metric of any judged query may fall.
        min_mean_rbo: the lowest mean of the overlaps.
        max_mean_drop: how far the mean of the metric may fall.
        metric: the metric that may fall; its cutoff may be at most k.
        p: the patience of the rank-biased overlap.
        allowed_queries: how many queries may break the relation or a limit. This is the only limit
            of ``append_query_term``.
        queries: the most queries to check, drawn by ``seed``; None: 10 for ``remove_top``
            and ``append_query_term``, all for the others, for which one changed index serves all.
        fields: the fields of records that hold text, for ``irrelevant`` and ``append_query_term``;
            None: all texts but the id.
        seed: the seed for the order, the words and the sample.
        options: ``depth``, ``ties``, ``duplicates``, ``concurrency`` and the others of ``rank``.

    Raises:
        AssertionError: too many queries break the relation or a limit, or the ranker fails after
            the change; the text shows the worst queries with both rankings.
        ConfigurationError: an argument is invalid, a limit can never fail, a ranked document is
            unknown, the documents have no text to change, or ``build`` seems to ignore its
            documents: an index built without the top document of a query still ranks it.
        RankerError: ``build`` fails, or the ranker fails on the unchanged documents.
        RunError: every ranking is empty; or the metric is limited, and no ranked document is judged
            in any of at least 5 queries.
    """
    __tracebackhide__ = True
    check_whole_number("allowed_queries", allowed_queries, 0, ConfigurationError)
    given = (min_rbo, max_drop, min_mean_rbo, max_mean_drop)
    rule, indexed = RELATIONS[relation], IndexDocuments.of(documents)
    builds = IndexBuilds(build, _to_depth(options, rule.depth(k), relation, k))
    chosen = sampled(golden_set, _checked_sample(queries), rule.sample, seed)
    is_unlimited = all(limit is None for limit in given)
    if relation == "append_query_term":
        _refuse_limits(is_unlimited)
        change = appended_query(fields)
        moved = changed_document_answers(
            builds, indexed, chosen, change, relation, p=p, min_queries=1
        )
        directed = DirectionLimits("not_worse", 0, "query", allowed_queries)
        _decide(golden_set, moved, directed, "relation")
        return
    measured = Metric.parse(metric)
    limits = InvarianceLimits(
        1.0 if is_unlimited else min_rbo, min_mean_rbo, max_drop, max_mean_drop, allowed_queries
    )
    if limits.on_metric:
        _check_cutoff(measured, k)
    setting = IndexSetting(
        builds=builds,
        documents=indexed,
        golden=chosen,
        metric=measured,
        k=k,
        p=p,
        seed=seed,
        fields=fields,
    )
    result = index_answers(relation, setting)
    if limits.on_metric:
        refuse_unjudged(chosen, result)
    limits.refuse_never_failing(result)
    text = relation_text(golden_set, result, limits) if limits.fails(result) else None
    _enter(Topic.INVARIANCE, relation_note(golden_set, result), text)


def check_changed_documents(
    build: Any,
    documents: object,
    golden: GoldenSet,
    change: Any,
    limits: DirectionLimits,
    *,
    queries: int | None,
    min_queries: int,
    p: float,
    seed: int,
    options: RankOptions,
) -> None:
    """Fail if changed documents move in the wrong direction: ``assert_direction(documents=...)``.

    The arguments are those of `assert_direction`.

    Raises:
        AssertionError: too many documents move in the wrong direction, or the mean does.
        Exception: as in `assert_index_invariant`.
    """
    __tracebackhide__ = True
    check_whole_number("min_queries", min_queries, 0, ConfigurationError)

    def changed(record: Any, query: Query, doc_id: str) -> Any:
        return change(record)

    result = changed_document_answers(
        IndexBuilds(build, options),
        IndexDocuments.of(documents),
        sampled(golden, _checked_sample(queries), USUAL_SAMPLE, seed),
        changed,
        name_of(change),
        p=p,
        min_queries=min_queries,
    )
    _decide(golden, result, limits, "change")


def _decide(golden: GoldenSet, result: DocumentResult, limits: DirectionLimits, kind: str) -> None:
    __tracebackhide__ = True
    most = result.most_up if limits.direction == "not_better" else result.most_down
    limits.refuse_never_failing(result, most)
    beyond = limits.beyond(result)
    failed = limits.fails(result, beyond)
    text = document_text(golden, result, limits, beyond, kind) if failed else None
    _enter(Topic.DIRECTION, document_note(golden, result, limits, kind), text)


def _enter(topic: Topic, note: str, failure: str | None) -> None:
    __tracebackhide__ = True
    enter(Note(topic, note, failure=failure))
    if failure is not None:
        raise AssertionError(failure)


def _refuse_limits(is_unlimited: bool) -> None:
    if not is_unlimited:
        raise ConfigurationError(
            "append_query_term is about the rank of one document; its only limit is "
            "allowed_queries="
        )


def _check_cutoff(metric: Metric, k: int) -> None:
    """Check that a limited metric looks only at the documents that are compared."""
    if metric.cutoff is None or metric.cutoff > k:
        raise ConfigurationError(
            f"{metric} looks below the compared top {k}; give a cutoff of at most {k}, or raise k"
        )


def _to_depth(options: RankOptions, needed: int, relation: str, k: int) -> RankOptions:
    """Return the options with the depth that a relation needs, unless a larger one is given."""
    depth = options.get("depth", needed)
    if isinstance(depth, int) and depth < needed:
        raise ConfigurationError(
            f"depth={quoted(depth)} is too small: relation '{relation}' of the top {k} needs "
            f"{needed:,} documents; leave depth= out, or lower k"
        )
    return {**options, "depth": depth}


def _checked_sample(queries: int | None) -> int | None:
    if queries is not None:
        check_whole_number("queries", queries, 1, ConfigurationError)
    return queries
