"""Asking a few queries at another depth when a run is made: ``rankcheck_check_depth``."""

from __future__ import annotations

import pytest

from pytest_rankcheck.behaviour.depth_consistency import compared_prefixes
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.plugin.configuration import CONFIG, FOUND_IN_FIXTURES, conventions_of
from pytest_rankcheck.plugin.configured_doc_ids import configured_doc_id
from pytest_rankcheck.rankers.adapter_choice import adapter_of
from pytest_rankcheck.rankers.rank import rank
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.reports.depth_findings import DepthFinding

__all__ = ["check_depth"]

_MOST_QUERIES = 20


def check_depth(config: pytest.Config, ranker: object, run: Run, golden: GoldenSet) -> None:
    """Ask for a sample of the queries at the configured other depth, and keep what differs.

    Args:
        config: the session.
        ranker: the ranker.
        run: what it answered at ``rankcheck_depth``.
        golden: what it was asked.

    Raises:
        ConfigurationError: the two depths are the same.
        RankerError: the ranker fails at the other depth.
    """
    __tracebackhide__ = True
    chosen = config.stash[CONFIG]
    if chosen.check_depth == chosen.depth:
        raise ConfigurationError(
            f"rankcheck_check_depth={chosen.check_depth} is the same as rankcheck_depth; give "
            "another depth, such as the one that production asks for"
        )
    shallow, deep = sorted((chosen.check_depth, chosen.depth))
    adapter = adapter_of(ranker)
    sample = golden.sample(min(_MOST_QUERIES, len(golden)))
    differing: list[str] = []
    if adapter.takes_depth:
        conventions = conventions_of(chosen)
        again = rank(
            adapter,
            sample,
            chosen.check_depth,
            ties=conventions.ties,
            duplicates=conventions.duplicates,
            doc_id=configured_doc_id(chosen),
            concurrency=chosen.concurrency,
            timeout=chosen.timeout,
            retries=chosen.retries,
            retry_on=chosen.retry_on,
        )
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
