"""What the options of a test session say about baselines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.item_identity import path_from
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.plugin.options import command_line, option_rows

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.change import Change
    from pytest_rankcheck.baselines.check import Mode
    from pytest_rankcheck.baselines.reference_commit import Reference
    from pytest_rankcheck.baselines.world import World


_SETTINGS = pytest.StashKey["BaselineSettings"]()


def baseline_settings(config: pytest.Config) -> BaselineSettings:
    """Return the settings of a test session, the same ones at each call."""
    return config.stash.setdefault(_SETTINGS, BaselineSettings(config))


class BaselineSettings:
    """Settings that are read when they are used. An invalid one raises a `ConfigurationError`."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @cached_property
    def reference(self) -> Reference | None:
        """The commit of ``--rankcheck-baseline-ref``; None without the option.

        It is read before any conftest is loaded, because one could name another commit.
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
        return path_from(self.top, path)

    @cached_property
    def loosened(self) -> Sequence[Change]:
        """The approved changes of this branch that loosen gates or options, for all its records."""
        from pytest_rankcheck.baselines.baseline_file import readable_record

        changed = self.reference.changes() if self.reference is not None else ()
        records = (readable_record(change.after) for change in changed)
        approvals = (approval for record in records if record for approval in record.approvals)
        keys = (change for approval in approvals for change in approval.keys)
        return [change for change in keys if change.is_loosening]

    @cached_property
    def world(self) -> World:
        """The hashes and versions of what ``rankcheck_world`` declares."""
        from pytest_rankcheck.baselines.world import declared_world

        return declared_world(self._config.stash[CONFIG].world, self._config.rootpath)

    @cached_property
    def mode(self) -> Mode:
        """What the test session may do to baselines."""
        from pytest_rankcheck.baselines.check import Mode

        chosen = self._config.stash[CONFIG]
        is_update = chosen.update or chosen.approval is not None
        return Mode(is_update, chosen.approval)

    @property
    def unrun(self) -> str:
        """What to do about gates that did not run: ``"ignore"``, ``"warn"`` or ``"fail"``.

        Against a reference they fail. A session that writes only warns, because that is how a
        renamed test gets its baseline.
        """
        word = self._config.stash[CONFIG].unrun if self.reference is None else "fail"
        return "warn" if self.mode.update and word == "fail" else word

    @property
    def may_skip(self) -> bool:
        """Whether the command line lets gates be skipped or deselected against a reference."""
        return command_line(self._config).rankcheck_unrun in ("ignore", "warn")
