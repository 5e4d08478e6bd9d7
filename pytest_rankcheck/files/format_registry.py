"""The registry of file formats, and detection of a file's format from its content.

Readers are imported on first use, because golden sets and runs in memory need none.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from pytest_rankcheck.errors import RankcheckError, quoted, suggestion
from pytest_rankcheck.files.packed_files import failures_named, first_bytes

T = TypeVar("T")

_START_BYTES = 16
_OF_QUERIES = {"relevance", "ranking", "expect", "expected_text"}
"""Keys of objects that hold all documents of a query."""


class FileSample:
    """The parts of a file that reveal its format, each read only when a format asks for it."""

    def __init__(
        self, path: Path, error: type[RankcheckError], columns: Mapping[str, str] | None = None
    ) -> None:
        self.path = path
        self._error = error
        self.columns = columns or {}

    @cached_property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        with failures_named(self.path, self._error):  # its name may be too long
            return self.path.is_dir()

    @cached_property
    def start(self) -> bytes:
        """The first bytes of the file; empty for a folder."""
        if self.is_folder:
            return b""
        return first_bytes(self.path, _START_BYTES, self._error)

    @cached_property
    def numbered_line(self) -> tuple[int, str]:
        """The number and the text of the first line with content; (0, "") without one."""
        if self.is_folder:
            return 0, ""
        from pytest_rankcheck.files.text_files import first_line

        return first_line(self.path, self._error)

    @cached_property
    def is_json(self) -> bool:
        """Whether the file begins like JSON; then formats that look at lines are not tried."""
        from pytest_rankcheck.files.text_files import begins_json

        return begins_json(self.numbered_line[1])

    @property
    def line(self) -> str:
        """The first line with content; empty in JSON."""
        return "" if self.is_json else self.numbered_line[1]

    @cached_property
    def header(self) -> list[str]:
        """The first line read as a table header: the normalised column names.

        A column that ``columns`` maps to a meaning appears under that meaning.
        """
        from pytest_rankcheck.files.delimited_tables import header_of

        return self._meant(header_of(self.line))

    @property
    def has_rows(self) -> bool:
        """Whether a JSON file is a table: its first object has a document, and no list of them."""
        from pytest_rankcheck.files.delimited_tables import DOC_ID

        entry = self.first_object
        plain = {key for key, value in entry.items() if not isinstance(value, (dict, list))}
        return bool(DOC_ID.among(self._meant(plain))) and plain >= entry.keys() & _OF_QUERIES

    def _meant(self, names: Iterable[str]) -> list[str]:
        """Return column names, normalised; those of ``columns`` as their meanings."""
        from pytest_rankcheck.files.delimited_tables import normalised_name

        meanings = {normalised_name(name): meaning for meaning, name in self.columns.items()}
        return [meanings.get(name, name) for name in map(normalised_name, names)]

    @cached_property
    def first_object(self) -> dict[str, Any]:
        """The first object of a JSON file, also with the dotted names of ``columns`` as keys."""
        from pytest_rankcheck.files.json_files import objects_of, with_named

        with suppress(self._error):
            for _, entry in objects_of(self.path, self._error) if self.is_json else ():
                return with_named(entry, self.columns.values())
        return {}


@dataclass(frozen=True, slots=True)
class Format(Generic[T]):
    """A file format: how to recognise, read and write it."""

    name: str
    description: str
    recognises: Callable[[FileSample], bool]
    """Whether a file seems to have the format, judging by its beginning."""
    read: Callable[..., T]
    write: Callable[[Any, Path], None] | None = None
    endings: tuple[str, ...] = ()
    """File name endings that select this format for writing."""
    is_first: bool = False
    """Whether it is tried before others: binary formats are, and those of extensions."""
    cannot_hold: tuple[str, ...] = ()
    """What it loses of a golden set, such as ``"candidates"`` or ``"expectations"``."""
    is_vague: bool = False
    """Whether many other files look similar; vague formats are tried last."""


class Formats(Generic[T]):
    """The formats of one kind of file, collected from all modules of a package."""

    def __init__(self, package: ModuleType, kind: str, error: type[RankcheckError]) -> None:
        self._package = package
        self._kind = kind
        self._error = error
        self._formats: dict[str, Format[T]] = {}

    @property
    def by_name(self) -> Mapping[str, Format[T]]:
        """The formats by name; their modules are imported on first use."""
        if not self._formats:
            modules = pkgutil.iter_modules(self._package.__path__)
            for name in sorted(info.name for info in modules):
                module = importlib.import_module(f"{self._package.__name__}.{name}")
                for entry in getattr(module, "FORMATS", None) or (module.FORMAT,):
                    self._formats[entry.name] = entry
        return self._formats

    def add(self, entry: Format[T]) -> None:
        """Add a format of an extension; it is the first to be tried on a file."""
        self._formats = {entry.name: entry, **self.by_name}

    def named(self, name: str) -> Format[T]:
        """Return the format with this name.

        Raises:
            RankcheckError: no format has this name; the message suggests the nearest one.
        """
        if name not in self.by_name:
            names = f"; known formats: {', '.join(self.by_name)}"
            raise self._error(
                f"unknown format '{quoted(name)}' of {self._kind}"
                f"{suggestion(name, self.by_name) or names}"
            )
        return self.by_name[name]

    def to_write(self, name: str | None, ending: str, otherwise: str) -> Format[T]:
        """Return the format to write a file in: by name, else by its ending, else ``otherwise``.

        Raises:
            RankcheckError: the format is unknown, or read-only.
        """
        formats = self.by_name.values()
        by_ending = (entry.name for entry in formats if ending in entry.endings)
        chosen = self.named(name or next(by_ending, otherwise))
        if chosen.write is None:
            writable = ", ".join(entry.name for entry in formats if entry.write)
            raise self._error(
                f"{self._kind} cannot be written as '{chosen.name}'; formats that can be written: "
                f"{writable}"
            )
        return chosen

    def detected(self, path: Path, columns: Mapping[str, str] | None = None) -> Format[T]:
        """Return the format of a file, detected from its content.

        Args:
            path: the file.
            columns: ``{meaning: column}`` for table columns with unusual names.

        Raises:
            RankcheckError: the file is missing or empty, or its format is unknown.
        """
        formats = self.by_name.values()
        sample = FileSample(path, self._error, columns)
        for entry in sorted(formats, key=lambda entry: (not entry.is_first, entry.is_vague)):
            if entry.recognises(sample):
                return entry
        if sample.is_folder:
            raise self._error(f"{path} is a folder; name a file in it")
        number, line = sample.numbered_line
        if not number:
            raise self._error(f"{path} is empty; a file of {self._kind} needs at least one line")
        described = "\n".join(f"  {entry.name}: {entry.description}" for entry in formats)
        raise self._error(
            f"{path}:{number}: unknown format of {self._kind}: '{quoted(line, 60)}'\n"
            f"If it is one of these, load it with format=... (in pytest, in a fixture)\n{described}"
        )
