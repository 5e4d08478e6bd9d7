"""The fixtures, made to fit the configuration of the session.

What needs numpy is imported when a fixture is used, never before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_rankcheck.errors import BaselineError, ConfigurationError, quoted
from pytest_rankcheck.plugin.configuration import CONFIG, set_name
from pytest_rankcheck.plugin.item_identity import HAS_GOLDEN, is_repeat, item_key, repeated_id
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.baselines.syrupy_store import SnapshotStore
    from pytest_rankcheck.baselines.update_actions import Mode
    from pytest_rankcheck.baselines.world import World
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.evaluation.session_evaluation import SessionEvaluation
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.rankers.run import Run
    from pytest_rankcheck.sessions.session_log import SessionLog

__all__ = ["BASELINE", "NAMES", "RANKER_ORIGINS", "configured_fixtures"]

NAMES = ("ranker", "golden_set", "ranking_run", "evaluation", "session_log", "baseline")
"""The fixtures whose inputs are checked before the first test runs."""

BASELINE = pytest.StashKey["Baseline"]()
"""The baseline of a test that asked for it."""
RANKER_ORIGINS = pytest.StashKey[dict[int, str]]()
"""Where each ranker came from, by its id, in words that all xdist workers share."""
_OWNERS = pytest.StashKey[dict[Path, tuple[str, str]]]()
"""The test that has each baseline file, the same for all its repeats, and its node id."""
_RUNS = pytest.StashKey[dict[tuple[int, int], tuple[object, object, "Run"]]]()
"""The runs of this process by ranker and golden set, which are kept so that ids stay theirs."""


def configured_fixtures(config: Config) -> ModuleType:
    """Return a plugin with the fixtures.

    Several golden sets parametrise ``golden_set``; a run from a file needs no ``ranker``, so that
    a machine that only gates does not load the model.
    """
    paths = config.golden if len(config.golden) > 1 else ()
    ids = list(map(set_name, paths))
    session = partial(pytest.fixture, scope="session")
    run: Callable[..., Run] = _run_from_ranker
    if config.run:
        needs_golden = config.golden or config.run.is_dir()
        run = _run_of_golden_set if needs_golden else _run_from_file
    fixtures: Any = ModuleType(__name__)
    fixtures.ranker = session(name="ranker")(_ranker)
    fixtures.golden_set = session(name="golden_set", params=paths or None, ids=ids or None)(
        _golden_set
    )
    fixtures.ranking_run = session(name="ranking_run")(run)
    fixtures.evaluation = session(name="evaluation")(_evaluation)
    logs = config.sessions if len(config.sessions) > 1 else ()
    log_ids = list(map(set_name, logs))
    fixtures.session_log = session(name="session_log", params=logs or None, ids=log_ids or None)(
        _session_log
    )
    fixtures.session_evaluation = session(name="session_evaluation")(_session_evaluation)
    fixtures.rankcheck_world = session(name="rankcheck_world")(_rankcheck_world)
    fixtures.baseline = pytest.fixture(name="baseline")(_baseline)
    return cast("ModuleType", fixtures)


def _ranker(pytestconfig: pytest.Config) -> object:
    """The model under test: a callable from a query's text to document ids, best first.

    It comes from ``--rankcheck-ranker`` or ``rankcheck_ranker``; or write your own fixture of this
    name, with session scope.
    """
    from pytest_rankcheck.plugin import configured_inputs as inputs

    return inputs.configured_ranker(pytestconfig)


def _golden_set(request: pytest.FixtureRequest) -> GoldenSet:
    """The golden set: judged queries to measure the ranker on.

    It comes from ``--rankcheck-golden`` or ``rankcheck_golden`` (several parametrise the tests
    that use it), from an indirect parameter (a path or a GoldenSet), or from your own fixture of
    this name, with session scope.
    """
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.plugin.configured_golden import check_golden, loaded_golden

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


def _run_from_ranker(
    request: pytest.FixtureRequest,
    ranker: object,
    golden_set: GoldenSet,
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    """The run of ``ranker`` over ``golden_set``: computed once, for all xdist workers."""
    __tracebackhide__ = True
    from pytest_rankcheck.plugin.ranking_runs import RankerOrigin, ranked
    from pytest_rankcheck.rankers.ranker_lookup import specification_of

    runs = request.config.stash.setdefault(_RUNS, {})
    key = (id(ranker), id(golden_set))
    if key not in runs:
        fixture = request.config.stash[RANKER_ORIGINS].get(id(ranker))
        origin = RankerOrigin(fixture, specification_of(ranker), partial(_whole_world, request))
        shared = tmp_path_factory.getbasetemp().parent
        run = ranked(request.config, ranker, golden_set, origin, shared)
        runs[key] = (ranker, golden_set, run)
    return runs[key][2]


def _run_from_file(request: pytest.FixtureRequest) -> Run:
    """The run of the file ``--rankcheck-run``, cut to ``rankcheck_depth``."""
    from pytest_rankcheck.plugin import configured_inputs as inputs
    from pytest_rankcheck.plugin.ranking_runs import loaded_run

    golden_name = None
    # The project's own fixture says what was ranked; without a golden set, the file can be used.
    with suppress(ConfigurationError, pytest.fail.Exception):
        golden_name = request.getfixturevalue("golden_set").name
    config = request.config.stash[CONFIG]
    return loaded_run(config, inputs.check_run(config), golden_name)


def _run_of_golden_set(pytestconfig: pytest.Config, golden_set: GoldenSet) -> Run:
    """The run of ``golden_set`` in ``--rankcheck-run``, cut to ``rankcheck_depth``."""
    from pytest_rankcheck.plugin import configured_inputs as inputs

    return inputs.configured_run(pytestconfig.stash[CONFIG], golden_set)


def _evaluation(pytestconfig: pytest.Config, ranking_run: Run, golden_set: GoldenSet) -> Evaluation:
    """The evaluation of ``ranking_run`` on ``golden_set``."""
    from pytest_rankcheck.plugin import configured_inputs as inputs

    return inputs.evaluated(pytestconfig.stash[CONFIG], ranking_run, golden_set)


def _session_log(request: pytest.FixtureRequest) -> SessionLog:
    """The session log: what users did, one session per search.

    It comes from ``--rankcheck-sessions`` or ``rankcheck_sessions`` (several parametrise the tests
    that use it), from an indirect parameter (a path or a SessionLog), or from your own fixture of
    this name, with session scope.
    """
    from pytest_rankcheck.plugin import configured_inputs as inputs
    from pytest_rankcheck.sessions.session_log import SessionLog

    config = request.config.stash[CONFIG]
    given = getattr(request, "param", None)
    if given is None:
        inputs.check_sessions(config)
        given = config.sessions[0]
    if isinstance(given, SessionLog):
        return given
    if not isinstance(given, (str, Path)):
        raise ConfigurationError(
            f"the parameter of session_log is {quoted(given)}, not a path or a SessionLog"
        )
    path, here = request.config.rootpath / given, Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    log = SessionLog.load(shown, **inputs.log_reading(config))
    return log if config.session_clusters is None else log.clustered(config.session_clusters)


def _session_evaluation(pytestconfig: pytest.Config, session_log: SessionLog) -> SessionEvaluation:
    """The evaluation of ``session_log``: metrics whose unit is the session.

    The independent units are those of ``rankcheck_session_clusters`` unless the log has its own.
    """
    from pytest_rankcheck.evaluation.session_evaluation import evaluate_sessions

    configured = pytestconfig.stash[CONFIG].session_clusters
    clustered = configured if session_log.cluster_by is None else None
    return evaluate_sessions(session_log, clustered=clustered)


def _rankcheck_world() -> World:
    """What is ranked with, to be recorded in baselines: a mapping of names to texts.

    Empty; write your own fixture of this name, with session scope, for what ``rankcheck_world``
    in the configuration cannot name, such as the version of a remote index.
    """
    return {}


def _baseline(request: pytest.FixtureRequest) -> Baseline:
    """This test's approved record, to hold an ``evaluation`` against."""
    from pytest_rankcheck.baselines.baseline import Baseline, Defaults
    from pytest_rankcheck.baselines.syrupy_store import syrupy_session
    from pytest_rankcheck.plugin.configured_baselines import configured_mode, configured_reference
    from pytest_rankcheck.plugin.configured_inputs import configured_gates

    syrupy_session(request.config)
    item, chosen = request.node, request.config.stash[CONFIG]
    mode = configured_mode(request.config)
    if mode.may_create and is_repeat(item) and hasattr(item.config, "workerinput"):
        raise BaselineError(
            f"{item.nodeid}: the baseline of a repeated test is written once, after all its "
            "repeats, which the workers of pytest-xdist share among them; update without -n"
        )
    defaults = Defaults(chosen.metrics, configured_gates(chosen), chosen.slices)
    made = Baseline(
        partial(_store, item, mode),
        _runnable_id(item),
        mode,
        defaults,
        configured_reference(request.config),
        key=item_key(item),
        inputs=chosen.inputs,
        expected_golden=partial(_golden_name, item),
        world=partial(_whole_world, request),
    )
    item.stash[BASELINE] = made
    return made


def _store(item: pytest.Item, mode: Mode, golden_name: str) -> SnapshotStore:
    """Return where the record of a test on a golden set is kept.

    Raises:
        BaselineError: another test has the same file.
    """
    from pytest_rankcheck.baselines.baseline_path import baseline_path
    from pytest_rankcheck.baselines.syrupy_store import SnapshotStore

    path, test = baseline_path(item.path, item_key(item), golden_name), repeated_id(item)
    owner, owner_id = item.config.stash.setdefault(_OWNERS, {}).setdefault(
        path, (test, item.nodeid)
    )
    if owner != test:
        raise BaselineError(
            f"{item.nodeid} and {owner_id} have the same baseline, because both measure on a "
            f"golden set or log named '{quoted(golden_name)}'; name the sets differently, with "
            'name="..." in GoldenSet.load, from_frame, from_dict, subset and the like'
        )
    return SnapshotStore(item, path, mode)


def _whole_world(request: pytest.FixtureRequest) -> World:
    """Return what the configuration and the fixture ``rankcheck_world`` declare together.

    Raises:
        ConfigurationError: a file or package is missing; or the fixture fails, skips the test, or
            returns something else than a mapping of texts.
    """
    from pytest_rankcheck.plugin.configured_baselines import configured_world

    configured = configured_world(request.config)
    try:
        returned = request.getfixturevalue("rankcheck_world")
    except (Exception, pytest.skip.Exception, pytest.fail.Exception) as error:
        # A fixture that skips must not turn a failing gate into a skipped test.
        raise ConfigurationError(
            f"the fixture rankcheck_world failed: {type(error).__name__}: {quoted(error, 300)}"
        ) from error
    if not isinstance(returned, Mapping) or not all(
        isinstance(text, str) for entry in returned.items() for text in entry
    ):
        raise ConfigurationError(
            f"the fixture rankcheck_world returned {quoted(repr(returned), 100)}; return a mapping "
            'of names to texts, such as {"index": "built from 3f2a91c"}'
        )
    for name in returned:
        if name in configured:
            raise ConfigurationError(
                f"'{quoted(name, 200)}' is both a line of rankcheck_world and a name that the "
                "fixture rankcheck_world returns; rename one of them"
            )
    return {**configured, **returned}


def _golden_name(item: pytest.Item) -> str | None:
    """Return the name of the golden set or log that a test has asked for; None if it has not."""
    values: dict[str, Any] = getattr(item, "funcargs", {})
    evaluations = [values.get(name) for name in ("evaluation", "session_evaluation")]
    sets: list[Any] = [getattr(evaluation, "golden", None) for evaluation in evaluations]
    sets += [values.get(name) for name in HAS_GOLDEN]
    return next((str(golden.name) for golden in sets if hasattr(golden, "name")), None)


def _runnable_id(item: pytest.Item) -> str:
    """Return the test's id as it can be given to pytest where this session was started."""
    path = os.path.relpath(item.path, item.config.invocation_params.dir)
    return f"{Path(path).as_posix()}::{item.nodeid.partition('::')[2]}"
