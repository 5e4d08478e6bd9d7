"""The pytest plugin: hooks and fixtures. It reads configuration, calls, and renders.

pytest imports this module at every start, so it imports nothing heavy: numpy, and all that needs
it, is imported by the fixtures when they are used.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_rankcheck.config import Config, add_options
from pytest_rankcheck.errors import ConfigurationError, RankcheckError, quoted
from pytest_rankcheck.reports.ledger import Entry, collecting

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.evaluation.conventions import Conventions
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.rankers.run import Run

_PROPERTY = "rankcheck"
"""The user property of a test's report that carries its ledger."""

_CONFIG = pytest.StashKey[Config]()
_BASELINE = pytest.StashKey["Baseline"]()
_RUNS = pytest.StashKey[dict[tuple[int, int], tuple[object, object, "Run"]]]()
"""The runs of this process by ranker and golden set, which are kept so that ids stay theirs."""
_RANKER_ORIGINS = pytest.StashKey[dict[int, str]]()
"""Where the value of each ``ranker`` fixture came from, in words that all workers share."""
_DEPENDENCIES = pytest.StashKey[tuple[object, ...]]()
_SHOWN = pytest.StashKey[set[int]]()


# --- configuration ---------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the configuration; register the fixtures whose shape depends on it."""
    try:
        chosen = Config.of(config)
        if chosen.conventions:
            _conventions(chosen)
    except ConfigurationError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[_CONFIG] = chosen
    config.stash[_RUNS] = {}
    config.stash[_RANKER_ORIGINS] = {}
    config.stash[_SHOWN] = set()
    config.pluginmanager.register(_configured_fixtures(chosen), "rankcheck-fixtures")
    if not _is_worker(config):
        config.pluginmanager.register(_Summary(), "rankcheck-summary")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is configured, if anything is."""
    return config.stash[_CONFIG].header


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse a configuration that cannot work before the first test runs.

    Under pytest-xdist the fixtures refuse it: an error while a worker collects ends in an
    internal error of the controller.
    """
    config = session.config
    if config.option.collectonly or _is_worker(config):
        return
    chosen = config.stash[_CONFIG]
    try:
        if any(_uses_ours(item, "golden_set") and not _has_param(item) for item in session.items):
            _check_golden(chosen)
        if any(_uses_ours(item, "ranking_run") for item in session.items) and chosen.run:
            _check_file(chosen.run, "--rankcheck-run")
        if any(_uses_ours(item, "ranker") for item in session.items):
            _load_ranker(chosen)
    except RankcheckError as error:
        raise pytest.UsageError(str(error)) from None


# --- fixtures --------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def ranker(pytestconfig: pytest.Config) -> Callable[..., object]:
    """The model under test: a callable from a query's text to document ids, best first.

    It comes from ``--rankcheck-ranker`` or ``rankcheck_ranker``; or write your own fixture of this
    name, with session scope.
    """
    return _load_ranker(pytestconfig.stash[_CONFIG])


@pytest.fixture(scope="session")
def evaluation(pytestconfig: pytest.Config, ranking_run: Run, golden_set: GoldenSet) -> Evaluation:
    """The evaluation of ``ranking_run`` on ``golden_set``."""
    from pytest_rankcheck.evaluation.evaluation import evaluate

    chosen = _conventions(pytestconfig.stash[_CONFIG])
    return evaluate(
        ranking_run,
        golden_set,
        missing=chosen.missing,
        extra=chosen.extra,
        no_relevant=chosen.no_relevant,
    )


@pytest.fixture
def baseline(request: pytest.FixtureRequest) -> Baseline:
    """This test's approved record, to hold an ``evaluation`` against."""
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.baselines.policy import Mode
    from pytest_rankcheck.baselines.snapshot import SnapshotStore

    item, chosen = request.node, request.config.stash[_CONFIG]
    mode = Mode(update=chosen.update, new_only=chosen.new_only, approval=chosen.approval)
    made = Baseline(SnapshotStore(item), item.nodeid, mode, watched=chosen.metrics)
    item.stash[_BASELINE] = made
    return made


def _configured_fixtures(config: Config) -> ModuleType:
    """Return a plugin with the fixtures whose shape depends on the configuration.

    Several golden sets parametrise ``golden_set``; a run from a file needs no ``ranker``, so that
    gating on a machine without the model does not load it.
    """
    paths = config.golden if len(config.golden) > 1 else ()
    ids = [path.name.partition(".")[0] or path.name for path in paths]
    several = pytest.fixture(
        scope="session", name="golden_set", params=paths or None, ids=ids or None
    )
    once = pytest.fixture(scope="session", name="ranking_run")
    fixtures: Any = ModuleType(__name__)
    fixtures.golden_set = several(_golden_set)
    fixtures.ranking_run = once(_run_from_file if config.run else _run_from_ranker)
    return cast("ModuleType", fixtures)


def _golden_set(request: pytest.FixtureRequest) -> GoldenSet:
    """The golden set: judged queries to measure the ranker on.

    It comes from ``--rankcheck-golden`` or ``rankcheck_golden`` (several parametrise the tests
    that use it), from an indirect parameter (a path or a GoldenSet), or from your own fixture of
    this name, with session scope.
    """
    from pytest_rankcheck.golden.golden_set import GoldenSet

    given = getattr(request, "param", None)
    if given is None:
        config = request.config.stash[_CONFIG]
        _check_golden(config)
        given = config.golden[0]
    if isinstance(given, GoldenSet):
        return given
    if not isinstance(given, (str, Path)):
        raise ConfigurationError(
            f"the parameter of golden_set is {quoted(given)}, not a path or a GoldenSet"
        )
    # A parameter may be relative to the root of the project, wherever pytest was started.
    return GoldenSet.load(request.config.rootpath / given)


def _run_from_ranker(
    request: pytest.FixtureRequest,
    ranker: Callable[..., object],
    golden_set: GoldenSet,
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    """The run of ``ranker`` over ``golden_set``: computed once, for all xdist workers."""
    runs = request.config.stash[_RUNS]
    key = (id(ranker), id(golden_set))
    if key not in runs:
        run = _rank(request.config, ranker, golden_set, tmp_path_factory)
        runs[key] = (ranker, golden_set, run)
    return runs[key][2]


def _run_from_file(pytestconfig: pytest.Config) -> Run:
    """The run of the file ``--rankcheck-run``, cut to ``rankcheck_depth``."""
    from pytest_rankcheck.rankers.run import Run

    config = pytestconfig.stash[_CONFIG]
    if config.run is None:
        raise ConfigurationError("there is no --rankcheck-run")
    chosen = _conventions(config)
    run = Run.load(config.run, ties=chosen.ties, duplicates=chosen.duplicates)
    return run.top(config.depth)


# --- a test runs -----------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Drop cached session fixtures that were made from other rankers or golden sets.

    pytest keeps the value of a session fixture even where a test overrides what it was made
    from: with a ``golden_set`` of its own in each of two folders, the second would get the
    evaluation of the first.
    """
    definitions = _definitions(item)
    if "ranking_run" not in definitions and "evaluation" not in definitions:
        return
    made_from = ("ranker", "golden_set", "ranking_run")
    now = tuple(definitions[name][-1] for name in made_from if name in definitions)
    before = item.config.stash.get(_DEPENDENCIES, now)
    item.config.stash[_DEPENDENCIES] = now
    if before != now:
        request = item._request  # type: ignore[attr-defined]
        for name in ("evaluation", "ranking_run"):
            for definition in definitions.get(name, ()):
                definition.finish(request)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Note where each ranker comes from, so that workers know which runs are the same."""
    value = yield
    if fixturedef.argname == "ranker":
        place = getattr(fixturedef.func, "__qualname__", "ranker")
        index = getattr(request, "param_index", 0)
        origin = f"{fixturedef.baseid}::{fixturedef.func.__module__}.{place}[{index}]"
        request.config.stash[_RANKER_ORIGINS][id(value)] = origin
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Collect what the test's assertions find; settle its baseline once they have all passed."""
    __tracebackhide__ = True
    with collecting() as ledger:
        try:
            result = yield
            if _BASELINE in item.stash:
                _settle(item.stash[_BASELINE], ledger)
            return result
        finally:
            ledger.extend(_watched(item))
            if ledger:
                item.user_properties.append((_PROPERTY, ledger))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[object]) -> None:
    """Leave our own frames out of the traceback of an error that we raise on purpose."""
    if call.excinfo is not None and isinstance(call.excinfo.value, RankcheckError):
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == __package__:
                vars(module).setdefault("__tracebackhide__", _is_ours)


class _Summary:
    """Collects the ledgers of all tests, also from workers, and prints them at the end."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the ledger out of a test's report."""
        if report.when == "call":
            for name, ledger in report.user_properties:
                if name == _PROPERTY and isinstance(ledger, list):
                    self.entries.extend(ledger)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table and the notes; nothing where nothing was measured."""
        if not self.entries:
            return
        from pytest_rankcheck.reports.summary import summary_lines

        terminalreporter.section("rankcheck")
        for line in summary_lines(self.entries):
            terminalreporter.write_line(line.text, **({line.colour: True} if line.colour else {}))


# --- how it is done --------------------------------------------------------------------------


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _is_ours(excinfo: pytest.ExceptionInfo[BaseException] | None) -> bool:
    return excinfo is not None and isinstance(excinfo.value, RankcheckError)


def _definitions(item: pytest.Item) -> dict[str, Sequence[pytest.FixtureDef[Any]]]:
    """Return the fixtures that a test sees, by name; the last of each is the one it gets."""
    info = getattr(item, "_fixtureinfo", None)
    return info.name2fixturedefs if info else {}


def _uses_ours(item: pytest.Item, name: str) -> bool:
    """Whether a test gets the fixture ``name`` from this plugin, not from its own project."""
    found = _definitions(item).get(name)
    return found is not None and len(found) > 0 and found[-1].func.__module__ == __name__


def _has_param(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is not None and "golden_set" in callspec.params


def _conventions(config: Config) -> Conventions:
    from pytest_rankcheck.evaluation.conventions import Conventions

    return Conventions.from_dict(config.conventions)


def _check_golden(config: Config) -> None:
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
        _check_file(path, "golden set")


def _check_file(path: Path, what: str) -> None:
    if not path.exists():
        raise ConfigurationError(f"{what}: there is no file {path}; name one that is there")


def _load_ranker(config: Config) -> Callable[..., object]:
    from pytest_rankcheck.rankers.loading import load_ranker

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


def _rank(
    config: pytest.Config,
    ranker: Callable[..., object],
    golden_set: GoldenSet,
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    """Rank, once for all workers where the ranker is known to be the same in each."""
    __tracebackhide__ = True
    from pytest_rankcheck.rankers.rank import rank

    chosen = config.stash[_CONFIG]
    conventions = _conventions(chosen)
    compute = partial(
        rank,
        ranker,
        golden_set,
        chosen.depth,
        ties=conventions.ties,
        duplicates=conventions.duplicates,
    )
    origin = config.stash[_RANKER_ORIGINS].get(id(ranker))
    if not _is_worker(config) or origin is None:
        return compute()

    from pytest_rankcheck.rankers.sharing import run_computed_once

    shared = tmp_path_factory.getbasetemp().parent / "rankcheck-runs.sqlite"
    return run_computed_once(shared, f"{origin} {_content_key(golden_set)}", compute)


def _content_key(golden_set: GoldenSet) -> str:
    """Return what all that a ranker can see of a golden set has in common between workers."""
    attributes = sorted((query.id, repr(dict(query.attributes))) for query in golden_set)
    digest = hashlib.sha256(repr(attributes).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{golden_set.name} {golden_set.fingerprint} {digest}"


def _settle(baseline: Baseline, ledger: list[Entry]) -> None:
    """Write or keep the baseline of a test that has passed so far."""
    __tracebackhide__ = True
    from pytest_rankcheck.baselines.policy import Action
    from pytest_rankcheck.reports.failure import refused_text
    from pytest_rankcheck.reports.notes import baseline_notes

    settlement = baseline.settle()
    if settlement is None:
        return
    ledger.extend(baseline_notes(baseline, settlement))
    if settlement.action is Action.REFUSE:
        raise AssertionError(refused_text(settlement, baseline.nodeid, str(baseline.path)))


def _watched(item: pytest.Item) -> Iterator[Entry]:
    """Yield, once an evaluation, the configured metrics and what a reader must know of it."""
    if _BASELINE in item.stash:
        from pytest_rankcheck.reports.notes import watched_entries

        yield from watched_entries(item.stash[_BASELINE])
    evaluation = getattr(item, "funcargs", {}).get("evaluation")
    shown = item.config.stash[_SHOWN]
    if evaluation is None or id(evaluation) in shown:
        return
    shown.add(id(evaluation))
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.metrics.names import Metric
    from pytest_rankcheck.reports.notes import evaluation_notes

    if not isinstance(evaluation, Evaluation):
        return
    for name in item.config.stash[_CONFIG].metrics:
        yield Entry(
            golden=evaluation.golden.name,
            queries=len(evaluation.query_ids),
            metric=str(Metric.parse(name)),
            baseline=None,
            now=evaluation.mean(name),
            verdict="",
            failed=False,
        )
    yield from evaluation_notes(evaluation)
