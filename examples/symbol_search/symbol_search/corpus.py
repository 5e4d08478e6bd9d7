"""The corpus: modules, classes and functions of the standard library, with their docstrings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Literal

_NAMES = """
    abc argparse array ast base64 bisect bz2 cProfile calendar cmath codecs collections colorsys
    concurrent.futures configparser contextlib copy csv dataclasses datetime decimal difflib
    email.message enum fnmatch fractions functools getpass gettext glob graphlib gzip hashlib heapq
    hmac html http.client inspect io ipaddress itertools json linecache logging lzma math numbers
    operator os os.path pathlib pickle pprint queue random re sched secrets shlex shutil smtplib
    sqlite3 statistics string struct subprocess tarfile tempfile textwrap threading time timeit
    tomllib traceback types unicodedata unittest unittest.mock urllib.parse urllib.request uuid
    warnings weakref xml.etree.ElementTree zipfile zlib zoneinfo
"""

MODULES = tuple(_NAMES.split())
"""A fixed list, so that the corpus is the same for everybody; all are in Python 3.11 to 3.14."""

Kind = Literal["module", "class", "function"]


@dataclass(frozen=True)
class Symbol:
    """A symbol that can be found: its dotted name, kind, and first paragraph of documentation."""

    name: str
    kind: Kind
    summary: str

    @property
    def short_name(self) -> str:
        """The last part of the name: ``OrderedDict`` of ``collections.OrderedDict``."""
        return self.name.rpartition(".")[2] if self.kind != "module" else self.name


@cache
def symbols() -> tuple[Symbol, ...]:
    """Return all symbols of the corpus, each object once, in the order of `MODULES`."""
    by_object: dict[int, Symbol] = {}
    modules = {name: importlib.import_module(name) for name in MODULES}
    for name, module in modules.items():
        by_object.setdefault(id(module), Symbol(name, "module", _summary(module)))
        for member_name, member, kind in _public_members(module):
            symbol = Symbol(f"{name}.{member_name}", kind, _summary(member))
            by_object.setdefault(id(member), symbol)
    return tuple(by_object.values())


def _public_members(module: ModuleType) -> Iterator[tuple[str, object, Kind]]:
    """Yield the public classes and functions of a module, by name."""
    exported = getattr(module, "__all__", None)
    for name, member in inspect.getmembers(module):
        # Objects of a C accelerator such as _bisect have its name as their module.
        is_own = getattr(member, "__module__", None) in (module.__name__, f"_{module.__name__}")
        # Hooks such as threading.excepthook can be replaced, for example by pytest.
        if name.startswith("_") or name.endswith("hook"):
            continue
        if not (is_own if exported is None else name in exported):
            continue
        if inspect.isclass(member):
            yield name, member, "class"
        elif inspect.isroutine(member):
            yield name, member, "function"


def _summary(member: object) -> str:
    """Return the first paragraph of the docstring, without the signature that C functions have."""
    text = inspect.getdoc(member) or ""
    paragraphs = [part for part in text.split("\n\n") if part.strip()]
    if len(paragraphs) > 1 and ("->" in paragraphs[0] or paragraphs[0].rstrip().endswith(")")):
        paragraphs = paragraphs[1:]
    return " ".join(paragraphs[0].split()) if paragraphs else ""
