"""The configuration that a project gives pytest, read without a test session."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

from pytest_rankcheck.errors import ConfigurationError, RankcheckError, quoted
from pytest_rankcheck.files import packed_files
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
"""Nothing of the project is imported, and no other plugin is loaded or has a say."""


class _Reader:
    """A plugin that reads the configuration, and ends pytest before it collects anything."""

    read: pytest.Config | None = None

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        add_options(parser)

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        config.stash[CONFIG] = read_configuration(config)
        self.read = config
        return 0


def project_configuration() -> pytest.Config:
    """Return what pytest, started in the working directory, would read as its configuration.

    Pytest finds and reads the file; ours is in its stash. Options in ``addopts`` do not count.

    Raises:
        ConfigurationError: the file cannot be read, an ini name is unknown or a value is invalid.
    """
    reader = _Reader()
    messages = io.StringIO()
    why = ""
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(messages):
        for name in _ENVIRONMENT:
            patch.delenv(name, raising=False)
        try:
            pytest.main([*_ARGUMENTS], plugins=[reader])
        except RankcheckError:
            raise
        except (ValueError, OSError, RecursionError) as failure:  # of a file that is not UTF-8
            why = f"{type(failure).__name__}: {failure}"
    if reader.read is None:
        why = why or " ".join(messages.getvalue().removeprefix("ERROR: ").split())
        raise ConfigurationError(f"pytest cannot read its configuration file: {quoted(why, 300)}")
    max_unpacked = reader.read.stash[CONFIG].max_unpacked
    if max_unpacked:
        packed_files.max_unpacked = max_unpacked
    return reader.read
