"""The configuration that a project gives pytest, read without a test session."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from _pytest.config import _prepareconfig

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.plugin.configuration import CONFIG, add_options, read_configuration

_ENVIRONMENT = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
"""Variables that add options and plugins."""
_ARGUMENTS = (
    "--noconftest",
    "--disable-plugin-autoload",
    "--assert=plain",
    "--capture=no",
    *("-o", "addopts="),
    *("-o", "required_plugins="),
)
"""Nothing of the project is imported, and no other plugin is loaded."""


def project_configuration(overrides: Sequence[str] = ()) -> pytest.Config:
    """Return the configuration that pytest would read if started in the working directory.

    Pytest finds and reads the file; our part is in its stash. Options in ``addopts`` do not count.

    Args:
        overrides: what replaces ini options of the file, as pytest takes it after ``-o``.

    Raises:
        ConfigurationError: the file cannot be read, an ini name is unknown or a value is invalid.
    """
    declaring = SimpleNamespace(pytest_addoption=add_options)
    with pytest.MonkeyPatch.context() as patch:
        for name in _ENVIRONMENT:
            patch.delenv(name, raising=False)
        try:
            given = [f"--override-ini={each}" for each in overrides]
            config = _prepareconfig([*_ARGUMENTS, *given], plugins=[declaring])
        except (pytest.UsageError, ValueError, OSError, RecursionError) as failure:
            why = quoted(" ".join(str(failure).split()), 300)
            text = f"pytest cannot read its configuration file: {why}"
            raise ConfigurationError(text) from None
    config._ensure_unconfigure()
    config.stash[CONFIG] = read_configuration(config)
    return config
