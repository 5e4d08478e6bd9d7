"""What the user gave pytest, read before a conftest of the project can change it.

pytest imports this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

import argparse
import copy
import os
import shlex
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import pytest


class GivenOptions(NamedTuple):
    """The options of a test session, as they were when it started."""

    options: argparse.Namespace
    """The values of all options, also of those that the project's ``addopts`` give."""
    words: Sequence[str]
    """The arguments that the user gave, without those of the project's ``addopts``."""

    def has(self, *flags: str) -> bool:
        """Return whether the user gave one of some options."""
        return any(word.partition("=")[0] in flags for word in self.words)


_GIVEN = pytest.StashKey[GivenOptions]()


def given_options(config: pytest.Config) -> GivenOptions:
    """Return what was given to a test session; the first call reads it."""
    if _GIVEN not in config.stash:
        words = map(str, config.invocation_params.args)
        variable = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
        options = copy.copy(config.known_args_namespace)
        config.stash[_GIVEN] = GivenOptions(options, (*words, *variable))
    return config.stash[_GIVEN]


def has_value(words: Sequence[str], value: str, *flags: str) -> bool:
    """Return whether words give an option a value: ``-k X``, ``-kX`` or ``--option=X``."""
    return any(
        (word in flags and following == value)
        or any(word in (f"{flag}={value}", f"{flag}{value}") for flag in flags)
        for word, following in pairwise([*words, ""])
    )
