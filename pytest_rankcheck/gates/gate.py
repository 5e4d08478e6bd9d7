"""The gate: a rule for means, limits for single queries and slices, and the verdict they give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import TYPE_CHECKING

from pytest_rankcheck.argument_checks import check_whole_number, checked_arguments
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.metric_values import MIN_QUERIES, attributes_of
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate_rule import (
    LOST_ANSWERS,
    RAISE_ALPHA,
    GateRule,
    ToleranceRule,
    check_allowance,
    number_text,
    refuse_too_wide,
)
from pytest_rankcheck.gates.set_decisions import FamilySet, decide_sets
from pytest_rankcheck.gates.verdict import Decision, Verdict, gaps_of
from pytest_rankcheck.gates.verdict_evidence import (
    mix_effects,
    refuse_order_of_log,
    tie_effects,
    with_replay_evidence,
)
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.statistics.paired_tests import FallTest

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison


INCONCLUSIVE = ("pass", "warn", "fail")
"""How an inconclusive verdict can count, the strictest last."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The rule that decides whether a metric regressed, with limits for queries and slices.

    Make one with `Gate.tolerance`, `Gate.significant` or `Gate.noninferior`, or from a `GateRule`
    of your own.
    """

    rule: GateRule
    """What decides on the means."""
    max_query_drop: float | None = None
    """No single query may fall by more than this; None: any fall is allowed."""
    max_gap: float | None = None
    """The largest allowed gap between the slices of one attribute; None: any."""
    min_queries: int | None = None
    """A slice with fewer queries is reported, not gated; None: see `smallest_slice`."""
    standardise: str | None = None
    """The attribute at whose mix in the baseline means are compared; None: they are as they are."""
    inconclusive: str | None = None
    """How an inconclusive verdict counts: `pass`, `warn` or `fail`; None: as is configured."""

    def __post_init__(self) -> None:
        for name in ("max_query_drop", "max_gap"):
            if getattr(self, name) is not None:
                check_allowance(name, getattr(self, name))
        if self.inconclusive not in (None, *INCONCLUSIVE):
            raise ConfigurationError(
                f"inconclusive={quoted(self.inconclusive)} is invalid; give pass, warn or fail"
            )
        if self.min_queries is not None:
            check_whole_number("min_queries", self.min_queries, 0, ConfigurationError)

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The complete gate as the configuration writes it, with every limit that was given."""
        limits = {
            name: getattr(self, name) for name in ("max_query_drop", "max_gap", "min_queries")
        }
        name, _, parameters = str(self.rule).removesuffix(")").partition("(")
        given = [parameters] if parameters else []
        given += [f"{key}={number_text(v)}" for key, v in limits.items() if v is not None]
        words = {"standardise": self.standardise}
        if self.inconclusive != "warn":  # a record without a word means the usual one
            words["inconclusive"] = self.inconclusive
        for key, word in words.items():
            if word is not None:
                is_word = word.isidentifier() and not iskeyword(word)
                given.append(f"{key}={word if is_word else repr(word)}")
        return f"{name}({', '.join(given)})"

    @property
    def smallest_slice(self) -> int:
        """The number of queries from which on a slice is gated, at least 1.

        Without ``min_queries`` the rule decides: 30 for a tolerance; for a statistical gate, as
        many as a significant fall takes (5 at an alpha of 5%).
        """
        return max(1, self.rule.smallest_slice if self.min_queries is None else self.min_queries)

    @staticmethod
    @checked_arguments
    def tolerance(
        abs: float = 0.0,
        rel: float = 0.0,
        noise: float = 0.0,
        *,
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int | None = None,
        standardise: str | None = None,
    ) -> Gate:
        """Regressed if the mean fell by more than the largest of these allowances.

        Args:
            abs: the allowed fall of the mean, in the metric's own unit.
            rel: the allowed fall as a share of the baseline's mean.
            noise: the allowed fall in standard errors that replicates give to the difference
                (``rankcheck_replicates``): s_r sqrt(1/R0 + 1/R1), with R0 of them in the baseline
                and R1 now.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the largest allowed gap between the slices of one attribute; None: any.
            min_queries: a slice with fewer queries is reported, not gated (30).
            standardise: an attribute whose slices count as much as in the baseline, such as
                ``"device"``: a change of its mix does not count as a fall. Its slices are gated
                too.

        Raises:
            ConfigurationError: an allowance is negative or not finite.
        """
        rule = ToleranceRule(abs=abs, rel=rel, noise=noise)
        return Gate(rule, max_query_drop, max_gap, min_queries, standardise)

    @staticmethod
    @checked_arguments
    def significant(
        alpha: float = 0.05,
        min_drop: float = 0.0,
        *,
        test: FallTest = "sign_flip",
        raise_alpha: float = RAISE_ALPHA,
        lost_answers: int = LOST_ANSWERS,
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int | None = None,
        standardise: str | None = None,
    ) -> Gate:
        """Regressed if the mean fell by more than ``min_drop``, and by more than chance.

        Blocks a change without a fall with probability ``alpha`` at most. A real fall that is too
        small to detect with this many queries passes; `Gate.noninferior` calls it inconclusive.

        Args:
            alpha: the probability of blocking a change without a fall.
            min_drop: a smaller fall never blocks, however certain it is.
            test: ``"sign_flip"`` or ``"t"``, paired by query and one-sided;
                corrected by Holm for all queries and slices together.
            raise_alpha: an update raises the baseline if the gain is significant at this level.
            lost_answers: it also blocks, whatever ``min_drop`` says, if so many queries, and 4% of
                those compared, had a relevant document among their first three and have none in
                their top ten now, while no query gained one in that way; 0: never.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the largest allowed gap between the slices of one attribute; None: any.
            min_queries: a slice with fewer queries is reported, not gated; without it, as many as
                a significant fall takes (5 at an alpha of 5%).
            standardise: as in `tolerance`.

        Raises:
            ConfigurationError: a value is out of its range.
        """
        from pytest_rankcheck.gates.statistical_rules import SignificanceRule

        rule = SignificanceRule(
            alpha=alpha,
            min_drop=min_drop,
            test=test,
            raise_alpha=raise_alpha,
            lost_answers=lost_answers,
        )
        return Gate(rule, max_query_drop, max_gap, min_queries, standardise)

    @staticmethod
    @checked_arguments
    def noninferior(
        margin: float,
        alpha: float = 0.05,
        *,
        test: FallTest = "sign_flip",
        raise_alpha: float = RAISE_ALPHA,
        lost_answers: int = LOST_ANSWERS,
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int | None = None,
        standardise: str | None = None,
    ) -> Gate:
        """Three verdicts: passed, regressed or inconclusive.

        Passes if a fall of ``margin`` is ruled out: the one-sided lower bound of the mean
        difference is above ``-margin``. Regressed if it is not and the fall is
        significant. Otherwise inconclusive.

        Args:
            margin: the fall that would matter, in the metric's own unit.
            alpha: the probability of passing a fall of the margin, and of blocking a change without
                a fall.
            test: as in `significant`.
            raise_alpha: as in `significant`.
            lost_answers: as in `significant`.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the largest allowed gap between the slices of one attribute; None: any.
            min_queries: a slice with fewer queries is reported, not gated; without it, as many as
                a significant fall takes (5 at an alpha of 5%).
            standardise: as in `tolerance`.

        Raises:
            ConfigurationError: a value is out of its range.
        """
        from pytest_rankcheck.gates.statistical_rules import NoninferiorityRule

        rule = NoninferiorityRule(
            margin=margin,
            alpha=alpha,
            test=test,
            raise_alpha=raise_alpha,
            lost_answers=lost_answers,
        )
        return Gate(rule, max_query_drop, max_gap, min_queries, standardise)

    def decide(
        self, comparison: Comparison, metric: MetricLike, by: str | Sequence[str] | None = None
    ) -> Verdict:
        """Return the verdict on ``metric``: overall, and for every slice of ``by``.

        Raises:
            MetricError: no such metric.
            GoldenSetError: no query has the attribute ``by``.
            ConfigurationError: the gate does not fit the metric.
        """
        parsed = Metric.parse(metric)
        return decide_family(comparison, {parsed: self}, by)[parsed]

    def is_at_least_as_strict_as(self, other: Gate) -> bool:
        """Return whether it certainly blocks whatever another gate blocks; False if in doubt.

        Slices are one family with all queries: of a statistical gate, more of them are a larger
        correction, so it must gate the same ones.
        """
        gates_its_slices = (
            self.smallest_slice <= other.smallest_slice
            if isinstance(self.rule, ToleranceRule)
            else self.min_queries == other.min_queries
        )
        return (
            self.rule.is_at_least_as_strict_as(other.rule)
            and gates_its_slices
            and _limits_at_least(self.max_query_drop, other.max_query_drop)
            and _limits_at_least(self.max_gap, other.max_gap)
            and self.standardise == other.standardise
            and self._strictness >= other._strictness
        )

    @property
    def _strictness(self) -> int:
        return INCONCLUSIVE.index(self.inconclusive or "warn")

    def refuse_misfit(self, metric: Metric) -> None:
        """Refuse a metric on which the gate cannot decide, or could never fail.

        Raises:
            ConfigurationError: naming the metric, and what to give instead.
        """
        of_parts = (self.max_query_drop, self.max_gap, self.standardise)
        looks_at_parts = any(each is not None for each in of_parts)
        metric.kind.refuse_gate(metric, self.text, looks_at_parts=looks_at_parts)
        self.rule.refuse_misfit(metric)
        if self.max_query_drop is not None:
            refuse_too_wide("max_query_drop", self.max_query_drop, metric, "no query can fall")
        if self.max_gap is not None:
            refuse_too_wide("max_gap", self.max_gap, metric, "no two slices can differ")


def _limits_at_least(limit: float | None, other: float | None) -> bool:
    """Return whether a limit allows at most what another allows; None allows everything."""
    return other is None or (limit is not None and limit <= other)


def gated_attributes(by: str | Sequence[str] | None, gate: Gate) -> tuple[str, ...]:
    """Return the attributes by whose slices a gate decides: ``by``, and what it standardises by."""
    own = () if gate.standardise is None else (gate.standardise,)
    return tuple(dict.fromkeys((*attributes_of(by), *own)))


def decide_family(
    comparison: Comparison,
    gates: Mapping[Metric, Gate],
    by: str | Sequence[str] | None = None,
    *,
    is_explained: bool = True,
) -> Mapping[Metric, Verdict]:
    """Return the verdict on each metric: overall, and for every slice of ``by``.

    All decisions are one family, corrected by Holm: of all metrics and all slices, also if the
    metrics have different gates.

    Args:
        comparison: what is compared.
        gates: the gate of each metric, at least one.
        by: an attribute of the queries, or several.
        is_explained: whether the verdicts say what ties and the mix of slices have to do with them.

    Raises:
        GoldenSetError: no query has the attribute ``by``.
        ConfigurationError: a gate does not fit its metric, or a replay whose positions are not
            corrected is compared with the order of its log.
    """
    for metric, gate in gates.items():
        gate.refuse_misfit(metric)
    golden = comparison.evaluation.golden
    if golden.replay is not None:
        now, then = comparison.evaluation.ranking, comparison.other.ranking
        refuse_order_of_log(golden, (("what is measured now", now), ("the baseline", then)))

    def decided(other: Comparison, metrics: Iterable[Metric]) -> dict[Metric, Verdict]:
        return _decided(other, {metric: gates[metric] for metric in metrics}, by)

    verdicts: Mapping[Metric, Verdict] = decided(comparison, gates)
    if is_explained:
        ties = tie_effects(comparison, verdicts, decided)
        verdicts = {
            metric: replace(
                verdict,
                ties=ties.get(metric),
                mixes=mix_effects(comparison, metric, gated_attributes(by, gates[metric])),
            )
            for metric, verdict in verdicts.items()
        }
    if golden.replay is None:
        return verdicts
    rules = {metric: gate.rule for metric, gate in gates.items()}
    return with_replay_evidence(comparison, verdicts, rules)


def _decided(
    comparison: Comparison, gates: Mapping[Metric, Gate], by: str | Sequence[str] | None
) -> dict[Metric, Verdict]:
    """Return the verdict on each metric, without what explains it."""
    sets = [part for metric, gate in gates.items() for part in _sets(comparison, metric, gate, by)]
    sets.sort(key=lambda part: part.attribute is not None)  # all queries come before their slices
    decisions, tested = decide_sets(sets)
    verdicts = {
        metric: _verdict(gate, [each for each in decisions if each.pairs.metric == metric], tested)
        for metric, gate in gates.items()
    }
    fewest = [each for gate in gates.values() if (each := gate.rule.fewest_lost_answers)]
    if not fewest:
        return verdicts
    from pytest_rankcheck.gates.lost_answers import lost_answers_in

    lost = lost_answers_in(comparison, min(fewest))
    return {
        metric: replace(
            verdict, lost_answers=lost if gates[metric].rule.fewest_lost_answers else None
        )
        for metric, verdict in verdicts.items()
    }


def _sets(
    comparison: Comparison, metric: Metric, gate: Gate, by: str | Sequence[str] | None
) -> Iterator[FamilySet]:
    """Yield all queries, then each slice."""
    values = comparison.values(metric)
    if gate.standardise is not None:
        from pytest_rankcheck.comparison.standardised_values import refuse_outcomes, standardised

        refuse_outcomes(comparison, metric, gate.standardise)
        at_mix = standardised(comparison, metric, gate.standardise)
        at_mix.refuse_missing(gate.standardise)
        values = at_mix.values
    yield FamilySet(gate.rule, values)
    for attribute in metric.kind.sliced_by(gated_attributes(by, gate)):
        for value, values in comparison.values_by(attribute, metric).items():
            is_gated = values.size >= gate.smallest_slice
            yield FamilySet(gate.rule, values, attribute, value, is_gated)


def _verdict(gate: Gate, decisions: Sequence[Decision], tested: int) -> Verdict:
    """Return the verdict on a metric from its decisions: all queries first, then slices."""
    overall, slices = decisions[0], tuple(decisions[1:])
    widest = MIN_QUERIES if gate.min_queries is None else gate.min_queries
    pairs = overall.pairs
    drops: tuple[str, ...] = ()
    if gate.max_query_drop is not None:
        least = -(gate.max_query_drop + SLACK)
        worse = (place for place in pairs.worst() if pairs.gains[place] < least)
        drops = tuple(pairs.query_ids[place] for place in worse)
    return Verdict(
        metric=overall.pairs.metric,
        overall=overall,
        slices=slices,
        query_drops=drops,
        max_query_drop=gate.max_query_drop,
        gaps=tuple(gaps_of(slices, max(1, widest))),
        max_gap=gate.max_gap,
        min_queries=gate.smallest_slice,
        decisions=tested,
        gate=gate.text,
        margin=gate.rule.margin_to_rule_out,
        alpha=gate.rule.level,
        standardised_by=gate.standardise,
    )
