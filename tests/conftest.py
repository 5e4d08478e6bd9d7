"""How the tests run: examples of hypothesis that never change, and a whole run on every core."""

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

# The same examples on every machine, however slow it is. A campaign looks for new ones.
everyday = settings(deadline=None, derandomize=True, database=None, max_examples=25)
settings.register_profile("everyday", everyday)
settings.register_profile("thorough", everyday, max_examples=50)
settings.register_profile("campaign", everyday, derandomize=False, max_examples=1000)
settings.register_profile("fuzz", everyday, derandomize=False, max_examples=100_000)
settings.load_profile("everyday")


@pytest.fixture
def own_metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the metrics that a test registers."""
    from pytest_rankcheck.metrics import metric_registry

    monkeypatch.setattr(metric_registry, "_DEFINITIONS", dict(metric_registry.definitions()))
    monkeypatch.setattr(metric_registry, "_NAMES", dict(metric_registry._NAMES))
    yield
    metric_registry._GENERATIONS[0] += 1  # names are parsed again


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Let `pytest` alone use every core; a run of chosen tests stays in one process."""
    if hasattr(config, "workerinput"):  # a worker has no workers of its own
        return
    # Or each process that a test starts compiles the package and its libraries anew.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Or pytest inside pytest repeats each failure, in its short summary and in annotations.
    for name in [*os.environ]:
        if name in ("CI", "BUILD_NUMBER") or name.startswith("GITHUB_"):
            del os.environ[name]
    whole_suite = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if not whole_suite or not config.pluginmanager.hasplugin("xdist"):
        return
    if config.option.numprocesses is None:
        config.option.numprocesses = "auto"
        config.option.dist = "worksteal"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of the sessions that install everything."""
    parser.addoption(
        "--all-installed",
        action="store_true",
        help="fail if a test cannot run because something is not installed",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that need a library that is not installed; with the option, they fail."""
    needs = {
        item: [name for mark in item.iter_markers("needs") for name in mark.args] for item in items
    }
    missing = {name for names in needs.values() for name in names if find_spec(name) is None}
    if missing and not config.getoption("--all-installed"):
        lacking = [item for item in items if not missing.isdisjoint(needs[item])]
        items[:] = [item for item in items if missing.isdisjoint(needs[item])]
        config.hook.pytest_deselected(items=lacking)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run with ``--all-installed`` that skipped what was not installed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not session.config.getoption("--all-installed"):
        return
    missing = [
        skip for skip in reporter.stats.get("skipped", []) if "installed" in str(skip.longrepr)
    ]
    if missing:
        reporter.write_line(f"\n--all-installed: {len(missing)} skipped for want of a library")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
