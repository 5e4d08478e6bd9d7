"""Asking a few queries at another depth when a run is made: ``rankcheck_check_depth``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_rankcheck.behaviour.depth_consistency import compared_prefixes
from pytest_rankcheck.plugin.configuration import CONFIG, FOUND_IN_FIXTURES
from pytest_rankcheck.rankers.adapter_choice import adapter_of
from pytest_rankcheck.rankers.adapter_protocol import RankingTask
from pytest_rankcheck.rankers.rank import ranked_as
from pytest_rankcheck.rankers.ranking import RankingRules
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.reports.depth_findings import DepthFinding

__all__ = ["check_depth"]

_MOST_QUERIES = 20


def check_depth(
    config: pytest.Config, ranker: object, run: Run, task: RankingTask, rules: RankingRules
) -> None:
    """Ask a sample of the queries at the configured other depth, and keep the differences.

    Args:
        config: the test session.
        ranker: the ranker.
        run: its answers at ``rankcheck_depth``.
        task: the queries, and how they were asked.
        rules: how its rankings were read.

    Raises:
        RankerError: the ranker fails at the other depth.
    """
    __tracebackhide__ = True
    other, golden = config.stash[CONFIG].check_depth, task.golden
    shallow, deep = sorted((other, task.depth))
    adapter = adapter_of(ranker)
    sample = golden.sample(min(_MOST_QUERIES, len(golden)))
    differing: list[str] = []
    if adapter.takes_depth:
        again = ranked_as(None, adapter, replace(task, golden=sample, depth=other), rules)
        found = compared_prefixes(again, run, shallow)
        differing = [difference.query_id for difference in found]
    finding = DepthFinding(
        golden.name,
        adapter.name,
        shallow,
        deep,
        len(differing),
        len(sample) if adapter.takes_depth else 0,
        tuple(differing),
    )
    config.stash.setdefault(FOUND_IN_FIXTURES, []).append(finding)
