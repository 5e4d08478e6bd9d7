"""The inputs of a test session as they are configured: found, checked, loaded.

Golden sets, session logs, runs, rankers, gates and the reference commit. Each check refuses a
configuration that cannot work, and says how to correct it.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from pytest_rankcheck.golden.golden_source import UnfitOptionError
from pytest_rankcheck.plugin.configuration import CONFIG, conventions_of
from pytest_rankcheck.plugin.configured_doc_ids import configured_doc_id
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.reference_commit import Reference
    from pytest_rankcheck.baselines.update_actions import Mode
    from pytest_rankcheck.baselines.world import World
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.gates.configured_gates import ConfiguredGates
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.golden.lint.lint_options import LintOptions
    from pytest_rankcheck.rankers.run import Run

__all__ = [
    "check_gated_sets",
    "check_golden",
    "check_metrics",
    "check_run",
    "check_sessions",
    "configured_gates",
    "configured_lint",
    "configured_ranker",
    "configured_reference",
    "configured_run",
    "configured_world",
    "evaluated",
    "loaded_golden",
]

_REFERENCE = pytest.StashKey["Reference"]()
_MODE = pytest.StashKey["Mode"]()
_RANKER = pytest.StashKey[object]()
_WORLD = pytest.StashKey["World"]()


def check_golden(config: Config) -> None:
    """Refuse a configuration without a golden set, or with one that is not there.

    Raises:
        ConfigurationError: naming the ways to give one.
    """
    if not config.golden:
        raise ConfigurationError(
            "no golden set: the fixture golden_set needs one. Set it in the configuration,\n"
            '    rankcheck_golden = "golden/web.jsonl"\n'
            "on the command line, with --rankcheck-golden golden/web.jsonl, or as a fixture,\n"
            '    @pytest.fixture(scope="session")\n'
            "    def golden_set():\n"
            '        return GoldenSet.load("golden/web.jsonl")'
        )
    _refuse_missing("golden set", config.golden, "golden")


def loaded_golden(
    config: Config, path: Path, contradictions: str | None = None, format: str | None = None
) -> GoldenSet:
    """Return the golden set at ``path``, read as configured.

    Of several configured sets, one may lack an attribute that another has, and one may have grades
    although ``rankcheck_grades`` is the grade of every row of another.

    Args:
        config: the configuration.
        path: the file or folder.
        contradictions: overrides what is configured for a document that is judged twice.
        format: the format; without it, the content decides.

    Raises:
        GoldenSetError: it cannot be read, or a column by which `rankcheck_slices` gates is not an
            attribute.
    """
    rule = contradictions or config.contradictions
    grades, attributes = config.grades, config.attributes or None
    others = [other for other in config.golden if other != path]
    while True:
        try:
            golden = _read_golden(
                config, path, format, grades=grades, attributes=attributes, contradictions=rule
            )
            break
        except UnfitOptionError as unfit:
            missing = unfit.attribute
            if missing is None and others:
                grades = None
            elif missing and any(_has_attribute(config, other, missing) for other in others):
                attributes = tuple(name for name in attributes or () if name != missing)
            else:
                raise
    for attribute in config.slices:
        golden.check_no_feature(attribute)
    return golden


def _read_golden(
    config: Config, path: Path, format: str | None = None, **options: Any
) -> GoldenSet:
    """Return a golden set; the options differ from the configured ones."""
    from pytest_rankcheck.golden.golden_set import GoldenSet

    here = Path.cwd()
    return GoldenSet.load(
        path.relative_to(here) if path.is_relative_to(here) else path,  # shorter in messages
        format,
        columns=config.columns,
        split=config.split,
        scale=config.scale,
        doc_id=configured_doc_id(config),
        **options,
    )


def _has_attribute(config: Config, path: Path, attribute: str) -> bool:
    """Return whether a golden set can be read and has an attribute."""
    for grades in (config.grades, None):
        with suppress(GoldenSetError):
            _read_golden(
                config, path, grades=grades, attributes=(attribute,), contradictions="first"
            )
            return True
    return False


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
    _refuse_missing("session log", config.sessions, "sessions")


def _refuse_missing(kind: str, paths: Sequence[Path], option: str) -> None:
    """Refuse a configured file that does not exist."""
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise ConfigurationError(
            f"{kind}: {missing} does not exist; correct rankcheck_{option} or --rankcheck-{option}"
        )


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
    from pytest_rankcheck.plugin.ranking_runs import loaded_run, saved_run

    path = check_run(config)
    file = saved_run(path, golden.name) if path.is_dir() else path
    return loaded_run(config, file, golden.name)


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
    """Refuse ``rankcheck_metrics`` that are no metrics.

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


def configured_lint(config: Config) -> LintOptions:
    """Return the options of the linter, from ``rankcheck_lint`` and ``rankcheck_contradictions``.

    Raises:
        ConfigurationError: a line is malformed.
    """
    from pytest_rankcheck.golden.lint.lint_options import LintOptions
    from pytest_rankcheck.golden.lint.linter import ALL_RULES

    try:
        options = LintOptions.parse(config.lint_lines, [rule.name for rule in ALL_RULES])
    except GoldenSetError as error:
        raise ConfigurationError(f"rankcheck_lint: {error}") from None
    if config.contradictions == "error":
        return options
    # A project that configures which of two grades counts is not stopped by them.
    return replace(options, levels={"contradictory-judgment": "warning", **options.levels})


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


def configured_reference(config: pytest.Config) -> Reference | None:
    """Return the commit of ``--rankcheck-baseline-ref``; None without the option.

    Raises:
        ConfigurationError: git does not know the commit.
    """
    from pytest_rankcheck.baselines.reference_commit import Reference

    name = config.stash[CONFIG].baseline_ref
    if name is not None and _REFERENCE not in config.stash:
        config.stash[_REFERENCE] = Reference.of(name, config.rootpath)
    return config.stash.get(_REFERENCE, None)


def configured_world(config: pytest.Config) -> World:
    """Return the hashes and versions of what ``rankcheck_world`` declares, which are read once.

    Raises:
        ConfigurationError: a file is missing or cannot be read, or a package is not installed.
    """
    from pytest_rankcheck.baselines.world import declared_world

    if _WORLD not in config.stash:
        config.stash[_WORLD] = declared_world(config.stash[CONFIG].world, config.rootpath)
    return config.stash[_WORLD]


def configured_mode(config: pytest.Config) -> Mode:
    """Return what the test session may do to baselines.

    Against a reference commit, what counts as a failure is configured there too: the stricter of
    the two counts, so that a branch cannot switch it off.

    Raises:
        ConfigurationError: git does not know the commit.
    """
    if _MODE not in config.stash:
        from pytest_rankcheck.baselines.update_actions import Mode

        chosen, reference = config.stash[CONFIG], configured_reference(config)
        mode = Mode(
            chosen.update,
            chosen.new_only,
            chosen.approval,
            chosen.raising,
            inconclusive=chosen.inconclusive,
            suspicious=chosen.suspicious,
            leak_budget=chosen.leak_budget,
        )
        config.stash[_MODE] = mode if reference is None else _at_least(mode, config, reference)
    return config.stash[_MODE]


def _at_least(mode: Mode, config: pytest.Config, reference: Reference) -> Mode:
    """Return a mode that is at least as strict as the one configured at a commit."""
    from pytest_rankcheck.plugin.reference_configuration import configuration_at

    then = configuration_at(reference, config)
    budgets = [] if mode.leak_budget is None else [mode.leak_budget]
    with suppress(KeyError, ValueError):
        budgets.append(float(str(then["rankcheck_leak_budget"])))
    return replace(
        mode,
        inconclusive=_stricter(mode.inconclusive, then.get("rankcheck_inconclusive")),
        suspicious=_stricter(mode.suspicious, then.get("rankcheck_suspicious")),
        leak_budget=min(budgets, default=None),
    )


def _stricter(word: str, other: object) -> str:
    """Return the stricter of two words for what to do; anything else than these is not a word."""
    words = ("pass", "ignore", "warn", "fail")
    return max(word, str(other), key=words.index) if other in words else word


def configured_ranker(config: pytest.Config) -> object:
    """Return the configured ranker, which is made once.

    Raises:
        ConfigurationError: none is configured, or it cannot be found or called.
        Exception: what its module raises while it is imported.
    """
    __tracebackhide__ = True
    if _RANKER not in config.stash:
        config.stash[_RANKER] = _load_ranker(config.stash[CONFIG])
    return config.stash[_RANKER]


def _load_ranker(config: Config) -> object:
    __tracebackhide__ = True
    from pytest_rankcheck.rankers.ranker_lookup import load_ranker

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
    return load_ranker(config.ranker)
