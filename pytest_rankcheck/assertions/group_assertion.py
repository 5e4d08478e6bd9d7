"""Comparing two groups of one log, such as the arms of an experiment: ``assert_no_worse``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.bound_assertions import By
from pytest_rankcheck.assertions.entered_findings import fail_with
from pytest_rankcheck.assertions.regression_assertion import held
from pytest_rankcheck.comparison.compared_values import Sides
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.session_evaluation import (
    MeasuredLog,
    SessionGroups,
    session_groups,
)
from pytest_rankcheck.gates.family_decisions import decide_family
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.gates.verdict import GroupEvidence
from pytest_rankcheck.metrics.metric_names import MetricLike, metrics_of
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.reports.ledger import enter
from pytest_rankcheck.reports.text.evidence_text import group_lines


@checked_arguments
def assert_no_worse(
    evaluation: Evaluation,
    metric: MetricLike | Sequence[MetricLike],
    *,
    group: str,
    than: str,
    by: str,
    gate: Gate | None = None,
    ratio: float = 1.0,
    slices: By = None,
) -> None:
    """Fail if one group of sessions is worse than another, as in an experiment.

    The groups are compared as two samples of independent units: users if the sessions are
    clustered, otherwise sessions. A unit that is in both groups is left out of both.

    If the groups do not have the planned sizes (chi-square test, p < 0.001), units were not
    assigned or logged as planned, and the verdict is inconclusive (Fabijan et al., Diagnosing
    sample ratio mismatch in online controlled experiments, KDD 2019).

    Args:
        evaluation: the sessions of both groups.
        metric: a name such as ``"SuccessRate"``, a ``Metric``; or several, decided as one family.
        group: the value of ``by`` in the group that is tested.
        than: its value in the group that it is compared with.
        by: the attribute that tells the groups apart.
        gate: the rule that decides; without it, ``Gate.significant()``.
        ratio: how many units of ``group`` were planned for each one of ``than``, above 0.
        slices: an attribute, or several; none of their slices may be worse either.

    Raises:
        AssertionError: the group is worse; the text says by how much, and in which slices.
        SessionLogError: a group has no sessions, or all its units are in both.
        GoldenSetError: no session has the attribute.
        MetricError: unknown metric, or one without a value.
        ConfigurationError: the ratio is not above 0, or the gate does not fit the metric.
    """
    if not isinstance(getattr(evaluation, "source", None), MeasuredLog):
        raise ConfigurationError(
            f"evaluation must be the sessions of a log, not {quoted(evaluation, 60)}; give "
            "session_evaluation, or evaluate_sessions(log)"
        )
    if not 0 < ratio < math.inf:
        raise ConfigurationError(
            f"ratio={quoted(ratio)} is invalid; give how many units of the tested group were "
            "planned for each one of the other, such as 1"
        )
    if evaluation.golden.cluster_by == by:
        raise ConfigurationError(
            f"clustered='{quoted(by)}' makes each group a single unit, so nothing can be decided; "
            "cluster by who was assigned to the groups, such as user"
        )
    metrics = metrics_of(metric)
    for each in metrics:
        evaluation.refuse_no_value(each)
    groups = session_groups(evaluation, by, group, than)
    names = (f"{by}={than}", f"{by}={group}")
    sides = Sides(f"of {names[0]}", f"of {names[1]}")
    comparison = Comparison(groups.tested, groups.other, sides)
    chosen = gate or Gate.significant()
    verdicts = decide_family(comparison, dict.fromkeys(metrics, chosen), slices)
    evidence = evidence_of(groups, evaluation.name, names, ratio)
    verdicts = {metric: replace(each, groups=evidence) for metric, each in verdicts.items()}
    if evidence.leaves_open:
        verdicts = {metric: each.left_open() for metric, each in verdicts.items()}
    if groups.in_both:
        for line in group_lines(evidence):
            enter(Note(Topic.MEASURED, f"session log '{quoted(evaluation.name)}': {line}"))
    fail_with(held(groups.tested, verdicts, comparison))


def evidence_of(
    groups: SessionGroups, log: str, names: tuple[str, str], ratio: float
) -> GroupEvidence:
    """Return the sizes of the groups, and the p of their ratio."""
    from scipy.special import chdtrc

    before, now = groups.units
    total = before + now
    expected = total * ratio / (1 + ratio)
    chi_square = (now - expected) ** 2 * (1 / expected + 1 / (total - expected))
    unit = "sessions" if groups.tested.cluster_names is None else "clusters"
    return GroupEvidence(
        log=log,
        names=names,
        units=groups.units,
        unit=unit,
        ratio=ratio,
        ratio_p=float(chdtrc(1, chi_square)),
        in_both=groups.in_both,
        left_out=groups.left_out,
    )
