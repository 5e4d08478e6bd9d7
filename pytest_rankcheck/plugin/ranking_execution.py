"""How a test session ranks: on an executor or in this process, with or without kept answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_rankcheck.baselines.world import World, declared_files
from pytest_rankcheck.plugin.configuration import CONFIG

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.execution.prepared_ranker import Execution
    from pytest_rankcheck.rankers.execution.undeclared_inputs import Inputs

__all__ = ["configured_execution", "fixture_watched", "ranker_watched"]

_READ: pytest.StashKey[list[Inputs]] = pytest.StashKey()
"""The inputs that rankers read while they were made, in this process."""


class _Fixture(NamedTuple):
    """A fixture that was set up."""

    needed: set[str]
    """The names of the fixtures that it needs."""
    read: list[Inputs]
    """The inputs that it read."""


_FIXTURES: pytest.StashKey[dict[str, _Fixture]] = pytest.StashKey()


class _CompleteRuns:
    """Deletes the kept answers of complete runs when the test session ends.

    So a session that is killed during its fifth golden set need not rank the first four again.
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
    """Record what a configured ranker reads while it is made, if answers are kept without a key."""
    with _watched(config) as found:
        yield
    config.stash.setdefault(_READ, []).extend(found)


@contextmanager
def fixture_watched(config: pytest.Config, name: str, needed: Collection[str]) -> Iterator[None]:
    """Record what a fixture reads while it is set up, if answers are kept without a key.

    The inputs of the fixture ``ranker`` include those of the fixtures that it needs.

    Args:
        config: the test session.
        name: the name of the fixture.
        needed: the names of the fixtures that it needs.
    """
    if name == "golden_set":  # the key has its fingerprint
        from pytest_rankcheck.rankers.execution.undeclared_inputs import unwatched

        with unwatched():
            yield
        return
    with _watched(config) as found:
        yield
    read = config.stash.setdefault(_FIXTURES, {})
    known = read.setdefault(name, _Fixture(set(), []))
    known.needed.update(needed)
    known.read.extend(found)
    if name == "ranker":
        config.stash.setdefault(_READ, []).extend(_read_below(name, read))


@contextmanager
def _watched(config: pytest.Config) -> Iterator[Sequence[Inputs]]:
    """Yield a list that receives the inputs when the block is left."""
    found: list[Inputs] = []
    chosen = config.stash[CONFIG]
    if chosen.resume is None or chosen.resume_key is not None:
        yield found
        return
    from pytest_rankcheck.rankers.execution.undeclared_inputs import watched_inputs

    with watched_inputs(active=True) as inputs:
        yield found
    found.append(inputs.taken())


def _read_below(name: str, fixtures: Mapping[str, _Fixture]) -> Iterator[Inputs]:
    """Yield the inputs of a fixture and of the fixtures that it needs."""
    names, rest = set[str](), [name]
    while rest:
        one = rest.pop()
        if one in names or one not in fixtures:
            continue
        names.add(one)
        yield from fixtures[one].read
        rest.extend(fixtures[one].needed)


def configured_execution(
    config: pytest.Config, origin: str | None, name: str, world: Callable[[], World]
) -> Execution | None:
    """Return how to ask a ranker; None: in this process, without keeping answers.

    Args:
        config: the test session.
        origin: a description of the ranker that is the same in every session.
        name: the name of the subfolder in the folder of ``--rankcheck-resume``.
        world: returns what ``rankcheck_world`` declares.

    Raises:
        ConfigurationError: something declared in ``rankcheck_world`` cannot be read.
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
