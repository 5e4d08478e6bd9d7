"""Loading what a specification such as ``package.module:name`` names: a ranker or a function."""

from __future__ import annotations

import importlib
import sys

from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion
from pytest_rankcheck.rankers.adapter_choice import is_ranker

__all__ = [
    "check_ranker_name",
    "load_ranker",
    "named_object",
    "remember_specification",
    "specification_of",
]

_LOADED: dict[int, tuple[object, str]] = {}
"""The configured rankers and their names, by ``id()``; kept alive so that no id is reused."""


def load_ranker(specification: str) -> object:
    """Return the ranker that ``package.module:name`` names.

    ``name`` may be dotted. If it ends with ``()``, the named object is called once, without
    arguments, and its result is the ranker.

    Raises:
        ConfigurationError: the specification is malformed, the module is missing or lacks the
            name, or the named object cannot be called.
        Exception: raised by the module on import, or by the factory.
    """
    __tracebackhide__ = True
    name = check_ranker_name(specification)
    is_factory = specification.strip().endswith("()")
    return _callable(named_object(name, "ranker"), is_factory, specification)


def check_ranker_name(specification: str) -> str:
    """Check that a text has the form of a ranker's name, and return it without ``()``.

    Raises:
        ConfigurationError: the text has another form.
    """
    name = specification.strip().removesuffix("()")
    if not _is_name(name):
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
    __tracebackhide__ = True
    if not _is_name(specification):
        raise ConfigurationError(
            f"{what} '{quoted(specification)}' is invalid; write package.module:name"
        )
    module_name, _, path = specification.partition(":")
    target: object = _module(module_name, what)
    for part in path.split("."):
        if not hasattr(target, part):
            near = suggestion(part, [name for name in dir(target) if not name.startswith("_")])
            raise ConfigurationError(
                f"{what} '{quoted(specification)}': there is no '{part}' in {module_name}{near}"
            )
        target = getattr(target, part)
    return target


def _is_name(specification: str) -> bool:
    """Whether a text has the form ``package.module:name``."""
    module_name, colon, path = specification.partition(":")
    return bool(colon) and all(
        part.isidentifier() for part in (*module_name.split("."), *path.split("."))
    )


def _module(name: str, what: str) -> object:
    __tracebackhide__ = True
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{name}.".startswith(f"{missing.name}."):
            raise  # the module exists, but imports another one that is missing
        raise ConfigurationError(
            f"{what} module '{quoted(name)}' cannot be imported: no module named "
            f"'{missing.name}'. Is its folder on sys.path (here: {_searched()})? In a repository "
            'that is not installed, set pythonpath = ["."] under [tool.pytest.ini_options]'
        ) from None


def _callable(target: object, is_factory: bool, specification: str) -> object:
    __tracebackhide__ = True
    ranker = target() if is_factory and callable(target) else target
    if isinstance(ranker, type):
        raise ConfigurationError(
            f"ranker '{quoted(specification)}' is a class; write '{quoted(specification)}()' to "
            "create an instance, or name a function"
        )
    if not is_ranker(ranker):
        raise ConfigurationError(
            f"ranker '{quoted(specification)}' is {type(ranker).__name__}, which cannot be called; "
            "name a function that takes a query's text and returns document ids, best first"
        )
    return ranker


def _searched() -> str:
    shown = [path or "." for path in sys.path if not path.endswith((".zip", "-packages"))]
    return ", ".join(quoted(path) for path in shown[:3])
