"""What a verdict depends on besides rankings: ties, replayed logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rankcheck.comparison.compared_values import Paired
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate_rule import GateRule
from pytest_rankcheck.gates.verdict import ReplayEvidence, TieEffect, Verdict
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison


def tie_effects(
    comparison: Comparison,
    verdicts: Mapping[Metric, Verdict],
    verdicts_on: Callable[[Comparison, Iterable[Metric]], Mapping[Metric, Verdict]],
) -> Mapping[Metric, TieEffect]:
    """Return the effect of the order of tied documents on each metric that it changes.

    Args:
        comparison: what is compared.
        verdicts: the verdict on each metric.
        verdicts_on: returns the verdicts on some metrics in another comparison.
    """
    evaluation = comparison.evaluation
    if not evaluation.source.knows_ties:  # the summary says that ties were not checked
        return {}
    # Another library breaks ties in its own way.
    ours = [metric for metric in verdicts if not metric.definition.ir_measures]
    tied = {metric: queries for metric in ours if (queries := evaluation.tied(metric.cutoff))}
    if not tied:
        return {}
    from pytest_rankcheck.comparison.comparison import compare

    orders = [
        verdicts_on(compare(evaluation.with_ties(order), comparison.other), ours)
        for order in ("best", "worst")
    ]
    effects = {}
    for metric, queries in tied.items():
        alternatives = [verdicts[metric], *(verdicts_of[metric] for verdicts_of in orders)]
        means = [verdict.overall.pairs.mean_after for verdict in alternatives]
        if max(means) - min(means) > SLACK:
            decides = len({verdict.ruling for verdict in alternatives}) > 1
            effects[metric] = TieEffect(len(queries), min(means), max(means), decides)
    return effects


def with_replay_evidence(
    comparison: Comparison, verdicts: Mapping[Metric, Verdict], rules: Mapping[Metric, GateRule]
) -> Mapping[Metric, Verdict]:
    """Return verdicts on a replayed log, with the documents that were never shown.

    If too many of them are at the top, all decisions of a verdict are inconclusive.
    """
    from pytest_rankcheck.comparison.unjudged_documents import unseen_between, without_unseen

    replay = comparison.evaluation.golden.replay
    assert replay is not None
    complete = {}
    for metric, verdict in verdicts.items():
        values = verdict.overall.pairs
        assert isinstance(values, Paired)
        k, now, before = unseen_between(comparison.evaluation, comparison.other, values)
        without = ""
        if verdict.regressed and now > replay.max_unseen:
            condensed = without_unseen(comparison.evaluation, values)
            if condensed is not None:
                rule = rules[metric]
                without = rule.outcome(condensed, rule.evidence(condensed)).ruling
        evidence = ReplayEvidence(verdict.ruling, k, now, before, replay.max_unseen, without)
        complete[metric] = replace(verdict, replay=evidence)
        if evidence.leaves_open:
            complete[metric] = complete[metric].left_open()
    return complete


Ranking = Callable[[str], Sequence[str]]
"""Returns the known top of the ranking of a query."""


def refuse_order_of_log(golden: JudgedQueries, sides: Iterable[tuple[str, Ranking]]) -> None:
    """Refuse a gate that compares with the order of the log, if positions are not corrected.

    Users select what they see first, so without a correction the log's own order looks better than
    any other: an equal or even better ranker would always be blocked.

    Args:
        golden: the golden set.
        sides: what is compared, by the name that messages use, with its rankings.

    Raises:
        ConfigurationError: a side has the order of the log; the message says what to write.
    """
    replay = golden.replay
    if replay is None or replay.uncorrected:
        return
    if replay.corrects(golden.contents.weight_by):
        return
    for name, ranking in sides:
        if _is_order_of_log(golden, ranking):
            raise ConfigurationError(
                f"golden set '{quoted(golden.name)}' is a replay whose positions are not "
                f"corrected, and {name} has the documents in the order of the log, which such a "
                "replay favours over every other order. Correct the positions: "
                'to_golden_set(..., propensity="power(1)"), or a table of propensities. To gate '
                "nevertheless: to_golden_set(..., uncorrected=True)"
            )


def _is_order_of_log(golden: JudgedQueries, ranking: Ranking) -> bool:
    """Return whether every ranking of two or more documents is the beginning of what was shown."""
    seen = False
    for query_id in golden.query_ids:
        ranked = list(ranking(query_id))
        shown = list(golden.candidates_of(query_id))[: len(ranked)]
        if len(ranked) > 1 and len(shown) > 1:
            if ranked[: len(shown)] != shown:
                return False
            seen = True
    return seen
