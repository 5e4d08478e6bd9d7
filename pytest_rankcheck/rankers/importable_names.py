"""Names by which another process can import an object: a ranker, a factory or a function."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from pytest_rankcheck.rankers.ranker_lookup import load_ranker, named_object

__all__ = ["ImportableName", "importable_name"]


@dataclass(frozen=True, slots=True)
class ImportableName:
    """A name in a module, and the file of the module.

    The file is needed for test modules and ``conftest.py``, because several files may have the same
    module name, or may not be on ``sys.path``.
    """

    specification: str
    """``package.module:name``; with ``()`` at the end, the return value of the named object."""
    file: str | None = None

    @classmethod
    def of(cls, specification: str) -> ImportableName:
        """Return the name, with the file of its module if this process has imported it."""
        module = sys.modules.get(specification.partition(":")[0].strip())
        return cls(specification, getattr(module, "__file__", None))

    def ranker(self) -> object:
        """Import the ranker.

        Raises:
            ConfigurationError: the name does not name a ranker.
            Exception: raised by the module on import, or by the factory.
        """
        self._provide_module()
        return load_ranker(self.specification)

    def value(self, what: str) -> object:
        """Import an object that is not a ranker, which messages call ``what``."""
        self._provide_module()
        return named_object(self.specification, what)

    def _provide_module(self) -> None:
        """Import the module from its own file, unless importing it by name finds the same file."""
        name = self.specification.partition(":")[0].strip()
        if self.file is None or name in sys.modules or _leads_to(name, self.file):
            return
        found = importlib.util.spec_from_file_location(name, self.file)
        if found is None or found.loader is None:
            return
        module = importlib.util.module_from_spec(found)
        sys.modules[name] = module
        found.loader.exec_module(module)


def importable_name(value: object) -> ImportableName | None:
    """Return the name of a function or class at the top level of a module; otherwise None.

    An object that is defined in a function, replaced by a decorator, or typed into a script cannot
    be imported by its name.
    """
    module_name = getattr(value, "__module__", None)
    path = getattr(value, "__qualname__", None)
    module = sys.modules.get(module_name) if isinstance(module_name, str) else None
    if not isinstance(module, ModuleType) or module_name == "__main__" or not path:
        return None
    found: object = module
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is not value:
        return None
    return ImportableName(f"{module_name}:{path}", getattr(module, "__file__", None))


def _leads_to(module_name: str, file: str) -> bool:
    """Whether a module is imported from this file."""
    try:
        found = importlib.util.find_spec(module_name)
    except (ImportError, ValueError):  # the folder of its package
        return False
    if found is None or found.origin is None:
        return False
    return Path(found.origin).resolve() == Path(file).resolve()
