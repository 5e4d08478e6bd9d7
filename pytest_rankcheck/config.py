"""The configuration: the options and ini values, and the one place that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.errors import ConfigurationError, quoted

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.conventions import Conventions

__all__ = ["CONFIG", "RUN_ENDINGS", "Config", "add_options", "conventions_of"]

_GROUP = "rankcheck: ranking regression tests"
_DEFAULT_DEPTH = 100
_CONCURRENCY = 8
_INCONCLUSIVE = ("pass", "warn", "fail")
RUN_ENDINGS = {"trec": ".run", "parquet": ".parquet", "csv": ".csv", "jsonl": ".jsonl"}
"""The endings of the files that --rankcheck-save-run writes."""


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and ini value, with help."""
    group = parser.getgroup("rankcheck", _GROUP)
    group.addoption(
        "--rankcheck-golden",
        action="append",
        default=[],
        metavar="PATH",
        help="golden set to test on, a file or a folder (may be given several times); overrides "
        "rankcheck_golden",
    )
    group.addoption(
        "--rankcheck-ranker",
        metavar="MODULE:NAME",
        help="ranker under test, a callable from query text to document ids; with () at the end "
        "the name is called once to make it; overrides rankcheck_ranker",
    )
    group.addoption(
        "--rankcheck-run",
        metavar="PATH",
        help="take the rankings from this run, or this folder of --rankcheck-save-run, instead of "
        "calling the ranker",
    )
    group.addoption(
        "--rankcheck-save-run",
        metavar="DIR",
        help="keep the run of each golden set in this folder, for --rankcheck-run",
    )
    group.addoption(
        "--rankcheck-save-run-format",
        metavar="FORMAT",
        choices=list(RUN_ENDINGS),
        help="trec (default; jsonl where ids have white space), parquet, csv or jsonl",
    )
    group.addoption(
        "--rankcheck-repeat",
        metavar="N",
        type=int,
        default=1,
        help="rank N times, and say how much the metrics vary and which rankings changed",
    )
    group.addoption(
        "--rankcheck-lint",
        action="store_true",
        help="look for what in the golden sets would mislead a gate, as one test a golden set: "
        "errors fail it, warnings are shown",
    )
    group.addoption(
        "--rankcheck-approve",
        metavar="REASON",
        help="with --snapshot-update: let baselines fall, and write this reason into them",
    )
    parser.addini("rankcheck_golden", "golden sets to test on, relative to this file", "paths")
    parser.addini(
        "rankcheck_grades",
        "what the codes of the golden sets mean, one code=grade a line, such as 1=4",
        "linelist",
    )
    parser.addini(
        "rankcheck_columns",
        "columns of golden sets that are tables, one meaning=name a line, such as query_id=keyword",
        "linelist",
    )
    parser.addini("rankcheck_split", "which judgments of a BEIR folder (default: test)")
    parser.addini(
        "rankcheck_contradictions",
        "what counts where a document is judged twice: first, last, highest, or error (default)",
    )
    parser.addini(
        "rankcheck_lint",
        "for --rankcheck-lint, one a line: scale=0..3, tolerance=0.02, min_queries=30, spread=0.1, "
        "or rule=error|warning|ignore",
        "linelist",
    )
    parser.addini("rankcheck_ranker", "ranker under test, package.module:name")
    parser.addini(
        "rankcheck_depth",
        f"documents that each query is ranked to (default: {_DEFAULT_DEPTH})",
        type="int",
        default=_DEFAULT_DEPTH,
    )
    parser.addini(
        "rankcheck_concurrency",
        f"queries that an async ranker works on at the same time (default: {_CONCURRENCY})",
        type="int",
        default=_CONCURRENCY,
    )
    parser.addini("rankcheck_timeout", "seconds that an async ranker has for one query")
    parser.addini(
        "rankcheck_retries",
        "how often a query is tried again after an error of rankcheck_retry_on (default: 0)",
        type="int",
        default=0,
    )
    parser.addini(
        "rankcheck_retry_on",
        "errors of the ranker that are worth another try, by the names of their classes",
        "linelist",
    )
    parser.addini(
        "rankcheck_metrics",
        "metrics to show in the summary and to record in baselines, gated or not, one a line",
        "linelist",
    )
    parser.addini(
        "rankcheck_gate",
        "gates of assert_not_regressed where a test gives none, one a line: gate, metric: gate, "
        "set: gate, or set metric: gate; such as noninferior(margin=0.02)",
        "linelist",
    )
    parser.addini(
        "rankcheck_inconclusive",
        "what an inconclusive verdict is: pass, warn (default) or fail",
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
    grades: Mapping[str, float] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    split: str | None = None
    contradictions: str = "error"
    lint: bool = False
    lint_lines: tuple[str, ...] = ()
    ranker: str | None = None
    run: Path | None = None
    save_run: Path | None = None
    save_run_format: str | None = None
    """The format of `save_run`; None for TREC where that can hold the ids, else JSON lines."""
    repeat: int = 1
    concurrency: int = _CONCURRENCY
    timeout: float | None = None
    retries: int = 0
    retry_on: tuple[str, ...] = ()
    approval: str | None = None
    update: bool = False
    new_only: bool = False
    depth: int = _DEFAULT_DEPTH
    metrics: tuple[str, ...] = ()
    conventions: Mapping[str, str] = field(default_factory=dict)
    gate_lines: tuple[str, ...] = ()
    inconclusive: str = "warn"

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
            grades=_grades(config.getini("rankcheck_grades")),
            columns=_pairs("rankcheck_columns", "query_id=keyword", config),
            split=config.getini("rankcheck_split") or None,
            contradictions=config.getini("rankcheck_contradictions") or "error",
            lint=option.rankcheck_lint,
            lint_lines=tuple(config.getini("rankcheck_lint")),
            ranker=option.rankcheck_ranker or config.getini("rankcheck_ranker") or None,
            run=here / option.rankcheck_run if option.rankcheck_run else None,
            save_run=here / option.rankcheck_save_run if option.rankcheck_save_run else None,
            save_run_format=option.rankcheck_save_run_format,
            repeat=_at_least(1, "--rankcheck-repeat", option.rankcheck_repeat),
            concurrency=_whole("rankcheck_concurrency", 1, config),
            timeout=_timeout(config.getini("rankcheck_timeout")),
            retries=_whole("rankcheck_retries", 0, config),
            retry_on=tuple(config.getini("rankcheck_retry_on")),
            approval=_reason(option.rankcheck_approve),
            update=getattr(option, "update_snapshots", False),
            new_only=getattr(option, "update_new_snapshots_only", False),
            depth=_whole("rankcheck_depth", 1, config),
            metrics=tuple(config.getini("rankcheck_metrics")),
            gate_lines=tuple(config.getini("rankcheck_gate")),
            inconclusive=_inconclusive(config.getini("rankcheck_inconclusive") or "warn"),
            conventions=_pairs("rankcheck_conventions", "ties=input", config),
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


CONFIG = pytest.StashKey[Config]()


def conventions_of(config: Config) -> Conventions:
    """Return the configured conventions.

    Raises:
        ConfigurationError: there is no such convention or value.
    """
    from pytest_rankcheck.evaluation.conventions import Conventions

    return Conventions.from_dict(config.conventions)


def _reason(given: str | None) -> str | None:
    if given is not None and not given.strip():
        raise ConfigurationError(
            '--rankcheck-approve needs a reason, such as --rankcheck-approve "new tokenizer, '
            'head queries win"'
        )
    return given.strip() if given is not None else None


def _whole(name: str, least: int, config: pytest.Config) -> int:
    try:
        value: int = config.getini(name)
    except (TypeError, ValueError, pytest.UsageError) as error:
        raise ConfigurationError(f"{name}: {error}") from None
    return _at_least(least, name, value)


def _at_least(least: int, name: str, value: int) -> int:
    if value < least:
        raise ConfigurationError(f"{name} = {value}: it is a whole number from {least} on")
    return value


def _inconclusive(text: str) -> str:
    if text not in _INCONCLUSIVE:
        raise ConfigurationError(
            f"rankcheck_inconclusive: '{quoted(text)}' is not one of {', '.join(_INCONCLUSIVE)}"
        )
    return text


def _timeout(text: str) -> float | None:
    if not text:
        return None
    if not _is_number(text) or not float(text) > 0:
        raise ConfigurationError(
            f"rankcheck_timeout: '{quoted(text)}' is not a number of seconds above 0"
        )
    return float(text)


def _pairs(name: str, example: str, config: pytest.Config) -> dict[str, str]:
    return dict(_pair(line, name, example) for line in config.getini(name))


def _grades(lines: Sequence[str]) -> dict[str, float] | None:
    """Return what codes mean; None where no code is configured."""
    pairs = [_pair(line, "rankcheck_grades", "1=4") for line in lines]
    try:
        return {code: float(grade) for code, grade in pairs} or None
    except ValueError:
        code, grade = next(pair for pair in pairs if not _is_number(pair[1]))
        raise ConfigurationError(
            f"rankcheck_grades: '{quoted(grade)}', for the code '{quoted(code)}', is not a number"
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _pair(line: str, name: str, example: str) -> tuple[str, str]:
    key, equals, value = line.partition("=")
    if not equals:
        raise ConfigurationError(
            f"{name}: '{quoted(line)}' is not of the form name=value, such as {example}"
        )
    return key.strip(), value.strip()
