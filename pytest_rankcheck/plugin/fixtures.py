"""The fixtures, made to fit the configuration of the session.

What needs numpy is imported when a fixture is used, never before.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_rankcheck.errors import ConfigurationError, MetricError, quoted
from pytest_rankcheck.plugin.configuration import CONFIG, conventions_of
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.baselines.reference_commit import Reference
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.evaluation.session_evaluation import SessionEvaluation
    from pytest_rankcheck.gates.configured_gates import ConfiguredGates
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.rankers.run import Run
    from pytest_rankcheck.sessions.session_log import SessionLog

__all__ = [
    "BASELINE",
    "RANKER_ORIGINS",
    "check_golden",
    "check_metrics",
    "check_run",
    "check_sessions",
    "configured_fixtures",
    "configured_gates",
    "configured_ranker",
    "configured_reference",
    "configured_run",
    "evaluated",
    "loaded_golden",
]

BASELINE = pytest.StashKey["Baseline"]()
"""The baseline of a test that asked for it."""
RANKER_ORIGINS = pytest.StashKey[dict[int, str]]()
"""Where each ranker came from, by its id, in words that all xdist workers share."""
_REFERENCE = pytest.StashKey["Reference"]()
_RANKER = pytest.StashKey[object]()
_RUNS = pytest.StashKey[dict[tuple[int, int], tuple[object, object, "Run"]]]()
"""The runs of this process by ranker and golden set, which are kept so that ids stay theirs."""


def configured_fixtures(config: Config) -> ModuleType:
    """Return a plugin with the fixtures.

    Several golden sets parametrise ``golden_set``; a run from a file needs no ``ranker``, so that
    a machine that only gates does not load the model.
    """
    paths = config.golden if len(config.golden) > 1 else ()
    ids = [path.name.partition(".")[0] or path.name for path in paths]
    session = partial(pytest.fixture, scope="session")
    run: Callable[..., Run] = _run_from_ranker
    if config.run:
        run = _run_from_folder if config.run.is_dir() else _run_from_file
    fixtures: Any = ModuleType(__name__)
    fixtures.ranker = session(name="ranker")(_ranker)
    fixtures.golden_set = session(name="golden_set", params=paths or None, ids=ids or None)(
        _golden_set
    )
    fixtures.ranking_run = session(name="ranking_run")(run)
    fixtures.evaluation = session(name="evaluation")(_evaluation)
    logs = config.sessions if len(config.sessions) > 1 else ()
    log_ids = [path.name.partition(".")[0] or path.name for path in logs]
    fixtures.session_log = session(name="session_log", params=logs or None, ids=log_ids or None)(
        _session_log
    )
    fixtures.session_evaluation = session(name="session_evaluation")(_session_evaluation)
    fixtures.baseline = pytest.fixture(name="baseline")(_baseline)
    return cast("ModuleType", fixtures)


def _ranker(pytestconfig: pytest.Config) -> object:
    """The model under test: a callable from a query's text to document ids, best first.

    It comes from ``--rankcheck-ranker`` or ``rankcheck_ranker``; or write your own fixture of this
    name, with session scope.
    """
    return configured_ranker(pytestconfig)


def _golden_set(request: pytest.FixtureRequest) -> GoldenSet:
    """The golden set: judged queries to measure the ranker on.

    It comes from ``--rankcheck-golden`` or ``rankcheck_golden`` (several parametrise the tests
    that use it), from an indirect parameter (a path or a GoldenSet), or from your own fixture of
    this name, with session scope.
    """
    from pytest_rankcheck.golden.golden_set import GoldenSet

    given = getattr(request, "param", None)
    if given is None:
        config = request.config.stash[CONFIG]
        check_golden(config)
        given = config.golden[0]
    if isinstance(given, GoldenSet):
        return given
    if not isinstance(given, (str, Path)):
        raise ConfigurationError(
            f"the parameter of golden_set is {quoted(given)}, not a path or a GoldenSet"
        )
    # A parameter may be relative to the root of the project, wherever pytest was started.
    return loaded_golden(request.config.stash[CONFIG], request.config.rootpath / given)


def loaded_golden(config: Config, path: Path, contradictions: str | None = None) -> GoldenSet:
    """Return the golden set at ``path``, read as configured.

    Raises:
        GoldenSetError: it cannot be read.
    """
    from pytest_rankcheck.golden.golden_set import GoldenSet

    here = Path.cwd()
    return GoldenSet.load(
        path.relative_to(here) if path.is_relative_to(here) else path,  # shorter in messages
        grades=config.grades,
        columns=config.columns,
        split=config.split,
        contradictions=contradictions or config.contradictions,  # type: ignore[arg-type]
    )


def _run_from_ranker(
    request: pytest.FixtureRequest,
    ranker: object,
    golden_set: GoldenSet,
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    """The run of ``ranker`` over ``golden_set``: computed once, for all xdist workers."""
    __tracebackhide__ = True
    from pytest_rankcheck.plugin.ranking_runs import ranked

    runs = request.config.stash.setdefault(_RUNS, {})
    key = (id(ranker), id(golden_set))
    if key not in runs:
        origin = request.config.stash[RANKER_ORIGINS].get(id(ranker))
        shared = tmp_path_factory.getbasetemp().parent
        run = ranked(request.config, ranker, golden_set, origin, shared)
        runs[key] = (ranker, golden_set, run)
    return runs[key][2]


def _run_from_file(pytestconfig: pytest.Config) -> Run:
    """The run of the file ``--rankcheck-run``, cut to ``rankcheck_depth``."""
    from pytest_rankcheck.plugin.ranking_runs import loaded_run

    config = pytestconfig.stash[CONFIG]
    return loaded_run(config, check_run(config))


def _run_from_folder(pytestconfig: pytest.Config, golden_set: GoldenSet) -> Run:
    """The run of ``golden_set`` in the folder ``--rankcheck-run``, cut to ``rankcheck_depth``."""
    return configured_run(pytestconfig.stash[CONFIG], golden_set)


def configured_run(config: Config, golden: GoldenSet) -> Run:
    """Return the run of ``--rankcheck-run``, a file or in a folder, cut to the configured depth.

    Raises:
        ConfigurationError: the run is missing.
        RunError: it cannot be read.
    """
    from pytest_rankcheck.plugin.ranking_runs import loaded_run, saved_run

    path = check_run(config)
    return loaded_run(config, saved_run(path, golden.name) if path.is_dir() else path)


def _evaluation(pytestconfig: pytest.Config, ranking_run: Run, golden_set: GoldenSet) -> Evaluation:
    """The evaluation of ``ranking_run`` on ``golden_set``."""
    return evaluated(pytestconfig.stash[CONFIG], ranking_run, golden_set)


def evaluated(config: Config, run: Run, golden: GoldenSet) -> Evaluation:
    """Return the evaluation of a run, by the configured conventions.

    Raises:
        RunError: as `evaluate` does.
    """
    from pytest_rankcheck.evaluation.run_evaluation import evaluate

    # A run from the user's own fixture may have been made with other ties and duplicates.
    chosen = replace(conventions_of(config), ties=run.ties, duplicates=run.duplicates)
    return evaluate(run, golden, conventions=chosen)


def _session_log(request: pytest.FixtureRequest) -> SessionLog:
    """The session log: what users did, one session a search.

    It comes from ``--rankcheck-sessions`` or ``rankcheck_sessions`` (several parametrise the tests
    that use it), from an indirect parameter (a path or a SessionLog), or from your own fixture of
    this name, with session scope.
    """
    from pytest_rankcheck.sessions.session_log import SessionLog

    config = request.config.stash[CONFIG]
    given = getattr(request, "param", None)
    if given is None:
        check_sessions(config)
        given = config.sessions[0]
    if isinstance(given, SessionLog):
        return given
    if not isinstance(given, (str, Path)):
        raise ConfigurationError(
            f"the parameter of session_log is {quoted(given)}, not a path or a SessionLog"
        )
    path, here = request.config.rootpath / given, Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    reading: dict[str, Any] = dict(config.session_reading)
    return SessionLog.load(shown, columns=config.session_columns or None, **reading)


def _session_evaluation(session_log: SessionLog) -> SessionEvaluation:
    """The evaluation of ``session_log``: metrics whose unit is the session."""
    from pytest_rankcheck.evaluation.session_evaluation import evaluate_sessions

    return evaluate_sessions(session_log)


def _baseline(request: pytest.FixtureRequest) -> Baseline:
    """This test's approved record, to hold an ``evaluation`` against."""
    from pytest_rankcheck.baselines.baseline import Baseline, Defaults
    from pytest_rankcheck.baselines.syrupy_store import SnapshotStore
    from pytest_rankcheck.baselines.update_actions import Mode

    item, chosen = request.node, request.config.stash[CONFIG]
    mode = Mode(
        chosen.update,
        chosen.new_only,
        chosen.approval,
        inconclusive=chosen.inconclusive,
        suspicious=chosen.suspicious,
        leak_budget=chosen.leak_budget,
    )
    defaults = Defaults(chosen.metrics, configured_gates(chosen), chosen.slices)
    store = SnapshotStore(item, mode)
    reference = configured_reference(request.config)
    made = Baseline(store, _runnable_id(item), mode, defaults, reference, inputs=chosen.inputs)
    item.stash[BASELINE] = made
    return made


def _runnable_id(item: pytest.Item) -> str:
    """Return the test's id as it can be given to pytest where this session was started."""
    path = os.path.relpath(item.path, item.config.invocation_params.dir)
    return f"{Path(path).as_posix()}::{item.nodeid.partition('::')[2]}"


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
    for path in config.golden:
        if not path.exists():
            raise ConfigurationError(
                f"golden set: there is no file {path}; correct rankcheck_golden or "
                "--rankcheck-golden"
            )


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
    for path in config.sessions:
        if not path.exists():
            raise ConfigurationError(
                f"session log: there is no file {path}; correct rankcheck_sessions or "
                "--rankcheck-sessions"
            )


def check_run(config: Config) -> Path:
    """Return the configured run file.

    Raises:
        ConfigurationError: it is not there.
    """
    if config.run is None or not config.run.exists():
        raise ConfigurationError(f"--rankcheck-run: there is no file {config.run}")
    return config.run


def configured_reference(config: pytest.Config) -> Reference | None:
    """Return the commit of ``--rankcheck-baseline-ref``; None without the option.

    Raises:
        ConfigurationError: there is no such commit.
    """
    from pytest_rankcheck.baselines.reference_commit import Reference

    name = config.stash[CONFIG].baseline_ref
    if name is not None and _REFERENCE not in config.stash:
        config.stash[_REFERENCE] = Reference.of(name, config.rootpath)
    return config.stash.get(_REFERENCE, None)


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
