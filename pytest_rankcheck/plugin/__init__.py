"""pytest's side: hooks, options, fixtures, and what a test session reports."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_PACKAGE = __name__.partition(".")[0]


class OrdinaryImports:
    """Finds our own modules ahead of pytest's assertion rewriting.

    pytest rewrites the asserts of all modules of a distribution with a pytest11 entry point: it
    parses and compiles about 200 modules a second time, though they contain no test asserts.
    Finders before pytest's, such as those of other tools, still come first.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the ordinary spec of a module of ours; None for any other."""
        if name.startswith(f"{_PACKAGE}."):
            return PathFinder.find_spec(name, path, target)
        return None

    @classmethod
    def install(cls) -> None:
        """Put our finder before pytest's, unless pytest rewrites nothing."""
        for place, finder in enumerate(sys.meta_path):
            if type(finder).__module__ == "_pytest.assertion.rewrite":
                sys.meta_path.insert(place, cls())
                return


OrdinaryImports.install()
