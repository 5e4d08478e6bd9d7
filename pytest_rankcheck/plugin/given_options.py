"""The options that the user gave pytest, read before a conftest of the project can change them.

pytest imports this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

import argparse
import copy
import os
import shlex
from collections.abc import Sequence
from typing import NamedTuple

import pytest


class GivenOptions(NamedTuple):
    """The options of a test session, as they were when it started."""

    options: argparse.Namespace
    """The values of all options, including those from the project's ``addopts``."""
    words: Sequence[str]
    """The arguments that the user gave, without those of the project's ``addopts``."""

    def has(self, *flags: str) -> bool:
        """Return whether the user gave one of some options."""
        return any(word.partition("=")[0] in flags for word in self.words)


_GIVEN = pytest.StashKey[GivenOptions]()


def given_options(config: pytest.Config) -> GivenOptions:
    """Return the options that a test session was given; the first call reads them."""
    if _GIVEN not in config.stash:
        variable = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
        words = (*variable, *map(str, config.invocation_params.args))
        options = copy.copy(config.known_args_namespace)
        config.stash[_GIVEN] = GivenOptions(options, words)
    return config.stash[_GIVEN]


def command_line(config: pytest.Config) -> argparse.Namespace:
    """Return the option values and the arguments that come from the command line alone.

    Call it after conftests have declared their options; before that, their values look like
    arguments.
    """
    return config._parser.parse_known_args(given_options(config).words)
