"""What a test session's configuration says of baselines, here and at the reference commit."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.config.findpaths import load_config_dict_from_file

from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.given_options import command_line
from pytest_rankcheck.plugin.item_identity import RANK_FILE
from pytest_rankcheck.plugin.option_rows import option_rows
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.change import Change
    from pytest_rankcheck.baselines.check import Mode
    from pytest_rankcheck.baselines.reference_commit import Reference
    from pytest_rankcheck.baselines.world import World


_SETTINGS = pytest.StashKey["BaselineSettings"]()
_FILES = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
"""In the order in which pytest looks for its configuration."""
_DECIDING = {"rankcheck_inconclusive": "warn", "rankcheck_failures": "0"}
"""The options that decide what fails, and what they are against a reference if not configured."""
_WORDS = ("pass", "warn", "fail")
"""What can be done about something, the strictest last."""


def baseline_settings(config: pytest.Config) -> BaselineSettings:
    """Return the settings of a test session, the same ones at each call."""
    return config.stash.setdefault(_SETTINGS, BaselineSettings(config))


class BaselineSettings:
    """Each is read when it is asked for. Whatever is wrong with it is a `ConfigurationError`.

    Against a reference commit, what counts as a failure is configured there too: the stricter of
    the two counts, so that a branch cannot switch it off.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @property
    def _chosen(self) -> Config:
        return self._config.stash[CONFIG]

    @cached_property
    def reference(self) -> Reference | None:
        """The commit of ``--rankcheck-baseline-ref``; None without the option.

        It is asked for before any conftest is loaded, which could name another one.
        """
        name = option_rows(Config)["baseline_ref"].value(self._config)
        if name is None:
            return None
        from pytest_rankcheck.baselines.reference_commit import Reference

        return Reference.of(name, self._config.invocation_params.dir)

    @cached_property
    def top(self) -> Path:
        """The folder from which reports name baselines: that of git, or else pytest's root."""
        root = Path(os.path.realpath(self._config.rootpath))
        start = Path(os.path.realpath(self._config.invocation_params.dir))
        return next((each for each in (start, *start.parents) if (each / ".git").exists()), root)

    def shown(self, path: Path) -> str:
        """Return a baseline file as reports name it."""
        return Path(os.path.relpath(path, self.top)).as_posix()

    @cached_property
    def at_reference(self) -> Mapping[str, Any]:
        """Pytest's configuration at the reference commit: texts or lists by name."""
        if self.reference is None:
            return {}
        from pytest_rankcheck.baselines.baseline_path import real_file

        # This branch may have moved the root into a folder; pytest also looks in the folders above.
        root = self._config.rootpath
        candidates = [folder / name for folder in (root, *root.parents) for name in _FILES]
        if self._config.inipath is not None:
            candidates.insert(0, self._config.inipath)  # pytest -c
        with tempfile.TemporaryDirectory() as folder:
            for candidate in candidates:
                if not real_file(candidate).is_relative_to(self.reference.root):
                    continue
                text = self.reference.text(real_file(candidate))
                if text is None:
                    continue
                copy = Path(folder, candidate.name)
                copy.write_text(text, "utf-8")
                with suppress(pytest.UsageError, pytest.fail.Exception):  # not read there either
                    values = _values_in(copy)
                    if values is not None:
                        return values
        return {}

    @cached_property
    def here(self) -> Mapping[str, Any]:
        """Pytest's configuration file as it is on this branch."""
        path = self._config.inipath
        return (_values_in(path) if path is not None else None) or {}

    def of_rank_file(self, file: Path) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return the options that a rank file sets, at the reference and here; else nothing."""
        if self.reference is None or not file.name.endswith(RANK_FILE):
            return {}, {}
        from pytest_rankcheck.baselines.baseline_path import real_file
        from pytest_rankcheck.plugin.rank_file_table import file_options

        before = self.reference.text(real_file(file)) or ""
        return file_options(before), file_options(file.read_text("utf-8"))

    def loosened(self, file: Path | None = None) -> Sequence[Change]:
        """Return the keys of the options that decide, and let more pass than at the reference.

        Args:
            file: a test file; None: what holds for all.
        """
        if self.reference is None or not self.reference.baselines([self.reference.root]):
            return ()
        from pytest_rankcheck.baselines.change import Change

        own_then, own_now = self.of_rank_file(file) if file else ({}, {})
        before, after = {**self.at_reference, **own_then}, {**self.here, **own_now}
        sides = (
            (name, str(before.get(name, usual)), str(after.get(name, usual)))
            for name, usual in _DECIDING.items()
        )
        return [
            Change("option-looser", name, then, now)
            for name, then, now in sides
            if _is_looser(name, now, then)
        ]

    @cached_property
    def world(self) -> World:
        """The hashes and versions of what ``rankcheck_world`` declares."""
        from pytest_rankcheck.baselines.world import declared_world

        return declared_world(self._chosen.world, self._config.rootpath)

    @cached_property
    def mode(self) -> Mode:
        """What the test session may do to baselines."""
        from pytest_rankcheck.baselines.check import Mode

        chosen = self._chosen
        then = self.at_reference.get("rankcheck_inconclusive")
        return Mode(
            chosen.update or chosen.approval is not None,
            chosen.new_only,
            chosen.approval,
            _stricter(chosen.inconclusive, then),
        )

    def failures(self, chosen: str, queries: int, file: Path) -> int:
        """Return how many of some queries a ranker may fail on.

        Args:
            chosen: what is configured here: a number, or a share.
            queries: how many there are.
            file: the file of the test.
        """
        from pytest_rankcheck.rankers.allowed_failures import most_failures

        then = chosen
        if self.reference is not None:
            before = {**self.at_reference, **self.of_rank_file(file)[0]}
            then = before.get("rankcheck_failures", "0")
        return min(most_failures(each, queries) for each in (chosen, then))

    @property
    def unrun(self) -> str:
        """What is done about gates that did not run: ``"ignore"``, ``"warn"`` or ``"fail"``.

        Against a reference they fail. A write only warns: it is how a renamed test gets its
        baseline.
        """
        chosen = self._chosen
        word = chosen.unrun if self.reference is None else "fail"
        return "warn" if self.mode.update and word == "fail" else word

    @property
    def may_skip(self) -> bool:
        """Whether the command line lets skipped and deselected gates warn against a reference."""
        return command_line(self._config).rankcheck_unrun in ("ignore", "warn")


def _values_in(path: Path) -> Mapping[str, Any] | None:
    """Return the values in a configuration file, if it has any for pytest."""
    values = load_config_dict_from_file(path)
    # pytest 9 wraps values.
    return values and {name: getattr(value, "value", value) for name, value in values.items()}


def _is_looser(name: str, now: str, then: str) -> bool:
    """Return whether the value of an option that decides lets more pass than another."""
    if name == "rankcheck_failures":
        from pytest_rankcheck.rankers.allowed_failures import allows_more

        return allows_more(now, then)
    return _stricter(now, then) != now


def _stricter(word: str, other: object) -> str:
    """Return the stricter of two words; anything else than these is not a word."""
    if other in _WORDS:
        return max(word, str(other), key=_WORDS.index)
    return word
