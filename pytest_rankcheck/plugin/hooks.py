"""The hooks of the pytest plugin: they read the configuration and call the other modules.

pytest imports this module at every start, so numpy and everything that needs it is imported only
where it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rankcheck.errors import ConfigurationError, RankcheckError
from pytest_rankcheck.plugin import fixtures
from pytest_rankcheck.plugin.baseline_settings import baseline_settings
from pytest_rankcheck.plugin.configuration import (
    CONFIG,
    add_options,
    read_configuration,
    refuse_idle_session,
)
from pytest_rankcheck.plugin.fixtures import (
    BASELINE,
    fixtures_of,
    is_our_fixture,
    users_of_our_fixtures,
)
from pytest_rankcheck.plugin.item_findings import (
    SHOWN,
    caught,
    findings_beside,
    name_run,
    refuse_dropped_gates,
    settled,
    without_false_claims,
)
from pytest_rankcheck.plugin.item_identity import RANK_FILE, TYPED_ID, typed_id
from pytest_rankcheck.plugin.session_findings import (
    CARRIED,
    LEDGER,
    SessionFindings,
    remove_old_reports,
)
from pytest_rankcheck.plugin.watched_tests import WatchedTests

if TYPE_CHECKING:
    from pytest_rankcheck.extension_registry import ExtensionRegistry
    from pytest_rankcheck.plugin.inputs import Inputs


NOT_PASSED = pytest.StashKey[bool]()
"""Whether a phase of the test, or a subtest, has failed, skipped or xfailed so far."""
PRINTED = pytest.StashKey[Any]()
"""What the failure texts of the test session have shown."""
_DEPENDENCIES = pytest.StashKey[tuple[object, ...]]()
"""The fixtures from which the cached evaluation of the session was made."""
_NEEDED = {
    "golden_set": "golden_paths",
    "session_log": "log_paths",
    "evaluation": "metrics",
    "baseline": "gates",
    "ranker": "ranker",
}
"""What each fixture needs: the name of a property of `Inputs`."""
_OURS = "pytest_rankcheck"
_HIDDEN = (_OURS, "contextlib", "functools")


class Specifications:
    """The hook that other packages can implement."""

    @pytest.hookspec
    def pytest_rankcheck_register(self, registry: ExtensionRegistry) -> None:
        """Add formats, metrics, ranker adapters and gates.

        It is called once in each test session, and once in each worker of pytest-xdist, before
        configuration is read. Implement it in a plugin or in the root folder's ``conftest.py``.

        Args:
            registry: takes what is added.
        """


# --- configuration ---------------------------------------------------------------------------


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hook that other packages can implement."""
    pluginmanager.add_hookspecs(Specifications)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Remove old reports, and read the options and the reference before a conftest changes them."""
    remove_old_reports(early_config)
    try:
        _ = baseline_settings(early_config).reference
    except RankcheckError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Refuse a comparison with a commit if no test will run."""
    try:
        refuse_idle_session(config)
    except RankcheckError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_configure(config: pytest.Config) -> None:
    """Read the configuration; register the fixtures whose shape depends on it."""
    try:
        if config.hook.pytest_rankcheck_register.get_hookimpls():
            from pytest_rankcheck.extension_registry import ExtensionRegistry

            config.hook.pytest_rankcheck_register(registry=ExtensionRegistry())
        chosen = config.stash[CONFIG] = read_configuration(config)
        if chosen.conventions or chosen.lint_lines:
            from pytest_rankcheck.plugin.inputs import inputs_of

            _ = inputs_of(config).conventions, inputs_of(config).lint_options()
    except RankcheckError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[SHOWN] = {}
    # Registered without names, so that no part can be switched off alone with -p no:NAME.
    config.pluginmanager.register(fixtures.configured_fixtures(chosen))
    if chosen.hidden:
        from pytest_rankcheck.plugin.sealed_tests import SealedTests

        config.pluginmanager.register(SealedTests(chosen.hidden))
    watched = WatchedTests(config)
    config.pluginmanager.register(watched)
    if not _is_worker(config):
        config.pluginmanager.register(SessionFindings(config, watched))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect rank files."""
    if not (file_path.name.startswith("test_") and file_path.name.endswith(RANK_FILE)):
        return None
    from pytest_rankcheck.plugin.rank_file import RankFile

    return RankFile.from_parent(parent, path=file_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the lint tests of golden sets before ``-k`` and the like select among all tests."""
    if session.config.stash[CONFIG].lint:
        from pytest_rankcheck.plugin.lint_items import lint_items

        items.extend(lint_items(session, items))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse a configuration that cannot work before the first test runs.

    Under pytest-xdist the fixtures refuse it, because an error while a worker collects becomes an
    internal error of the controller.
    """
    config = session.config
    if config.option.collectonly or _is_worker(config):
        return
    chosen = config.stash[CONFIG]
    if not users_of_our_fixtures(session.items) and not chosen.lint:
        return
    from pytest_rankcheck.plugin.inputs import inputs_for, inputs_of

    items_by_inputs = {inputs_of(config): list[pytest.Item]()}
    for item in session.items:
        items_by_inputs.setdefault(inputs_for(item), []).append(item)
    try:
        if chosen.lint and not any(inputs.config.golden for inputs in items_by_inputs):
            _ = inputs_of(config).golden_paths
        for inputs, items in items_by_inputs.items():
            for fixture, user in users_of_our_fixtures(items).items():
                _check_inputs(inputs, fixture, user)
    except RankcheckError as error:
        raise pytest.UsageError(str(error)) from None


# --- a test runs -----------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Drop cached session fixtures that were made from another ranker or golden set.

    pytest keeps the value of a session fixture even if a test overrides what it was made from: if
    two folders each have their own ``golden_set``, the second would get the evaluation of the
    first.
    """
    item.stash[NOT_PASSED] = False  # a plugin may run the test several times
    definitions = fixtures_of(item)
    if "ranking_run" not in definitions and "evaluation" not in definitions:
        return
    from pytest_rankcheck.plugin.inputs import inputs_for

    made_from = ("ranker", "golden_set", "ranking_run")
    fixtures_now = (definitions[name][-1] for name in made_from if name in definitions)
    now = (*fixtures_now, inputs_for(item))
    before = item.config.stash.get(_DEPENDENCIES, now)
    item.config.stash[_DEPENDENCIES] = now
    if before != now:
        request = item._request  # type: ignore[attr-defined]
        for name in ("evaluation", "ranking_run"):
            for definition in definitions.get(name, ()):
                if is_our_fixture(definition):
                    definition.finish(request)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Collect what the test's assertions find; refuse an update once they have all passed."""
    from pytest_rankcheck.reports.ledger import PrintedDocuments, collecting
    from pytest_rankcheck.reports.report_formats import show_queries

    chosen = item.config.stash[CONFIG]
    strict = chosen.inconclusive == "fail"
    printed = item.config.stash.setdefault(PRINTED, PrintedDocuments())
    name_run(item)
    with collecting(
        detail=chosen.writes_reports,
        queries=show_queries(chosen.reports),
        strict=strict,
        evidence=item.config.get_verbosity() > 0,
        proves=chosen.prove,
        printed=printed,
    ) as ledger:
        try:
            result = yield
            if not item.stash[NOT_PASSED]:  # a failed subtest raises nothing here
                if BASELINE in item.stash:
                    refuse_dropped_gates(item.stash[BASELINE])
                ledger[:] = caught(ledger)  # such as with pytest.raises
            ledger.extend(findings_beside(item, ledger, stopped=False))
            ledger[:] = without_false_claims(item, ledger, passed=not item.stash[NOT_PASSED])
            return result
        except BaseException:
            with suppress(RankcheckError):  # the failure of the test says more
                ledger.extend(findings_beside(item, ledger, stopped=True))
            ledger[:] = without_false_claims(item, ledger, passed=False)
            raise
        finally:
            item.stash[LEDGER] = ledger
            if ledger:
                from pytest_rankcheck.reports.ci_formats import properties_of

                item.user_properties.extend(properties_of(ledger))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Write the test's baseline, now that every other phase has passed.

    A test that failed, was skipped or xfailed, or fails in its teardown writes nothing.
    """
    result = yield
    if BASELINE in item.stash and not item.stash.get(NOT_PASSED, False):
        item.stash[LEDGER] = settled(item)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[object]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send the findings along with the report of a test.

    Our own frames are left out of the traceback, unless the error is a bug of ours.
    """
    of_unittest = getattr(item, "_excinfo", None) or [None]  # pytest moves it to the call below
    excinfo = call.excinfo or of_unittest[0]
    hidden = _hidden_modules(excinfo) if excinfo else []
    for names in hidden:
        names["__tracebackhide__"] = True
    report = yield
    setattr(report, TYPED_ID, typed_id(item))
    for names in hidden:
        names.pop("__tracebackhide__", None)
    printed = item.config.stash.get(PRINTED, None)
    if printed and report.failed and call.excinfo is not None:
        printed.settle(typed_id(item))
    # This also sees the reports of subtests, and strict xfails that pass.
    if not report.passed or hasattr(report, "wasxfail"):
        item.stash[NOT_PASSED] = True
    if item.stash.get(LEDGER, None) or (report.failed and users_of_our_fixtures([item])):
        setattr(report, CARRIED, item.stash.get(LEDGER, []))
        item.stash[LEDGER] = []
    return report


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(report: object) -> Generator[None, Any, Any]:
    """Pack the findings of a report that leaves the process, such as a worker of pytest-xdist."""
    data = yield
    if isinstance(getattr(report, CARRIED, None), list):
        from pytest_rankcheck.reports.ledger import packed

        data[CARRIED] = packed(data[CARRIED])
    return data


# --- how it is done --------------------------------------------------------------------------


def _check_inputs(inputs: Inputs, fixture: str, user: pytest.Item) -> None:
    """Refuse a configuration that cannot give a test a fixture that it uses.

    Raises:
        RankcheckError: an input is missing or invalid.
    """
    try:
        if fixture in _NEEDED:
            getattr(inputs, _NEEDED[fixture])
        elif inputs.config.run:
            _ = inputs.run_path
    except ConfigurationError as error:
        raise ConfigurationError(f"{error}\n(asked for by {user.nodeid})") from None
    except Exception as error:
        # An error in the user's module: the fixture raises it again, in the tests. If a rank file
        # makes the ranker, other tests need not know its environment.
        if isinstance(error, RankcheckError) and not inputs.has_own_ranker:
            raise


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _hidden_modules(excinfo: pytest.ExceptionInfo[BaseException]) -> list[dict[str, Any]]:
    """Return the globals of the modules whose frames a traceback hides: ours and functools.

    None if the error is a bug of ours.
    """
    error = excinfo.value
    is_failed_gate = isinstance(error, AssertionError) and str(error)  # not an assert of ours
    is_ours = _package(excinfo.traceback[-1].frame.f_globals["__name__"]) == _OURS
    if is_ours and not is_failed_gate and not isinstance(error, RankcheckError):
        return []
    modules = list(sys.modules.items())
    return [vars(module) for name, module in modules if _package(name) in _HIDDEN]


def _package(name: str) -> str:
    return name.partition(".")[0]
