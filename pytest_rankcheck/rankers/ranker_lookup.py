"""The adapter of a ranker, given as an object or by a name such as ``module:name``."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from pytest_rankcheck.errors import ConfigurationError, RankerError, quoted, suggestion
from pytest_rankcheck.rankers.adapter_protocol import Adapter, OnAnswer, RankingTask
from pytest_rankcheck.rankers.callable_adapters import (
    function_adapter,
    name_of,
    retrieve_function,
    with_ids,
)

_LOADED: dict[int, tuple[object, str]] = {}
"""The configured rankers and their names, by ``id()``; kept alive so that no id is reused."""

ADDED_ADAPTERS: dict[str, tuple[Callable[[object], bool], Callable[[Any], object]]] = {}
"""The adapters of extensions by name: whether one fits a ranker, and what to ask instead of it."""


def adapter_of(ranker: object) -> Adapter:
    """Return the adapter for a ranker.

    Raises:
        RankerError: the object is not a ranker.
    """
    if isinstance(ranker, Adapter):
        return ranker
    for fits, adapt in ADDED_ADAPTERS.values():
        if fits(ranker):
            return adapter_of(adapt(ranker))
    retrieve = retrieve_function(ranker)
    if retrieve is not None:
        return function_adapter(with_ids(retrieve), name_of(ranker))
    if not callable(ranker):
        how = "give a function that takes a query's text and returns document ids, best first"
        if hasattr(ranker, "predict"):
            how = "make it one with rankers.model(...), which sorts candidates by its predictions"
        raise RankerError(f"the ranker is {type(ranker).__name__}, which cannot be called; {how}")
    return function_adapter(ranker)


def load_ranker(specification: str, replicate: int = 1) -> object:
    """Return the ranker that ``package.module:name`` names.

    ``name`` may be dotted. If it ends with ``()``, the named object is called once, and its result
    is the ranker. It gets the number of the replicate, from 1, if it has a parameter
    ``replicate``, and otherwise no arguments.

    Raises:
        ConfigurationError: the specification is malformed, the module is missing or lacks the
            name, or the named object cannot be called.
        Exception: raised by the module on import, or by the factory.
    """
    ranker = named_object(check_ranker_name(specification), "ranker")
    if specification.strip().endswith("()") and callable(ranker):
        ranker = ranker(replicate=replicate) if _takes_replicate(ranker) else ranker()
    if isinstance(ranker, type):
        raise ConfigurationError(
            f"ranker '{quoted(specification)}' is a class; write '{quoted(specification)}()' to "
            "create an instance, or name a function"
        )
    try:
        adapter_of(ranker)
    except RankerError as error:
        raise ConfigurationError(f"'{quoted(specification)}': {error}") from None
    return ranker


def _takes_replicate(factory: Callable[..., object]) -> bool:
    with suppress(ValueError, TypeError):  # what is written in C may have no signature
        return "replicate" in inspect.signature(factory).parameters
    return False


def check_ranker_name(specification: str) -> str:
    """Check that a text has the form of a ranker's name, and return it without ``()``.

    Raises:
        ConfigurationError: the text has another form.
    """
    name = specification.strip().removesuffix("()")
    if not is_name(name):
        raise ConfigurationError(
            f"'{quoted(specification)}' does not name a ranker; write package.module:name, for "
            "example search.engine:rank (or search.engine:Engine() to create an instance)"
        )
    return name


def remember_specification(ranker: object, specification: str) -> None:
    """Remember the name by which the configured ranker was loaded, for `specification_of`."""
    _LOADED[id(ranker)] = ranker, specification.strip()


def specification_of(ranker: object) -> str | None:
    """Return the name of a configured ranker, such as ``package.module:name``; otherwise None."""
    return _LOADED.get(id(ranker), (None, None))[1]


class MadeRankers:
    """The rankers of a configuration: each replicate has its own, which is made once.

    Args:
        specification: the name of what makes them; empty if they have none.
        make: makes one, from the specification and the number of its replicate.
    """

    def __init__(self, specification: str, make: Callable[[str, int], object]) -> None:
        self._specification, self._make = specification, make
        self._made: dict[int, object] = {}

    @property
    def name(self) -> str | None:
        """The name of the first ranker, for its runs; None if no test has needed it."""
        return adapter_of(self._made[1]).name if 1 in self._made else None

    def made(self, replicate: int) -> object:
        """Return the ranker of a replicate, from 1.

        Without ``()`` at the end of the name, all of them are the same object.
        """
        if replicate in self._made:
            return self._made[replicate]
        name = self._specification
        ranker = self._make(name, replicate)
        if name:  # assert_deterministic imports it by this name in a new process
            remember_specification(ranker, name)
        return self._made.setdefault(replicate, ranker)


def named_object(specification: str, what: str) -> object:
    """Return the object that ``package.module:name`` names.

    Args:
        specification: the module and the name, which may be dotted.
        what: what messages call the object, such as ``"ranker"``.

    Raises:
        ConfigurationError: the specification is malformed, or the module is missing or lacks the
            name.
        Exception: raised by the module on import.
    """
    if not is_name(specification):
        raise ConfigurationError(
            f"{what} '{quoted(specification)}' is invalid; write package.module:name"
        )
    module, _, path = specification.partition(":")
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{module}.".startswith(f"{missing.name}."):
            raise  # the module exists, but imports another one that is missing
        raise ConfigurationError(
            f"{what} module '{quoted(module)}' cannot be imported: no module named "
            f"'{missing.name}'. Is its folder on sys.path? In a repository that is not installed, "
            'set pythonpath = ["."] under [tool.pytest.ini_options]'
        ) from None
    try:
        return pkgutil.resolve_name(specification)
    except AttributeError as missing:
        name = missing.name or path  # a module's own __getattr__ may leave it out
        near = suggestion(name, [each for each in dir(missing.obj) if not each.startswith("_")])
        raise ConfigurationError(
            f"{what} '{quoted(specification)}': there is no '{name}' in {module}{near}"
        ) from None


def is_name(specification: str) -> bool:
    """Whether a text has the form ``package.module:name``."""
    module, colon, path = specification.partition(":")
    parts = f"{module}.{path}".split(".")
    return bool(colon) and all(part.isidentifier() for part in parts)


class NamedRanker(Adapter):
    """The ranker with the name ``package.module:name``, loaded when it is first asked.

    Only the name is pickled, so the model is loaded in the process that unpickles and asks it.
    """

    def __init__(self, specification: str, replicate: int = 1) -> None:
        """Check the form of the name; nothing is imported.

        Raises:
            ConfigurationError: the text does not name a ranker.
        """
        check_ranker_name(specification)
        self.name = specification
        self.replicate = replicate
        self.token = uuid.uuid4().hex
        """Identifies this ranker on workers, which make one ranker for each token."""

    @cached_property
    def loaded(self) -> object:
        """The ranker itself, loaded on first use.

        Raises:
            ConfigurationError: it cannot be found or called.
            Exception: raised by its module or factory.
        """
        return load_ranker(self.name, self.replicate)

    def adapter(self) -> Adapter:
        """Return the adapter of the ranker, which is loaded on first use."""
        return adapter_of(self.loaded)

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Ask the ranker in this process."""
        self.adapter().ask(task, on_answer)

    @property
    def takes_depth(self) -> bool:
        """Whether the ranker, which is loaded to find out, receives the requested depth."""
        return self.adapter().takes_depth

    def sees(self, attribute: str) -> bool:
        """Whether the ranker, which is loaded to find out, receives this attribute."""
        return self.adapter().sees(attribute)

    def with_size(self, size: int) -> Adapter | None:
        """Return the same ranker, loaded in this process, with batches of ``size`` queries."""
        return self.adapter().with_size(size)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the ranker in this process, for tests that call the fixture ``ranker`` directly."""
        ranker: Any = self.loaded
        return ranker(*arguments, **options)

    def __getstate__(self) -> Mapping[str, object]:
        return {"name": self.name, "replicate": self.replicate, "token": self.token}
