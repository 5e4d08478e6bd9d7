"""The fixtures, made to fit the configuration of the test session.

What needs numpy is imported when a fixture is used, never before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_rankcheck.errors import BaselineError, ConfigurationError, quoted
from pytest_rankcheck.plugin.baseline_settings import baseline_settings
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.item_identity import (
    HAS_GOLDEN,
    item_key,
    run_label,
    shared_text,
    typed_id,
)
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.baselines.check import Mode
    from pytest_rankcheck.baselines.syrupy_store import SnapshotStore
    from pytest_rankcheck.baselines.world import World
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.plugin.inputs import Inputs
    from pytest_rankcheck.rankers.run import Run
    from pytest_rankcheck.sessions.session_log import SessionLog


_NAMES = ("ranker", "golden_set", "ranking_run", "evaluation", "session_log", "baseline")
"""The fixtures whose inputs are checked before the first test runs."""

BASELINE = pytest.StashKey["Baseline"]()
"""The baseline of a test that asked for it."""
_OWNERS = pytest.StashKey[dict[Path, str]]()
"""The test that has each baseline file."""
_RUNS = pytest.StashKey[dict[tuple[int, str, str, str], tuple[object, Sequence["Run"]]]]()
"""The runs of this process by ranker (kept alive, so that its id is not reused) and golden set."""


def configured_fixtures(config: Config) -> ModuleType:
    """Return a plugin with the fixtures.

    Several golden sets parametrise ``golden_set``; a run from a file needs no ``ranker``, so that
    a machine that only gates does not load the model.
    """
    made: dict[str, Callable[..., object]] = {
        "ranker": _ranker,
        "golden_set": _golden_set,
        "ranking_run": _run_of_golden_set if config.run else _run_from_ranker,
        "evaluation": _evaluation,
        "session_log": _session_log,
        "session_evaluation": _session_evaluation,
        "rankcheck_world": _rankcheck_world,
    }
    params = {"golden_set": config.golden, "session_log": config.sessions}
    fixtures: Any = ModuleType(__name__)
    for name, function in made.items():
        paths = params.get(name, ())
        several: dict[str, Any] = {}
        if len(paths) > 1:
            from pytest_rankcheck.files.packed_files import shown_name

            several = {"params": paths, "ids": list(map(shown_name, paths))}
        setattr(fixtures, name, pytest.fixture(scope="session", name=name, **several)(function))
    fixtures.baseline = pytest.fixture(name="baseline")(_baseline)
    return cast("ModuleType", fixtures)


def _inputs(request: pytest.FixtureRequest) -> Inputs:
    """Return the inputs of the test for which a fixture is made."""
    from pytest_rankcheck.plugin.inputs import inputs_for

    return inputs_for(request._pyfuncitem)


def _ranker(request: pytest.FixtureRequest) -> object:
    """The model under test: a callable from a query's text to document ids, best first.

    It comes from ``--rankcheck-ranker`` or ``rankcheck_ranker``; or write your own fixture of this
    name, with session scope.
    """
    return _inputs(request).ranker


def _golden_set(request: pytest.FixtureRequest) -> GoldenSet:
    """The golden set: judged queries to measure the ranker on.

    It comes from ``--rankcheck-golden`` or ``rankcheck_golden`` (several parametrise the tests
    that use it), from an indirect parameter (a path or a GoldenSet), or from your own fixture of
    this name, with session scope.
    """
    from pytest_rankcheck.golden.golden_set import GoldenSet

    inputs = _inputs(request)
    given = request.param if hasattr(request, "param") else inputs.golden_paths[0]
    if isinstance(given, GoldenSet):
        return given
    return inputs.golden_set(request.config.rootpath / given)


def _run_from_ranker(
    request: pytest.FixtureRequest,
    ranker: object,
    golden_set: GoldenSet,
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    """The run of ``ranker`` over ``golden_set``: the first of those that `ranked` returns."""
    from pytest_rankcheck.plugin.ranking_runs import RankerOrigin, ranked
    from pytest_rankcheck.rankers.ranker_lookup import specification_of

    inputs = _inputs(request)
    runs = request.config.stash.setdefault(_RUNS, {})
    visible = golden_set.visible_fingerprint
    how = f"{inputs.config.depth} {inputs.config.failures}"
    key = (id(ranker), golden_set.name, visible, how)
    if key not in runs:
        label = run_label(request._pyfuncitem, golden_set.name)
        fixture = f"{_ranker_fixture(request)} {how}"
        origin = RankerOrigin(fixture, specification_of(ranker), label, inputs)
        shared = tmp_path_factory.getbasetemp().parent
        runs[key] = (ranker, ranked(request.session, ranker, golden_set, origin, shared))
    return runs[key][1][0]


def _ranker_fixture(request: Any) -> str:
    """Describe the fixture that made the ranker, alike in all xdist workers."""
    definition = request._get_active_fixturedef("ranker")
    callspec = getattr(request._pyfuncitem, "callspec", None)
    number = callspec.indices.get("ranker", 0) if callspec else 0
    function = definition.func
    place = getattr(function, "__qualname__", "ranker")
    return f"{definition.baseid}::{function.__module__}.{place}[{number}]"


def _run_of_golden_set(request: pytest.FixtureRequest, golden_set: GoldenSet) -> Run:
    """The run of ``golden_set`` in ``--rankcheck-run``, cut to ``rankcheck_depth``."""
    label = run_label(request._pyfuncitem, golden_set.name)
    return _inputs(request).run_of(golden_set.name, label)


def _evaluation(
    request: pytest.FixtureRequest, ranking_run: Run | Sequence[Run], golden_set: GoldenSet
) -> Evaluation:
    """The evaluation of ``ranking_run``, or of several runs, on ``golden_set``."""
    inputs = _inputs(request)
    ranked = (runs for _, runs in request.config.stash.get(_RUNS, {}).values())
    measured = next((runs for runs in ranked if runs[0] is ranking_run), ranking_run)
    return inputs.evaluation(measured, golden_set)


def _session_log(request: pytest.FixtureRequest) -> SessionLog:
    """The session log: what users did, one session per search.

    It comes from ``--rankcheck-sessions`` or ``rankcheck_sessions`` (several parametrise the tests
    that use it), from an indirect parameter (a path or a SessionLog), or from your own fixture of
    this name, with session scope.
    """
    from pytest_rankcheck.sessions.session_log import SessionLog

    inputs = _inputs(request)
    given = request.param if hasattr(request, "param") else inputs.log_paths[0]
    if isinstance(given, SessionLog):
        return given
    return inputs.session_log(request.config.rootpath / given)


def _session_evaluation(pytestconfig: pytest.Config, session_log: SessionLog) -> Evaluation:
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
    """This test's approved record, to compare an ``evaluation`` with."""
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.baselines.register import Defaults
    from pytest_rankcheck.baselines.syrupy_store import syrupy_session

    syrupy_session(request.config)
    item, inputs = request.node, _inputs(request)
    chosen = inputs.config
    settings = baseline_settings(request.config)
    mode = settings.mode
    defaults = Defaults(
        chosen.metrics,
        inputs.gates,
        chosen.slices,
        chosen.kept_depth,
        chosen.inconclusive,
        chosen.failures,
        chosen.sealed,
    )
    made = Baseline(
        partial(_store, item, mode),
        typed_id(item),
        mode,
        defaults,
        settings.reference,
        key=item_key(item),
        inputs=chosen.inputs,
        expected_golden=partial(golden_name, item),
        declared_world=partial(_whole_world, request),
        loosened=lambda: settings.loosened,
    )
    item.stash[BASELINE] = made
    return made


def _store(item: pytest.Item, mode: Mode, golden_name: str) -> SnapshotStore:
    """Return where the record of a test on a golden set is kept.

    Raises:
        BaselineError: another test has the same file.
    """
    from pytest_rankcheck.baselines.baseline_path import baseline_path, real_file
    from pytest_rankcheck.baselines.syrupy_store import SnapshotStore

    path = baseline_path(real_file(item.path), item_key(item), golden_name)
    owner = item.config.stash.setdefault(_OWNERS, {}).setdefault(path, item.nodeid)
    if owner.partition("::")[2] != item.nodeid.partition("::")[2]:  # or one file through a link
        raise BaselineError(shared_text(item.nodeid, owner, golden_name))
    return SnapshotStore(item, path, mode)


def _whole_world(request: pytest.FixtureRequest) -> World:
    """Return what the configuration and the fixture ``rankcheck_world`` declare together.

    Raises:
        ConfigurationError: a file or package is missing; or the fixture fails, skips the test, or
            returns something other than a mapping.
    """
    from pytest_rankcheck.baselines.world import MODEL_FEATURES

    try:
        returned = dict(request.getfixturevalue("rankcheck_world"))
    except (Exception, pytest.skip.Exception, pytest.fail.Exception) as error:
        # A fixture that skips must not turn a failing gate into a skipped test.
        raise ConfigurationError(
            f"the fixture rankcheck_world failed: {type(error).__name__}: {quoted(error, 300)}"
        ) from error
    world = baseline_settings(request.config).world
    features: World = {}
    if MODEL_FEATURES in _inputs(request).config.world:
        from pytest_rankcheck.rankers.adapters.model_ranker import model_features

        ranker, golden = (request.getfixturevalue(name) for name in ("ranker", "golden_set"))
        features = model_features(ranker, golden)
    return {**world, **features, **{str(name): str(text) for name, text in returned.items()}}


def golden_name(item: pytest.Item) -> str | None:
    """Return the name of the golden set or log that a test has asked for; None if it has not."""
    values: dict[str, Any] = getattr(item, "funcargs", {})
    evaluations = [values.get(name) for name in ("evaluation", "session_evaluation")]
    sets: list[Any] = [getattr(evaluation, "golden", None) for evaluation in evaluations]
    sets += [values.get(name) for name in HAS_GOLDEN]
    return next((str(golden.name) for golden in sets if hasattr(golden, "name")), None)


def golden_path(item: pytest.Item) -> Path | None:
    """Return the configured golden set that a test is given; None if there is none."""
    if "golden_set" not in fixtures_of(item):
        return None
    from pytest_rankcheck.plugin.inputs import inputs_for

    callspec = getattr(item, "callspec", None)
    given = callspec.params.get("golden_set") if callspec else None
    return given if isinstance(given, Path) else next(iter(inputs_for(item).config.golden), None)


def fixtures_of(item: pytest.Item) -> dict[str, Sequence[pytest.FixtureDef[Any]]]:
    """Return the fixtures that a test sees, by name; it gets the last one of each."""
    info = getattr(item, "_fixtureinfo", None)
    return info.name2fixturedefs if info else {}


def users_of_our_fixtures(items: Sequence[pytest.Item]) -> Mapping[str, pytest.Item]:
    """Return, for each fixture name, a test that gets it from this plugin's configuration."""
    users: dict[str, pytest.Item] = {}
    for item in items:
        definitions = fixtures_of(item)
        params = item.callspec.params if hasattr(item, "callspec") else ()
        for name in _NAMES:
            is_ours = bool(definitions.get(name)) and is_our_fixture(definitions[name][-1])
            if is_ours and name not in params:
                users.setdefault(name, item)
    return users


def is_our_fixture(definition: pytest.FixtureDef[Any]) -> bool:
    """Return whether a fixture is this plugin's own."""
    return bool(definition.func.__module__ == __name__)
