"""The configuration: the options and ini values, and the one place that reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_rankcheck.errors import ConfigurationError, quoted

__all__ = ["Config", "add_options"]

_GROUP = "rankcheck: ranking regression tests"
_DEFAULT_DEPTH = 100


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and ini value, with help."""
    group = parser.getgroup("rankcheck", _GROUP)
    group.addoption(
        "--rankcheck-golden",
        action="append",
        default=[],
        metavar="PATH",
        help="golden set to test on (JSON lines or TREC qrels; may be given several times); "
        "overrides rankcheck_golden",
    )
    group.addoption(
        "--rankcheck-ranker",
        metavar="MODULE:NAME",
        help="ranker under test, a callable from query text to document ids; with () at the end "
        "the name is called once to make it; overrides rankcheck_ranker",
    )
    group.addoption(
        "--rankcheck-run",
        metavar="FILE",
        help="take the rankings from this run (TREC or JSON lines) instead of calling the ranker",
    )
    group.addoption(
        "--rankcheck-approve",
        metavar="REASON",
        help="with --snapshot-update: let baselines fall, and write this reason into them",
    )
    parser.addini("rankcheck_golden", "golden sets to test on, relative to this file", "paths")
    parser.addini("rankcheck_ranker", "ranker under test, package.module:name")
    parser.addini(
        "rankcheck_depth",
        f"documents that each query is ranked to (default: {_DEFAULT_DEPTH})",
        type="int",
        default=_DEFAULT_DEPTH,
    )
    parser.addini(
        "rankcheck_metrics",
        "metrics to show in the summary and to record in baselines, gated or not, one a line",
        "linelist",
    )
    parser.addini(
        "rankcheck_conventions",
        "conventions that differ from the default, one name=value a line: ties=doc_id|input|error, "
        "duplicates=error|first, missing=empty|error, extra=ignore|error, no_relevant=zero|exclude",
        "linelist",
    )


@dataclass(frozen=True, slots=True)
class Config:
    """All that is configured, checked as far as that is possible without loading anything."""

    golden: tuple[Path, ...] = ()
    ranker: str | None = None
    run: Path | None = None
    approval: str | None = None
    update: bool = False
    new_only: bool = False
    depth: int = _DEFAULT_DEPTH
    metrics: tuple[str, ...] = ()
    conventions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, config: pytest.Config) -> Config:
        """Read the options and ini values of a session.

        Raises:
            ConfigurationError: a value is malformed.
        """
        here = config.invocation_params.dir
        option = config.option
        return cls(
            golden=tuple(here / path for path in option.rankcheck_golden)
            or tuple(config.getini("rankcheck_golden")),
            ranker=option.rankcheck_ranker or config.getini("rankcheck_ranker") or None,
            run=here / option.rankcheck_run if option.rankcheck_run else None,
            approval=_reason(option.rankcheck_approve),
            update=getattr(option, "update_snapshots", False),
            new_only=getattr(option, "update_new_snapshots_only", False),
            depth=_depth(config),
            metrics=tuple(config.getini("rankcheck_metrics")),
            conventions=dict(map(_pair, config.getini("rankcheck_conventions"))),
        )

    @property
    def header(self) -> str | None:
        """The line for the head of pytest's output; None where nothing is configured."""
        parts = []
        if self.golden:
            names = ", ".join(quoted(path.name) for path in self.golden)
            parts.append(f"golden {names}")
        if self.run:
            parts.append(f"run {quoted(self.run.name)}")
        elif self.ranker:
            parts.append(f"ranker {quoted(self.ranker)}")
        return f"rankcheck: {', '.join(parts)}, depth {self.depth}" if parts else None


def _reason(given: str | None) -> str | None:
    if given is not None and not given.strip():
        raise ConfigurationError(
            '--rankcheck-approve needs a reason, such as --rankcheck-approve "new tokenizer, '
            'head queries win"'
        )
    return given.strip() if given is not None else None


def _depth(config: pytest.Config) -> int:
    try:
        depth: int = config.getini("rankcheck_depth")
    except (TypeError, ValueError, pytest.UsageError) as error:
        raise ConfigurationError(f"rankcheck_depth: {error}") from None
    if depth < 1:
        raise ConfigurationError(f"rankcheck_depth = {depth}: a depth is a whole number from 1 on")
    return depth


def _pair(line: str) -> tuple[str, str]:
    name, equals, value = line.partition("=")
    if not equals:
        raise ConfigurationError(
            f"rankcheck_conventions: '{quoted(line)}' is not of the form name=value, such as "
            "ties=input"
        )
    return name.strip(), value.strip()
