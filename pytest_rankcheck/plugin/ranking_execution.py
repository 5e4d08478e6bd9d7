"""How the rankings of a test session are made: on an executor, and with answers that are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.baselines.world import World, declared_files
from pytest_rankcheck.plugin.configuration import CONFIG

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.execution.prepared_ranker import Execution
    from pytest_rankcheck.rankers.execution.undeclared_inputs import Inputs

__all__ = ["configured_execution", "ranker_watched"]

_READ: pytest.StashKey[list[Inputs]] = pytest.StashKey()
"""What rankers have read while they were made, in this process."""


class _CompleteRuns:
    """Deletes the kept answers of complete runs when the test session ends.

    So a session that is killed in its fifth golden set need not rank the first four again.
    """

    def __init__(self) -> None:
        self.deletions: list[Callable[[], None]] = []

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Delete them, unless the session was interrupted."""
        if exitstatus not in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR):
            for delete in self.deletions:
                delete()


_ENDED = pytest.StashKey[_CompleteRuns]()


@contextmanager
def ranker_watched(config: pytest.Config) -> Iterator[None]:
    """Note what a ranker reads while it is made, if its answers are kept without a key."""
    chosen = config.stash[CONFIG]
    if chosen.resume is None or chosen.resume_key is not None or chosen.executor is not None:
        yield
        return
    from pytest_rankcheck.rankers.execution.undeclared_inputs import watched_inputs

    with watched_inputs(active=True) as inputs:
        yield
    config.stash.setdefault(_READ, []).append(inputs.taken())


def configured_execution(
    config: pytest.Config, origin: str | None, name: str, world: Callable[[], World]
) -> Execution | None:
    """Return how a ranker is asked; None: in this process, keeping nothing.

    Args:
        config: the test session.
        origin: the ranker, in words that every session shares.
        name: of the folder within that of ``--rankcheck-resume``.
        world: returns what ``rankcheck_world`` declares.

    Raises:
        ConfigurationError: what is declared cannot be read.
    """
    chosen = config.stash[CONFIG]
    if chosen.executor is None and chosen.resume is None:
        return None
    from pytest_rankcheck.rankers.execution.prepared_ranker import Execution

    if chosen.resume is None:
        return Execution(chosen.executor, chosen.chunk, None)
    from pytest_rankcheck.rankers.execution.resume_key import ResumeScope

    read: list[Inputs] = config.stash.get(_READ, [])
    if _ENDED not in config.stash:
        config.stash[_ENDED] = _CompleteRuns()
        config.pluginmanager.register(config.stash[_ENDED], "rankcheck-complete-runs")
    scope = ResumeScope(
        Path(chosen.resume) / name,
        chosen.resume_key,
        origin,
        config.rootpath,
        world(),
        declared_files(chosen.world, config.rootpath),
        read,
        apart=chosen.resume,
        when_complete=config.stash[_ENDED].deletions.append,
    )
    return Execution(chosen.executor, chosen.chunk, scope)
