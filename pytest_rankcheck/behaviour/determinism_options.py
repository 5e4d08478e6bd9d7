"""The user's options for a determinism check: the conditions, and how far each one goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, get_args

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion

__all__ = ["PROCESS_TIMEOUT", "VARIED", "Clock", "Condition", "DeterminismOptions", "Varied"]

Varied = Literal["batch", "order", "candidates", "threads", "fresh", "processes", "clock"]
"""What must not matter: the batch size, the order of the queries, the order of a reranker's
candidates, the number of threads, the instance, the process, and the time. They are checked in this
order, because each one also varies some of those before it."""

VARIED: tuple[Varied, ...] = get_args(Varied)

Condition = Literal["repeats", Varied]
"""Plain repeats, which are always compared first, or one of the varied conditions."""

Clock = Callable[[float], AbstractContextManager[object]]
"""Takes a number of seconds, and returns a context manager that shifts the time by it."""

PROCESS_TIMEOUT = 600.0
"""The default time limit of a new process, in seconds."""


@dataclass(frozen=True, slots=True)
class DeterminismOptions:
    """The ways in which a ranker is asked.

    Raises:
        ConfigurationError: a number is out of range, or a condition is unknown.
    """

    repeats: int = 3
    insensitive_to: Sequence[Varied] = VARIED
    threads: int = 4
    batch_sizes: Sequence[int] = ()
    """Batch sizes for a ranker of batches; if empty, 1 and half of the ranker's own size."""
    has_fresh: bool = False
    """Whether the user said how to make a new instance."""
    has_processes: bool = False
    """Whether the user asked for new processes."""
    clock: Clock | None = None
    process_timeout: float = PROCESS_TIMEOUT
    """The time limit of each new process, in seconds."""

    def __post_init__(self) -> None:
        check_whole_number("repeats", self.repeats, 2, ConfigurationError)
        check_whole_number("threads", self.threads, 2, ConfigurationError)
        for place, size in enumerate(self.batch_sizes):
            check_whole_number(f"batch_sizes[{place}]", size, 1, ConfigurationError)
        if not self.process_timeout > 0:
            raise ConfigurationError(
                f"process_timeout={quoted(self.process_timeout)} is invalid; give seconds, more "
                "than 0"
            )
        for condition in self.insensitive_to:
            if condition not in VARIED:
                raise ConfigurationError(
                    f"insensitive_to={quoted(condition)} is invalid"
                    f"{suggestion(str(condition), VARIED)}; give one or more of {', '.join(VARIED)}"
                )
        self._check_givens()

    def _check_givens(self) -> None:
        """Refuse arguments for conditions that are not checked."""
        if self.clock is not None and not callable(self.clock):
            raise ConfigurationError(
                f"clock={quoted(repr(self.clock), 60)} is invalid; give a function that takes "
                "seconds and returns a context manager that shifts the time by them"
            )
        # A new process uses what makes a new instance.
        users: Mapping[str, tuple[bool, Sequence[Varied]]] = {
            "fresh": (self.has_fresh, ("fresh", "processes")),
            "processes": (self.has_processes, ("processes",)),
            "clock": (self.clock is not None, ("clock",)),
        }
        for name, (is_given, conditions) in users.items():
            if is_given and not set(conditions) & set(self.insensitive_to):
                raise ConfigurationError(
                    f'{name}= has no effect, because insensitive_to leaves out "{name}"'
                )
