"""The candidates beside the ranker, ranked at the end of a test session if that is requested."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from pytest_rankcheck.comparison.runs_comparison import compare_runs
from pytest_rankcheck.errors import ConfigurationError, MetricWarning, RankcheckError, quoted
from pytest_rankcheck.metrics.metric_names import Metric, metrics_of, usual_metrics
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.item_findings import SHOWN
from pytest_rankcheck.plugin.ranking_runs import RankerOrigin, ranked_once
from pytest_rankcheck.reports.findings import GateFinding, Note, ReportedFinding, Topic
from pytest_rankcheck.reports.leaderboard import LeaderboardFinding


def leaderboards(
    session: pytest.Session, findings: Sequence[ReportedFinding]
) -> Sequence[ReportedFinding]:
    """Return a leaderboard for each golden set on which a test has measured the ranker, or a note.

    Args:
        session: the test session, whose tests have run.
        findings: of its tests, which say what is gated.
    """
    boards: dict[tuple[Inputs, str, str], dict[str, Any]] = {}
    for evaluation, inputs in session.config.stash[SHOWN].values():
        name = evaluation.golden.name
        # Choosing the best of many candidates on a sealed set would overfit it.
        if evaluation.kind.recur and inputs.config.candidates and not inputs.is_sealed(name):
            board = (inputs, name, evaluation.golden.fingerprint)
            boards.setdefault(board, {}).setdefault(evaluation.name, evaluation)
    found: list[ReportedFinding] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)  # the tests have warned already
        for (inputs, *_), measured in boards.items():
            with suppress(RankcheckError):  # the ranker itself failed, and so did its tests
                found.append(_leaderboard(session, inputs, measured, findings))
    nothing = (
        "there is none, because no test with candidates (rankcheck_candidates) measured a run with "
        "the fixture evaluation on a golden set that is not sealed"
    )
    return found or [Note(Topic.LEADERBOARD, nothing)]


def _leaderboard(
    session: pytest.Session,
    inputs: Inputs,
    measured: dict[str, Any],
    findings: Sequence[ReportedFinding],
) -> LeaderboardFinding:
    """Return the leaderboard of what tests have measured, and of the candidates.

    A candidate that raises any error gets a line that says so, and fails nothing.
    """
    evaluation = next(iter(measured.values()))
    golden = evaluation.golden
    own, known = inputs.rankers.name, inputs.config.ranker
    gates = [
        finding
        for finding in findings
        if isinstance(finding, GateFinding) and finding.golden_set == golden.name
    ]
    # The ranker that tests compare with a record: a folder may have one of its own.
    gated = [each.ranker for each in gates if each.baseline_file is not None]
    ships = next(name for name in (own, *gated, *measured) if name in measured)
    if known and not inputs.config.run and (ships == own or len(measured) == 1):
        measured = {known: measured.pop(ships), **measured}  # the name that people know
        ships = known
    named = [*(Metric.parse(each.metric) for each in gates), *inputs.metrics]
    fitting = [metric for metric in named if evaluation.fits(metric)]
    metrics = metrics_of(fitting or usual_metrics(evaluation.depth))
    failures: dict[str, str] = {}
    for name, specification in inputs.config.candidates.items():
        origin = RankerOrigin("rankcheck_candidates", name, name, inputs)
        try:
            if name in measured:
                raise ConfigurationError("the ranker has this name; choose another")
            ranker = specification if isinstance(specification, str) else specification()
            run = ranked_once(session, ranker, golden, origin, 1)
            candidate = inputs.evaluation(run, golden)
            compare_runs({name: candidate}, golden, metrics)  # an error here is reported as its own
            measured[name] = candidate
        except (Exception, SystemExit, pytest.skip.Exception, pytest.fail.Exception) as error:
            reason = quoted(str(error).partition("\n")[0], 300)
            failures[name] = f"{type(error).__name__}: {reason}"
    board = compare_runs(measured, golden, metrics, against=ships)
    return LeaderboardFinding(board, failures)
