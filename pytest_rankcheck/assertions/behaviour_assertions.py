"""Checks of what a ranker does: expected, stable, asked again, deeper, or in other words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Unpack

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.entered_findings import conclude, enter_question, fail_with
from pytest_rankcheck.behaviour.changed_queries import Perturb
from pytest_rankcheck.behaviour.determinism_check import (
    VARIED,
    DeterminismOptions,
    Varied,
    check_depths,
    check_determinism,
)
from pytest_rankcheck.behaviour.expectation_check import check_expectations
from pytest_rankcheck.behaviour.perturbed_answers import (
    InvarianceLimits,
    perturbed_answers,
)
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.behaviour.repeated_ranker import Fresh, RankerSource, RepeatedRanker
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.measured_runs import evaluate
from pytest_rankcheck.evaluation.ranked_run import ranked_run
from pytest_rankcheck.explanation.answered_queries import (
    changed_answers,
    differing_answers,
    unexpected_rankings,
)
from pytest_rankcheck.explanation.explanation import Explanation
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.rankers.rank import RankOptions
from pytest_rankcheck.rankers.ranker_lookup import load_ranker, specification_of
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.reports.findings import Topic
from pytest_rankcheck.reports.ledger import enter, wanted
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
    stability_note,
)
from pytest_rankcheck.reports.text.golden_text import (
    EXPECTATION_ADVICE,
    expectation_facts,
    expectation_headline,
    expectation_notes,
)

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline


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
    other batch sizes (``batch``, ``model``, ``embedder``), with the queries in another order, by a
    new instance in reverse order, and in a new process with another hash seed. It stops at the
    first condition under which answers differ.

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
    explanation = None
    if block is not None:
        from pytest_rankcheck.reports.text.blocked_text import blocked_rankings

        explanation = blocked_rankings(check, block, evaluation, baseline.place)
    conclude(Topic.STABILITY, note, explanation)


def assert_expectations(
    ranking_run: Run,
    golden_set: GoldenSet,
    expectations: Expectation | Iterable[Expectation] | None = None,
) -> None:
    """Fail if a query is not ranked as expected; the text shows all violations at once.

    An expectation with ``known_failure`` is a strict xfail: it is listed while it fails, and fails
    the test once it holds; the summary warns when it gets worse than its ``known_rank``. One with
    ``severity="warn"`` is shown in the summary only.

    Args:
        ranking_run: the rankings.
        golden_set: the queries.
        expectations: what is expected; without it, the expectations in the golden set.

    Raises:
        AssertionError: an expectation is violated, or a known failure holds.
        GoldenSetError: an expectation is about an unknown query, or some contradict each other.
        ConfigurationError: there is nothing to check, or an expectation looks further down than
            the rankings go.
        RunError: no ranked document is judged in any of at least 5 queries, and no expectation
            names one.
    """
    if isinstance(expectations, Expectation):
        expectations = [expectations]
    given = golden_set.expectations if expectations is None else tuple(expectations)
    if not given:
        raise ConfigurationError(
            f"no expectations: give them to the queries of golden set '{quoted(golden_set.name)}', "
            '"expect": [{"in_top": 3, "documents": ["d1"]}], or as a list to the assertion'
        )
    results = check_expectations(ranking_run, golden_set, given)
    if wanted().proves and not golden_set.by_text:
        from pytest_rankcheck.proof.gate_questions import expectation_question

        evaluation = Evaluation(ranked_run(ranking_run, golden_set))
        enter_question(expectation_question(evaluation, golden_set, results))
    explanation = None
    if any(result.fails for result in results):
        violated = [each for each in results if each.fails and not each.holds]
        explanation = Explanation(
            golden_set=golden_set.name,
            headline=expectation_headline(golden_set, results),
            facts=(*expectation_facts(golden_set, results),),
            to_fix=EXPECTATION_ADVICE if violated else "",
            **unexpected_rankings(golden_set, ranking_run, violated),
        )
    for note in expectation_notes(golden_set, results, explanation):
        enter(note)
    fail_with(explanation)
