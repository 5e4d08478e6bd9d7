"""Public names that are stated once, in a stub (``__init__.pyi``), and loaded on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose stub states its names.

    The stub has lines such as ``from package.module import name as name``. It is read when the
    first name is used, so importing the package costs nothing. ``__all__`` is made from it.

    Args:
        package: the name of the package, its ``__name__``.
    """

    def load(name: str) -> object:
        if name == "__all__":
            value: object = sorted(_stated_names(package))
        elif name.startswith("__") or name not in _stated_names(package):
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        else:
            origin = _stated_names(package)[name]
            is_module = origin == package  # from package import module
            value = import_module(f"{origin}.{name}" if is_module else origin)
            value = value if is_module else getattr(value, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), "__all__", *_stated_names(package)})

    return load, names


@cache
def _stated_names(package: str) -> Mapping[str, str]:
    """Return the names that the stub of a package states, with the modules they come from."""
    import ast
    import pkgutil

    stub = pkgutil.get_data(package, "__init__.pyi")
    assert stub is not None, f"{package}/__init__.pyi is not installed"
    names: dict[str, str] = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ImportFrom):
            names.update((alias.name, node.module or package) for alias in node.names)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] = package
    return names
