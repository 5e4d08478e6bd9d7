"""The inputs of a ranker while it is made and asked: files, services and other programs.

Answers that are kept for a later session must not outlive their inputs. Python reports the files
that it opens and the connections that it makes to audit hooks (PEP 578), so the inputs that a
ranker reads through Python can be compared with those that the key of kept answers covers. Files
that a C library opens by itself are not seen, and neither is anything in another thread or process.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote, urlparse

from pytest_rankcheck.errors import ConfigurationError, listed

__all__ = ["InputRule", "Inputs", "installed_folders", "unwatched", "watched_inputs"]

_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd")
"""Modules: they belong to packages with known versions, or to the project, which is in git."""
_SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/share/zoneinfo/", "/usr/lib/", "/lib/")
"""Folders of the operating system."""
_PROGRAMS = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.spawn", "os.startfile")
_EVENTS = ("open", "socket.connect", "sqlite3.connect", *_PROGRAMS)
_ABOUT_THE_MACHINE = frozenset(
    ("lscpu", "uname", "ldconfig", "gcc", "cc", "ld", "nproc", "sysctl", "nvidia-smi", "locale")
)
"""Programs that libraries run when they are imported or used first, such as joblib and ctypes."""
_LOCAL = threading.local()
"""The inputs that are being collected in this thread."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files read, the addresses connected to, and the programs started, each once."""

    files: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


class _Collected:
    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.services: dict[str, None] = {}
        self.programs: dict[str, None] = {}

    def add(self, other: _Collected) -> None:
        """Add what was read within."""
        self.files.update(other.files)
        self.services.update(other.services)
        self.programs.update(other.programs)

    def taken(self) -> Inputs:
        """Return the inputs since the last call, so that none is checked twice.

        Modules and files of the system and of packages are left out.
        """
        noted = (self.files, self.services, self.programs)
        files, services, programs = map(tuple, noted)
        for each in noted:
            each.clear()
        with unwatched():  # finding the folders of packages also opens files
            files = tuple(path for path in files if not _is_covered(path))
        return Inputs(files, services, programs)


@contextmanager
def watched_inputs(*, active: bool) -> Iterator[_Collected]:
    """Collect the inputs of this thread.

    Args:
        active: whether to collect. If so, a hook is installed for the life of the process.
    """
    collected = _Collected()
    if not active:
        yield collected
        return
    _install()
    before = getattr(_LOCAL, "collected", None)
    _LOCAL.collected = collected
    try:
        yield collected
    finally:
        _LOCAL.collected = before
        if before is not None:
            before.add(collected)


@contextmanager
def unwatched() -> Iterator[None]:
    """Pause collecting in this thread."""
    collected = getattr(_LOCAL, "collected", None)
    _LOCAL.collected = None
    try:
        yield
    finally:
        _LOCAL.collected = collected


@cache
def _install() -> None:
    sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[object, ...]) -> None:
    if event not in _EVENTS:
        return
    collected = getattr(_LOCAL, "collected", None)
    if collected is None:
        return
    if event == "open":
        _note_file(collected, arguments)
    elif event == "sqlite3.connect":
        _note_database(collected, arguments[0])
    elif event in _PROGRAMS:
        _note_program(collected, arguments)
    elif len(arguments) > 1 and isinstance(arguments[1], tuple):
        collected.services[":".join(map(str, arguments[1][:2]))] = None


def _note_file(collected: _Collected, arguments: tuple[object, ...]) -> None:
    path, mode = arguments[0], arguments[1] if len(arguments) > 1 else None
    flags = arguments[2] if len(arguments) > 2 else 0
    only_writes = isinstance(flags, int) and flags & os.O_ACCMODE == os.O_WRONLY
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if isinstance(path, (str, os.PathLike)) and not (only_writes or mode in ("w", "a", "x")):
        collected.files[os.path.abspath(path)] = None  # noqa: PTH100 - Path would be slow here


def _note_database(collected: _Collected, database: object) -> None:
    if isinstance(database, (str, bytes, os.PathLike)):
        path = os.fsdecode(database)
        if path.startswith("file:"):  # a URI of SQLite
            path = unquote(urlparse(path).path)
        collected.files[os.path.abspath(path)] = None  # noqa: PTH100 - as above


def _note_program(collected: _Collected, arguments: tuple[object, ...]) -> None:
    command = arguments[0]
    if command is None and len(arguments) > 1:  # subprocess gives the program apart
        command = arguments[1]
    if isinstance(command, (list, tuple)) and command:
        command = command[0]
    name = os.fsdecode(command) if isinstance(command, (str, bytes, os.PathLike)) else "a program"
    if os.path.basename(name) not in _ABOUT_THE_MACHINE:  # noqa: PTH119 - as above
        collected.programs[name] = None


@cache
def installed_folders() -> tuple[str, ...]:
    """Return the folders of Python and of installed packages."""
    folders = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values()}
    folders.update((*site.getsitepackages(), site.getusersitepackages()))
    return tuple(f"{os.path.realpath(folder)}{os.sep}" for folder in folders)


def _is_covered(path: str) -> bool:
    """Whether a file is a module, or belongs to an installed package or the system."""
    if path.endswith(_CODE) or path.startswith(_SYSTEM) or not os.path.isfile(path):  # noqa: PTH113
        return True
    return os.path.realpath(path).startswith(installed_folders())


@dataclass(frozen=True, slots=True)
class InputRule:
    """The inputs that a ranker may read if its answers are kept, because the key covers them."""

    tracked: frozenset[str] = frozenset()
    """The resolved paths of files that the commit and the changes of the work tree cover."""
    declared: frozenset[str] = frozenset()
    """The resolved paths of the files that ``rankcheck_world`` declares."""

    def check(self, inputs: Inputs) -> None:
        """Refuse inputs that the key does not cover.

        Raises:
            ConfigurationError: naming them.
        """
        if inputs.services:
            raise ConfigurationError(
                f"the ranker calls a service ({listed(inputs.services, 3)}), whose state is in no "
                f"commit; {_REMEDY}"
            )
        if inputs.programs:
            raise ConfigurationError(
                f"the ranker runs another program ({listed(inputs.programs, 3)}), whose state is "
                f"in no commit; {_REMEDY}"
            )
        others = [path for path in inputs.files if not self._covers(path)]
        if others:
            raise ConfigurationError(
                f"the ranker reads {listed(others, 3)}, which git does not track and "
                "rankcheck_world does not declare, so kept answers could outlive it; declare it, "
                f"or {_REMEDY}"
            )

    def _covers(self, path: str) -> bool:
        resolved = os.path.realpath(path)
        return resolved in self.tracked or resolved in self.declared


_REMEDY = (
    "give resume_key= (--rankcheck-resume-key), such as the build of the index or model, or do not "
    "resume"
)
