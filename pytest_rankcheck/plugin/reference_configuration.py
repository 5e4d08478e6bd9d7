"""pytest's configuration at the reference commit, regardless of this branch."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest.config.findpaths import load_config_dict_from_file

from pytest_rankcheck.baselines.reference_commit import Reference

__all__ = ["configuration_at", "words_of"]

_FILES = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
"""In the order in which pytest looks for its configuration."""


def configuration_at(reference: Reference, config: pytest.Config) -> Mapping[str, Any]:
    """Return pytest's configuration at a commit: texts or lists by name; empty without one.

    Args:
        reference: the commit.
        config: of this test session, whose root is where the file is looked for.
    """
    # This branch may have moved the root into a folder; pytest also looks in the folders above it.
    folders = [config.rootpath, *config.rootpath.parents]
    candidates = [
        folder / name
        for folder in folders
        if folder.resolve().is_relative_to(reference.root.resolve())
        for name in _FILES
    ]
    if config.inipath is not None and config.inipath not in candidates:
        candidates.insert(0, config.inipath)  # pytest -c
    with tempfile.TemporaryDirectory() as folder:
        for candidate in candidates:
            text = reference.text(candidate)
            if text is None:
                continue
            copy = Path(folder, candidate.name)
            copy.write_text(text, "utf-8")
            try:
                values = load_config_dict_from_file(copy)
            except (pytest.UsageError, pytest.fail.Exception):
                continue  # pytest at that commit could not read it either
            if values is not None:
                # pytest 9 wraps values.
                return {name: getattr(value, "value", value) for name, value in values.items()}
    return {}


def words_of(value: object) -> Sequence[str]:
    """Return a configured list of words, which a file may give as one text."""
    return [str(word) for word in value] if isinstance(value, list) else shlex.split(str(value))
