"""The check of the configuration before the first test runs: can it give tests their fixtures?"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_rankcheck.errors import ConfigurationError, RankcheckError, RankerError
from pytest_rankcheck.plugin.inputs import Inputs

_NEEDED = {
    "golden_set": ("golden_paths", "doc_ids"),
    "session_log": ("log_paths",),
    "evaluation": ("metrics",),
    "baseline": ("gates",),
    "ranker": ("ranker",),
}
"""What each fixture needs: names of properties of `Inputs`."""


def check_configuration(
    inputs: Inputs, users: Mapping[str, pytest.Item], *, lints_others: bool = False
) -> None:
    """Refuse a configuration that cannot give the tests the fixtures that they use.

    Args:
        inputs: those of the test session, or of a rank file.
        users: for each fixture name, a test that gets the fixture from this plugin's configuration.
        lints_others: whether golden sets that rank files name are linted.

    Raises:
        ConfigurationError: an input is missing or invalid.
    """
    chosen = inputs.config
    try:
        if chosen.lint and (chosen.golden or not (chosen.sessions or lints_others)):
            _ = inputs.golden_paths
        if chosen.lint and chosen.sessions:
            _ = inputs.log_paths
        if chosen.lint:
            _ = inputs.of_golden("").documents
        if chosen.lint or chosen.lint_lines:
            inputs.lint_options()
        if "ranking_run" in users and chosen.run:
            _ = inputs.run_path
        if {"ranking_run", "evaluation"} <= users.keys():
            inputs.refuse_beyond_depth(chosen.depth)
        for fixture, names in _NEEDED.items():
            for name in names if fixture in users else ():
                _check(inputs, name, users[fixture])
    except RankerError:
        if inputs.has_own_ranker:  # other tests need not know its environment
            return
        raise
    except RankcheckError:
        raise
    except Exception:  # an error in the user's module: the fixture raises it again, in the tests
        return


def _check(inputs: Inputs, name: str, user: pytest.Item) -> None:
    try:
        getattr(inputs, name)
    except ConfigurationError as error:
        raise ConfigurationError(f"{error}\n(asked for by {user.nodeid})") from None
