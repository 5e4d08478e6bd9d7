"""Finding the ranker that a specification such as ``package.module:name`` means."""

from __future__ import annotations

import importlib
import sys

from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion
from pytest_rankcheck.rankers.adapter_choice import is_ranker

__all__ = ["load_ranker"]


def load_ranker(specification: str) -> object:
    """Return the ranker that ``package.module:name`` names.

    ``name`` may be dotted, and may end with ``()``: then what it names is called once, without
    arguments, and its result is the ranker.

    Raises:
        ConfigurationError: the specification is malformed, the module is not there or has no such
            name, or what is there cannot be called.
        Exception: what the module raises while it is imported, or the factory when it is called.
    """
    __tracebackhide__ = True
    module_name, colon, path = specification.strip().partition(":")
    is_factory = path.endswith("()")
    path = path.removesuffix("()")
    parts = [*module_name.split("."), *path.split(".")]
    if not colon or not all(part.isidentifier() for part in parts):
        raise ConfigurationError(
            f"'{quoted(specification)}' does not name a ranker; write package.module:name, for "
            "example search.engine:rank (or search.engine:Engine() to have it made)"
        )
    found: object = _module(module_name)
    for part in path.split("."):
        if not hasattr(found, part):
            near = suggestion(part, [name for name in dir(found) if not name.startswith("_")])
            raise ConfigurationError(
                f"ranker '{quoted(specification)}': there is no '{part}' in {module_name}{near}"
            )
        found = getattr(found, part)
    return _callable(found, is_factory, specification)


def _module(name: str) -> object:
    __tracebackhide__ = True
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{name}.".startswith(f"{missing.name}."):
            raise  # the module is there, and imports another one that is not
        raise ConfigurationError(
            f"ranker module '{quoted(name)}' cannot be imported: no module named "
            f"'{missing.name}'. Is its folder on sys.path (here: {_searched()})? In a repository "
            'that is not installed, set pythonpath = ["."] under [tool.pytest.ini_options]'
        ) from None


def _callable(found: object, is_factory: bool, specification: str) -> object:
    __tracebackhide__ = True
    ranker = found() if is_factory and callable(found) else found
    if isinstance(ranker, type):
        raise ConfigurationError(
            f"ranker '{quoted(specification)}' is a class; write '{quoted(specification)}()' to "
            "have an instance made, or name a function"
        )
    if not is_ranker(ranker):
        raise ConfigurationError(
            f"ranker '{quoted(specification)}' is {type(ranker).__name__}, which cannot be called; "
            "name a function from a query's text to document ids, best first"
        )
    return ranker


def _searched() -> str:
    shown = [path or "." for path in sys.path if not path.endswith((".zip", "-packages"))]
    return ", ".join(quoted(path) for path in shown[:3])
