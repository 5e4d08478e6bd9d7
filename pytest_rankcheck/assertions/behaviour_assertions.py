"""Checks of what a ranker does: asked again, for more documents, or in other words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.entered_findings import conclude
from pytest_rankcheck.behaviour.changed_queries import Perturb
from pytest_rankcheck.behaviour.determinism_check import (
    VARIED,
    DeterminismOptions,
    Varied,
    check_depths,
    check_determinism,
)
from pytest_rankcheck.behaviour.perturbed_answers import (
    InvarianceLimits,
    perturbed_answers,
)
from pytest_rankcheck.behaviour.repeated_ranker import Fresh, RankerSource, RepeatedRanker
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.explanation.answered_queries import changed_answers, differing_answers
from pytest_rankcheck.explanation.explanation import Explanation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.rankers.rank import RankOptions
from pytest_rankcheck.rankers.ranker_lookup import load_ranker, specification_of
from pytest_rankcheck.reports.findings import Topic
from pytest_rankcheck.reports.text.behaviour_text import (
    DEPTH_ADVICE,
    INVARIANCE_ADVICE,
    depth_facts,
    depth_note,
    determinism_facts,
    determinism_note,
    invariance_facts,
    invariance_note,
    perturbed_headline,
)


@checked_arguments
def assert_deterministic(
    ranker: object,
    golden_set: GoldenSet,
    repeats: int = 3,
    *,
    insensitive_to: Varied | Sequence[Varied] = VARIED,
    fresh: Fresh | None = None,
    **options: Unpack[RankOptions],
) -> None:
    """Fail if a ranker does not always rank the documents of a query in the same order.

    It ranks all queries ``repeats`` times, and then again under each condition that applies: with
    other batch sizes (``batch``, ``model``, ``embedder``), with the queries
    in another order, by a new instance in reverse order, and in a new process with another hash
    seed. It stops at the first condition under which answers differ.

    A ranker that is given by name, ``package.module:name``, is also asked in a new process; if the
    name ends with ``()``, a new instance is asked too. The fixture ``ranker`` counts as given by
    name if the configuration names it. If ranking is slow, pass a sample of the golden set.

    Args:
        ranker: as for ``rank``; or its name, ``package.module:name``.
        golden_set: the queries; the judgments only matter as candidates.
        repeats: how often the ranker ranks under the same conditions, at least 2.
        insensitive_to: what must not matter: ``"batch"``, ``"order"``, ``"fresh"`` and
            ``"process"``; with ``()`` only the repeats are compared. It is an error if each of them
            lacks the argument that it needs.
        fresh: makes a new ranker: a function or class that is called without arguments, or its
            name, ``package.module:make_ranker``, by which the new process makes it too.
        options: ``depth``, ``ties``, ``duplicates``, ``doc_id``, ``concurrency``, ``timeout``,
            ``retries`` and ``retry_on``, as for ``rank``.

    Raises:
        AssertionError: a query was ranked differently, or failed; the text says under which
            condition, and shows both rankings.
        RankerError: the ranker fails the first time, or in the new process, or ``fresh`` fails.
        RunError: every ranking is empty.
        ConfigurationError: an argument is invalid.
    """
    name = ranker.strip() if isinstance(ranker, str) else specification_of(ranker)
    ranker = load_ranker(ranker) if isinstance(ranker, str) else ranker
    conditions = (insensitive_to,) if isinstance(insensitive_to, str) else insensitive_to
    ways = DeterminismOptions(repeats, conditions)
    asked = RepeatedRanker.of(ranker, options)
    result = check_determinism(asked, golden_set, ways, RankerSource.of(ranker, name, fresh))
    note, explanation = determinism_note(golden_set, result), None
    if result.broken is not None:
        explanation = Explanation(
            golden_set=golden_set.name,
            headline=note,
            facts=(*determinism_facts(golden_set, result),),
            **differing_answers(golden_set, result.broken.differences, ("first", "then")),
        )
    conclude(Topic.DETERMINISM, note, explanation)


@checked_arguments
def assert_consistent_depth(
    ranker: object,
    golden_set: GoldenSet,
    depths: Sequence[int] = (10, 20, 50),
    **options: Unpack[RankOptions],
) -> None:
    """Fail if the top of a ranking changes when the ranker is asked for more documents.

    An approximate index searches further when it is asked for more documents: its top 10 at depth
    100 is better than the top 10 that users see. Every query is ranked once at each depth; for
    every two depths, the ranking at the smaller one must be the start of the ranking at the larger
    one.

    Args:
        ranker: as for ``rank``, with a parameter ``depth`` or ``k``; or its name,
            ``package.module:name``.
        golden_set: the queries; with judgments, the failure shows nDCG, cut at the smallest depth,
            for each requested depth.
        depths: two or more depths.
        options: ``ties``, ``duplicates``, ``doc_id``, ``concurrency``, ``timeout``, ``retries`` and
            ``retry_on``, as for ``rank``.

    Raises:
        AssertionError: the top of a query differs between two depths; the text shows both tops.
        RankerError: the ranker fails.
        RunError: every ranking is empty.
        ConfigurationError: an argument is invalid; or the ranker does not take the depth, so the
            check could not fail.
    """
    if "depth" in options:
        raise ConfigurationError("depth= has no effect here; give depths=(10, 20, 50)")
    result = check_depths(RepeatedRanker.of(ranker, options), golden_set, depths)
    note, explanation = depth_note(golden_set, result), None
    if result.broken:
        labels = (f"depth {result.worst.shallow}", f"depth {result.worst.deep}")
        explanation = Explanation(
            golden_set=golden_set.name,
            headline=note,
            facts=(*depth_facts(result),),
            to_fix=DEPTH_ADVICE,
            **differing_answers(golden_set, result.worst.differences, labels),
        )
    conclude(Topic.DEPTH, note, explanation)


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
            headline=perturbed_headline(golden_set, result),
            facts=(*invariance_facts(result, limits),),
            to_fix=INVARIANCE_ADVICE,
            **changed_answers(golden_set, result, beyond, limits.severity),
        )
    conclude(Topic.INVARIANCE, invariance_note(golden_set, result), explanation)
