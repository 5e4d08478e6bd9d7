"""The check of the configuration before the first test runs: can it give tests their fixtures?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.plugin import configured_inputs as inputs
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.configured_baselines import configured_reference
from pytest_rankcheck.plugin.configured_doc_ids import configured_doc_id
from pytest_rankcheck.plugin.configured_golden import check_golden
from pytest_rankcheck.plugin.item_fixtures import fixtures_of, has_param, is_our_fixture
from pytest_rankcheck.plugin.option_table import Config

__all__ = ["check_configuration"]


def check_configuration(config: pytest.Config, users: Mapping[str, Sequence[pytest.Item]]) -> None:
    """Refuse a configuration that cannot give the tests the fixtures that they use.

    Args:
        config: the test session.
        users: the tests that get each fixture from this plugin, by its name.
    """
    chosen = config.stash[CONFIG]
    if chosen.lint and (chosen.golden or not chosen.sessions):
        check_golden(chosen)
    if chosen.lint and chosen.sessions:
        inputs.check_sessions(chosen)
    if chosen.lint or chosen.lint_lines:
        inputs.configured_lint(chosen)
    if chosen.lint:
        inputs.check_corpus(chosen)
    _check_for(users.get("golden_set", ()), "golden_set", chosen, check_golden)
    _check_for(users.get("session_log", ()), "session_log", chosen, inputs.check_sessions)
    if "ranking_run" in users and chosen.run:
        inputs.check_run(chosen)
    if "evaluation" in users:
        inputs.check_metrics(chosen)
    if "baseline" in users:
        inputs.configured_gates(chosen)
        if all(_measures_a_configured_set(item, chosen) for item in users["baseline"]):
            inputs.check_gated_sets(chosen)
        configured_reference(config)
    try:
        _check_named_objects(config, users)
    except RankcheckError:
        raise
    except Exception:  # an error in the user's module: the fixture raises it again, in the tests
        return


def _check_named_objects(config: pytest.Config, users: Mapping[str, Sequence[pytest.Item]]) -> None:
    """Check the objects in the user's modules that the configuration names.

    Raises:
        ConfigurationError: an object does not exist, or is of the wrong kind.
        Exception: whatever a module raises on import.
    """
    chosen = config.stash[CONFIG]
    if "golden_set" in users or "ranking_run" in users:
        configured_doc_id(chosen)
    if "ranking_run" in users and not chosen.run:
        inputs.check_ranking(chosen)
    if "ranker" in users:
        inputs.configured_ranker(config)


def _check_for(
    items: Sequence[pytest.Item], name: str, chosen: Config, check: Callable[[Config], None]
) -> None:
    """Check what a fixture needs, if a test gets it from the configuration; name the first."""
    item = next((item for item in items if not has_param(item, name)), None)
    if item is None:
        return
    try:
        check(chosen)
    except RankcheckError as error:
        raise pytest.UsageError(f"{error}\n(asked for by {item.nodeid})") from None


def _measures_a_configured_set(item: pytest.Item, chosen: Config) -> bool:
    """Whether a test gets its golden set or session log from the configuration."""
    definitions = fixtures_of(item)
    for name, paths in (("golden_set", chosen.golden), ("session_log", chosen.sessions)):
        if definitions.get(name):
            return is_our_fixture(definitions[name][-1]) and (
                not has_param(item, name) or item.callspec.params[name] in paths  # type: ignore[attr-defined]
            )
    return False
