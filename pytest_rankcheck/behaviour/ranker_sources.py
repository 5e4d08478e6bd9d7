"""How to make a new ranker: as a new instance here, or by its name in another process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.errors import ConfigurationError, RankcheckError, RankerError, quoted
from pytest_rankcheck.rankers.adapter_choice import adapter_of
from pytest_rankcheck.rankers.adapter_protocol import Adapter
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.rankers.importable_names import ImportableName, importable_name
from pytest_rankcheck.rankers.ranker_lookup import check_ranker_name, load_ranker, named_object

__all__ = ["Fresh", "RankerSources"]

Fresh = Callable[[], object] | str
"""A function or class that is called without arguments and returns a new ranker, or its name."""

PROCESSES = 2
"""The default number of new processes for a ranker that was given by name."""


@dataclass(slots=True)
class RankerSources:
    """How to make a new ranker, or why that is impossible."""

    ranker: object = None
    loaded: str | None = None
    """The name by which the ranker was loaded."""
    make: Callable[[], object] | None = None
    """Makes a new instance of the ranker in this process."""
    why_not_made: str = "give fresh="
    name: ImportableName | None = None
    """The name that a new process imports."""
    processes: int = 0
    why_no_process: str = "give processes="
    _ready: list[Adapter] = field(default_factory=list)

    @classmethod
    def of(
        cls, ranker: object, loaded: str | None, fresh: Fresh | None, processes: int | None
    ) -> RankerSources:
        """Return how to make a new ranker, from the user's arguments.

        Args:
            ranker: the ranker as it is asked.
            loaded: the name by which it was loaded; None if it was passed as an object.
            fresh: makes a new ranker; None if not given.
            processes: how many new processes to use; None: `PROCESSES` if the name of the ranker is
                known, otherwise 0.

        Raises:
            ConfigurationError: ``processes`` is out of range, a new process could not import the
                ranker, or ``fresh`` cannot be called.
        """
        if processes is not None:
            check_whole_number("processes", processes, 0, ConfigurationError)
        sources = cls(ranker, loaded)
        sources._set_make(fresh)
        sources._set_name(fresh, processes)
        return sources

    def _set_make(self, fresh: Fresh | None) -> None:
        loaded = self.loaded
        if fresh is None and loaded is not None and loaded.endswith("()"):
            fresh = loaded
        elif fresh is None and loaded is not None:
            self.why_not_made = (
                f"'{quoted(loaded)}' is not a factory, and this process imports it only once; give "
                "fresh="
            )
        if isinstance(fresh, str):
            self.make = partial(_made_by_name, _factory(fresh))
        elif fresh is not None and not callable(fresh):
            raise ConfigurationError(
                f"fresh={quoted(repr(fresh), 60)} is invalid; give a function or class that "
                "returns a new ranker when it is called without arguments, or its name, such as "
                '"package.module:make_ranker"'
            )
        else:
            if fresh is not None:
                _refuse_ranker(fresh)
            self.make = fresh

    def _set_name(self, fresh: Fresh | None, processes: int | None) -> None:
        is_known = isinstance(fresh, str) or self.loaded is not None
        self.processes = (PROCESSES if is_known else 0) if processes is None else int(processes)
        if self.processes == 0:
            if processes == 0:
                self.why_no_process = "processes=0"
            return
        if self.loaded is not None:
            self.name = ImportableName.of(self.loaded)
        elif isinstance(fresh, str):
            self.name = ImportableName.of(_factory(fresh))
        elif fresh is not None:
            found = importable_name(fresh)
            self.name = found and ImportableName(f"{found.specification}()", found.file)
        else:
            self.name = importable_name(self.ranker)
        if self.name is None:
            what = "the ranker" if fresh is None else "fresh"
            raise ConfigurationError(
                f"processes={self.processes}: a new process cannot import "
                f"{_unknown(what, self.ranker if fresh is None else fresh)}, or its name, such as "
                'fresh="package.module:make_ranker"'
            )

    def check_fresh(self, *, is_given: bool) -> str:
        """Make a first new instance; return why it cannot be compared, or an empty text.

        Args:
            is_given: whether the user gave ``fresh=``; then returning the old instance is an error.

        Raises:
            ConfigurationError: ``fresh`` returns the ranker that is being checked.
            RankerError: ``fresh`` fails, or returns something that is not a ranker.
        """
        __tracebackhide__ = True
        made = self._made()
        if not _is_same_ranker(made, self.ranker):
            self._ready.append(adapter_of(made))
            return ""
        if is_given:
            raise ConfigurationError(
                "fresh= returned the ranker that is being checked; it must make a new one at each "
                "call"
            )
        return f"'{quoted(self.loaded)}' returns the same ranker at each call; give fresh="

    def adapter(self) -> Adapter:
        """Return a new instance of the ranker, behind its adapter."""
        __tracebackhide__ = True
        return self._ready.pop() if self._ready else adapter_of(self._made())

    def _made(self) -> object:
        __tracebackhide__ = True
        assert self.make is not None
        try:
            return self.make()
        except RankcheckError:
            raise
        except Exception as error:
            raise RankerError(
                f"fresh= failed: {type(error).__name__}: {quoted(error, 300)}"
            ) from error


def _factory(name: str) -> str:
    return f"{name.strip().removesuffix('()')}()"


def _made_by_name(specification: str) -> object:
    __tracebackhide__ = True
    factory = named_object(check_ranker_name(specification), "ranker")
    if callable(factory):
        _refuse_ranker(factory)
    return load_ranker(specification)


def _refuse_ranker(fresh: Callable[..., object]) -> None:
    """Refuse a ranker that is given as what makes one.

    Raises:
        ConfigurationError: it cannot be called without arguments.
    """
    __tracebackhide__ = True
    if _wants_arguments(fresh):
        raise ConfigurationError(
            f"fresh= must return a ranker; '{quoted(name_of(fresh))}' looks like a ranker "
            "itself, because it needs arguments: give a function or class that is called "
            "without any and returns a new ranker"
        )


def _unknown(what: str, value: object) -> str:
    """Describe what a new process cannot import, and what to do."""
    if hasattr(value, "__qualname__") and not inspect.ismethod(value):
        return f"{what} '{quoted(name_of(value))}'; define it at the top level of a module, or give"
    return (
        f"{what}, an object that this process made; give fresh=, a function or class at the top "
        "level of a module that makes it"
    )


def _wants_arguments(fresh: Callable[..., object]) -> bool:
    """Whether a function or class cannot be called without arguments."""
    try:
        inspect.signature(fresh).bind()
    except TypeError:
        return True
    except ValueError:
        return False  # some C functions have no signature
    return False


def _is_same_ranker(one: object, other: object) -> bool:
    """Whether two rankers are one object, or the same method of one object."""
    is_method = hasattr(one, "__self__") and hasattr(other, "__self__")
    return one is other or (is_method and one == other)
