"""The inputs of a test session as they are configured: found, checked, loaded.

Session logs, runs, rankers, metrics, gates and the linter. Each check refuses a configuration that
cannot work, and says how to correct it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rankcheck.errors import (
    ConfigurationError,
    GoldenSetError,
    MetricError,
    quoted,
    suggestion,
)
from pytest_rankcheck.files.packed_files import shown_name
from pytest_rankcheck.plugin.configuration import CONFIG, conventions_of
from pytest_rankcheck.plugin.configured_golden import refuse_missing
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.gates.configured_gates import ConfiguredGates
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.golden.lint.lint_options import LintOptions
    from pytest_rankcheck.rankers.run import Run

__all__ = [
    "check_corpus",
    "check_gated_sets",
    "check_metrics",
    "check_ranking",
    "check_run",
    "check_sessions",
    "configured_gates",
    "configured_lint",
    "configured_ranker",
    "configured_run",
    "evaluated",
    "log_reading",
    "whole_run",
]

_RANKER = pytest.StashKey[object]()


def check_sessions(config: Config) -> None:
    """Refuse a configuration without a session log, or with one that is not there.

    Raises:
        ConfigurationError: naming the ways to give one.
    """
    if not config.sessions:
        raise ConfigurationError(
            "no session log: the fixture session_log needs one. Set it in the configuration,\n"
            '    rankcheck_sessions = "logs/week.jsonl"\n'
            "on the command line, with --rankcheck-sessions logs/week.jsonl, or as a fixture,\n"
            '    @pytest.fixture(scope="session")\n'
            "    def session_log():\n"
            '        return SessionLog.load("logs/week.jsonl", first_rank=0)'
        )
    refuse_missing("session log", config.sessions, "sessions")


def log_reading(config: Config) -> dict[str, Any]:
    """Return the keywords with which the configured session logs are read."""
    columns = {"columns": config.session_columns} if config.session_columns else {}
    return {**config.session_reading, **columns}


def check_run(config: Config) -> Path:
    """Return the configured run file.

    Raises:
        ConfigurationError: the file does not exist.
    """
    if config.run is None or not config.run.exists():
        raise ConfigurationError(
            f"run: {config.run} does not exist; correct rankcheck_run or --rankcheck-run"
        )
    return config.run


def configured_run(config: Config, golden: GoldenSet) -> Run:
    """Return the run of ``rankcheck_run``, a file or in a folder, cut to the configured depth.

    Raises:
        ConfigurationError: the run is missing.
        RunError: it cannot be read.
    """
    from pytest_rankcheck.plugin.ranking_runs import loaded_run

    return loaded_run(config, _run_file(config, golden), golden.name)


def whole_run(config: Config, golden: GoldenSet) -> Run:
    """Return the run of ``rankcheck_run``, a file or a folder, to its full depth.

    Raises:
        ConfigurationError: the run is missing.
        RunError: it cannot be read.
    """
    from pytest_rankcheck.plugin.ranking_runs import read_run

    return read_run(config, _run_file(config, golden))


def _run_file(config: Config, golden: GoldenSet) -> Path:
    from pytest_rankcheck.plugin.ranking_runs import saved_run

    path = check_run(config)
    return saved_run(path, golden.name) if path.is_dir() else path


def evaluated(config: Config, run: Run, golden: GoldenSet) -> Evaluation:
    """Return the evaluation of a run, by the configured conventions.

    Raises:
        RunError: as `evaluate` does.
    """
    from pytest_rankcheck.evaluation.run_evaluation import RunEvaluation

    # A run from the user's own fixture may have been made with other ties and duplicates.
    chosen = replace(conventions_of(config), ties=run.ties, duplicates=run.duplicates)
    return RunEvaluation.of(run, golden, chosen)


def check_metrics(config: Config) -> None:
    """Refuse unknown names in ``rankcheck_metrics``.

    Raises:
        ConfigurationError: naming the nearest metric.
    """
    from pytest_rankcheck.metrics.metric_names import Metric

    for name in config.metrics:
        try:
            Metric.parse(name)
        except MetricError as error:
            raise ConfigurationError(f"rankcheck_metrics: {error}") from None


def configured_gates(config: Config) -> ConfiguredGates:
    """Return the gates of ``rankcheck_gate``.

    Raises:
        ConfigurationError: a line is not a gate.
    """
    from pytest_rankcheck.gates.configured_gates import ConfiguredGates

    try:
        return ConfiguredGates.parse(config.gate_lines)
    except ConfigurationError as error:
        raise ConfigurationError(f"rankcheck_gate: {error}") from None


def configured_lint(config: Config, golden_name: str = "") -> LintOptions:
    """Return the options of the linter, from ``rankcheck_lint`` and ``rankcheck_contradictions``.

    The metric is the gated one: the first of ``rankcheck_gate`` for the golden set, or else of
    ``rankcheck_metrics``.

    Raises:
        ConfigurationError: a line is malformed.
    """
    from pytest_rankcheck.golden.lint.lint_options import LintOptions
    from pytest_rankcheck.golden.lint.linter import all_rules
    from pytest_rankcheck.sessions.profile.log_rules import log_rule_names

    try:
        names = [*(rule.name for rule in all_rules()), *log_rule_names()]
        options = LintOptions.parse(config.lint_lines, names, _gated_metric(config, golden_name))
    except GoldenSetError as error:
        raise ConfigurationError(f"rankcheck_lint: {error}") from None
    if config.contradictions == "error":
        return options
    # A project that configures which of two grades counts is not stopped by them.
    return replace(options, levels={"contradictory-judgment": "warning", **options.levels})


def _gated_metric(config: Config, golden_name: str) -> str:
    from pytest_rankcheck.metrics.metric_names import USUAL_METRICS

    with suppress(ConfigurationError):  # other checks report invalid gates
        for scoped in configured_gates(config).gates:
            if scoped.metric and scoped.golden_name in (None, golden_name):
                return str(scoped.metric)
    return (*config.metrics, *USUAL_METRICS)[0]


def check_corpus(config: Config) -> None:
    """Refuse a configured corpus that does not exist.

    Raises:
        ConfigurationError: naming the option.
    """
    if config.corpus is not None:
        refuse_missing("corpus", [config.corpus], "corpus")


def check_gated_sets(config: Config) -> None:
    """Refuse lines of ``rankcheck_gate`` for golden sets or session logs that are not configured.

    Raises:
        ConfigurationError: naming the set, and those that are configured.
    """
    names = [shown_name(path) for path in (*config.golden, *config.sessions)]
    for name in configured_gates(config).golden_names:
        if name not in names:
            raise ConfigurationError(
                f"rankcheck_gate: unknown golden set '{quoted(name)}'"
                f"{suggestion(name, names)}; configured: {', '.join(map(quoted, names))}"
            )


def configured_ranker(config: pytest.Config) -> object:
    """Return the configured ranker, which is made once.

    Raises:
        ConfigurationError: no ranker is configured, or it cannot be found or called.
        Exception: what its module raises while it is imported.
    """
    __tracebackhide__ = True
    if _RANKER not in config.stash:
        chosen = config.stash[CONFIG]
        if chosen.resume is None:
            config.stash[_RANKER] = _load_ranker(chosen)
        else:
            from pytest_rankcheck.plugin.ranking_execution import ranker_watched

            with ranker_watched(config):
                config.stash[_RANKER] = _load_ranker(chosen)
    return config.stash[_RANKER]


def check_ranking(config: Config) -> None:
    """Refuse options that would make a ranking fail, or have no effect, before hours of ranking.

    Raises:
        ConfigurationError: the executor is invalid or does not exist; a key is given without a
            folder; or the depth to check equals the depth of the ranking.
    """
    if config.executor is not None:
        from pytest_rankcheck.rankers.execution.executor_pools import make_pool

        make_pool(config.executor)
    if config.resume_key is not None and config.resume is None:
        raise ConfigurationError(
            "--rankcheck-resume-key has no effect without --rankcheck-resume DIR; give the folder"
        )
    if config.check_depth == config.depth:
        raise ConfigurationError(
            f"rankcheck_check_depth={config.check_depth} is the same as rankcheck_depth; give "
            "another depth, such as the one that production uses"
        )


def _load_ranker(config: Config) -> object:
    __tracebackhide__ = True
    from pytest_rankcheck.rankers.ranker_lookup import load_ranker, remember_specification

    if not config.ranker:
        raise ConfigurationError(
            "no ranker: the fixture ranker needs the model under test. Set it in the "
            "configuration,\n"
            '    rankcheck_ranker = "package.module:name"\n'
            "on the command line, with --rankcheck-ranker package.module:name, or as a fixture,\n"
            '    @pytest.fixture(scope="session")\n'
            "    def ranker():\n"
            "        return Engine.load().search   # a callable: query text -> document ids"
        )
    ranker: object
    if config.executor is None:
        ranker = load_ranker(config.ranker)
    else:  # each worker makes its own ranker
        from pytest_rankcheck.rankers.execution.named_ranker import NamedRanker

        ranker = NamedRanker(config.ranker)
    # assert_deterministic imports it by this name in a new process.
    remember_specification(ranker, config.ranker)
    return ranker
