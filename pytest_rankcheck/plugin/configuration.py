"""The configuration: one frozen object, and the only reader of options and ini values."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.plugin.option_table import (
    CONCURRENCY,
    DEFAULT_DEPTH,
    INCONCLUSIVE,
    REPORTS,
    SUSPICIOUS,
)

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.conventions import Conventions

__all__ = ["CONFIG", "Config", "ReportPaths", "conventions_of"]


@dataclass(frozen=True, slots=True)
class ReportPaths:
    """Where reports are written; None for those that are not."""

    html: Path | None = None
    markdown: Path | None = None
    json: Path | None = None
    unjudged: Path | None = None
    step_summary: Path | None = None
    """The summary of a step of GitHub Actions, to which Markdown is appended."""

    @property
    def wanted(self) -> bool:
        """Whether any report is written."""
        return any(getattr(self, field.name) is not None for field in fields(self))


@dataclass(frozen=True, slots=True)
class Config:
    """All that is configured, checked as far as that is possible without loading anything."""

    golden: tuple[Path, ...] = ()
    grades: Mapping[str, float] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    split: str | None = None
    contradictions: str = "error"
    sessions: tuple[Path, ...] = ()
    session_reading: Mapping[str, object] = field(default_factory=dict)
    """How session logs are read: the keywords of `SessionLog.load`."""
    inputs: tuple[str, ...] = ()
    """The options of the command line that choose what is measured, to be given again."""
    lint: bool = False
    lint_lines: tuple[str, ...] = ()
    ranker: str | None = None
    run: Path | None = None
    save_run: Path | None = None
    save_run_format: str | None = None
    """The format of `save_run`; None for TREC where that can hold the ids, else JSON lines."""
    repeat: int = 1
    plan: bool = False
    resolution: bool = False
    reports: ReportPaths = ReportPaths()
    baseline_ref: str | None = None
    concurrency: int = CONCURRENCY
    timeout: float | None = None
    retries: int = 0
    retry_on: tuple[str, ...] = ()
    approval: str | None = None
    update: bool = False
    new_only: bool = False
    depth: int = DEFAULT_DEPTH
    metrics: tuple[str, ...] = ()
    conventions: Mapping[str, str] = field(default_factory=dict)
    gate_lines: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    suspicious: str = "warn"
    leak_budget: float | None = None
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
            sessions=tuple(here / path for path in option.rankcheck_sessions)
            or tuple(config.getini("rankcheck_sessions")),
            session_reading=_session_reading(config),
            inputs=_inputs(option),
            lint=option.rankcheck_lint,
            lint_lines=tuple(config.getini("rankcheck_lint")),
            ranker=option.rankcheck_ranker or config.getini("rankcheck_ranker") or None,
            run=here / option.rankcheck_run if option.rankcheck_run else None,
            save_run=here / option.rankcheck_save_run if option.rankcheck_save_run else None,
            save_run_format=option.rankcheck_save_run_format,
            repeat=_at_least(1, "--rankcheck-repeat", option.rankcheck_repeat),
            baseline_ref=_reference(option),
            reports=_reports(option, here),
            plan=option.rankcheck_plan,
            resolution=option.rankcheck_resolution,
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
            slices=tuple(config.getini("rankcheck_slices")),
            leak_budget=_leak_budget(config.getini("rankcheck_leak_budget")),
            inconclusive=_one_of("rankcheck_inconclusive", INCONCLUSIVE, config),
            suspicious=_one_of("rankcheck_suspicious", SUSPICIOUS, config),
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

    try:
        return Conventions.from_dict(config.conventions)
    except ConfigurationError as error:
        raise ConfigurationError(f"rankcheck_conventions: {error}") from None


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


def _one_of(name: str, words: Sequence[str], config: pytest.Config) -> str:
    text = config.getini(name) or "warn"
    if text not in words:
        raise ConfigurationError(f"{name}: '{quoted(text)}' is not one of {', '.join(words)}")
    return str(text)


def _reports(option: argparse.Namespace, here: Path) -> ReportPaths:
    given = {name: getattr(option, f"rankcheck_{name}") for name in REPORTS}
    paths = {name: here / path for name, path in given.items() if path}
    for name, path in paths.items():
        if path.is_dir():
            raise ConfigurationError(f"--rankcheck-{name} {path}: it is a folder; name a file")
    absent = [name for name in ("jinja2", "altair", "vl_convert") if find_spec(name) is None]
    if "html" in paths and absent:
        raise ConfigurationError(
            f"--rankcheck-html needs {', '.join(absent)}, which is not installed: "
            "pip install 'pytest-rankcheck[report]'"
        )
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    return ReportPaths(**paths, step_summary=Path(summary) if summary else None)


def _reference(option: argparse.Namespace) -> str | None:
    name: str | None = option.rankcheck_baseline_ref
    if name is not None and getattr(option, "update_snapshots", False):
        raise ConfigurationError(
            "--rankcheck-baseline-ref compares with what another commit has approved, and "
            "--snapshot-update changes the files of this one; give one of them"
        )
    return name


def _leak_budget(text: str) -> float | None:
    if not text:
        return None
    if not _is_number(text) or not 0 <= float(text) < float("inf"):
        raise ConfigurationError(
            f"rankcheck_leak_budget: '{quoted(text)}' is not how far a mean may fall: a number "
            "from 0 on, such as 0.03"
        )
    return float(text)


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


def _inputs(option: argparse.Namespace) -> tuple[str, ...]:
    """Return the options that choose what is measured, as they were given."""
    found = [f"--rankcheck-golden={path}" for path in option.rankcheck_golden]
    found += [f"--rankcheck-sessions={path}" for path in option.rankcheck_sessions]
    for name in ("ranker", "run"):
        given = getattr(option, f"rankcheck_{name}")
        found += [f"--rankcheck-{name}={given}"] if given else []
    return tuple(found)


def _session_reading(config: pytest.Config) -> dict[str, object]:
    """Return the keywords with which session logs are read."""
    name = "rankcheck_session_reading"
    found: dict[str, object] = {}
    columns = _pairs("rankcheck_session_columns", "session=sid", config)
    if columns:
        found["columns"] = columns
    for key, value in _pairs(name, "first_rank=0", config).items():
        if key == "first_rank" and value in ("0", "1"):
            found[key] = int(value)
        elif key == "time_unit" and value in ("s", "ms", "us", "ns"):
            found[key] = value
        elif key == "attributes":
            found[key] = tuple(part.strip() for part in value.split(",") if part.strip())
        elif key == "lenient" and value in ("true", "false"):
            found[key] = value == "true"
        else:
            raise ConfigurationError(
                f"{name}: '{quoted(key)}={quoted(value)}' is not possible; it is first_rank=0 or "
                "1, time_unit=s, ms, us or ns, attributes=group,locale, lenient=true or false"
            )
    return found


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
