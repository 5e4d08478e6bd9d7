"""The registry of file formats, and how the format of a file is told from its content."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from pytest_rankcheck.errors import RankcheckError, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import header_of, normalised
from pytest_rankcheck.files.packed_files import first_bytes
from pytest_rankcheck.files.text_files import lines_of, text_of

__all__ = ["Format", "Formats", "Sample"]

T = TypeVar("T")

_START_BYTES = 16


class Sample:
    """What tells the format of a file: looked at as far as a format asks for it."""

    def __init__(
        self, path: Path, error: type[RankcheckError], columns: Mapping[str, str] | None = None
    ) -> None:
        self.path = path
        self._error = error
        self._meanings = {normalised(name): meaning for meaning, name in (columns or {}).items()}

    @cached_property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @cached_property
    def start(self) -> bytes:
        """The first bytes of the file; none of a folder."""
        return b"" if self.is_folder else first_bytes(self.path, _START_BYTES, self._error)

    @cached_property
    def numbered_line(self) -> tuple[int, str]:
        """The first line that is neither blank nor a comment, with its number; (0, "") if none."""
        if self.is_folder:
            return 0, ""
        lines = lines_of(self.path, self._error)
        return next(((number, line) for number, line in lines if not line.startswith("#")), (0, ""))

    @property
    def line(self) -> str:
        """The first line that is neither blank nor a comment."""
        return self.numbered_line[1]

    @cached_property
    def header(self) -> list[str]:
        """The first line as the header of a table: the names of columns, normalised.

        Where it is told what a column means, its meaning stands for its name.
        """
        return [self._meanings.get(name, name) for name in header_of(self.line)]

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the object that the file is as a whole, or that its first line is."""
        return frozenset(self._object if isinstance(self._object, dict) else ())

    @cached_property
    def _object(self) -> object:
        """The JSON value of the first line, or of the whole file; None where neither is JSON."""
        if not self.line.lstrip().startswith(("{", "[")):
            return None
        with suppress(ValueError, RecursionError):
            return json.loads(self.line)
        with suppress(ValueError, RecursionError):
            return json.loads(text_of(self.path, self._error))
        return None


@dataclass(frozen=True, slots=True)
class Format(Generic[T]):
    """A file format: how to recognise, read and write it."""

    name: str
    description: str
    recognises: Callable[[Sample], bool]
    """Whether a file has the format, as far as a look at its beginning tells."""
    read: Callable[..., T]
    write: Callable[[T, Path], None] | None = None
    scan: Callable[..., Any] | None = None
    """Reads what an evaluation needs and no more, where the format can be read that way."""
    endings: tuple[str, ...] = ()
    """The endings of file names that are written in this format."""
    is_binary: bool = False
    """Whether it is no text: then it is asked first."""
    is_vague: bool = False
    """Whether much else looks like it too: then it is asked last."""


class Formats(Generic[T]):
    """The formats of one kind of file: every module of a package that has some."""

    def __init__(self, package: ModuleType, kind: str, error: type[RankcheckError]) -> None:
        self._package = package
        self._kind = kind
        self._error = error
        self._found: dict[str, Format[T]] = {}

    @property
    def by_name(self) -> Mapping[str, Format[T]]:
        """Return the formats by name, loading their modules the first time."""
        if not self._found:
            for module in sorted(
                found.name for found in pkgutil.iter_modules(self._package.__path__)
            ):
                loaded = importlib.import_module(f"{self._package.__name__}.{module}")
                for known in getattr(loaded, "FORMATS", None) or (loaded.FORMAT,):
                    self._found[known.name] = known
        return self._found

    def named(self, name: str) -> Format[T]:
        """Return the format with this name.

        Raises:
            RankcheckError: there is none; the nearest one is named.
        """
        if name not in self.by_name:
            known = f"; known formats: {', '.join(self.by_name)}"
            raise self._error(
                f"unknown format '{quoted(name)}' of {self._kind}"
                f"{suggestion(name, self.by_name) or known}"
            )
        return self.by_name[name]

    def to_write(self, name: str | None, ending: str, otherwise: str) -> Format[T]:
        """Return the format to write a file in: by name, else by its ending, else ``otherwise``.

        Raises:
            RankcheckError: there is no such format, or it is only read.
        """
        by_ending = (known.name for known in self.by_name.values() if ending in known.endings)
        chosen = self.named(name or next(by_ending, otherwise))
        if chosen.write is None:
            writable = ", ".join(known.name for known in self.by_name.values() if known.write)
            raise self._error(
                f"{self._kind} cannot be written as '{chosen.name}'; they can as {writable}"
            )
        return chosen

    def detected(self, path: Path, columns: Mapping[str, str] | None = None) -> Format[T]:
        """Return the format that the file's content has.

        Args:
            path: the file.
            columns: what columns of a table mean that have unusual names.

        Raises:
            RankcheckError: the file is absent, empty or in no known format.
        """
        formats = self.by_name.values()
        sample = Sample(path, self._error, columns)
        for known in sorted(formats, key=lambda known: (not known.is_binary, known.is_vague)):
            if known.recognises(sample):
                return known
        if sample.is_folder:
            raise self._error(f"{path} is a folder; name a file in it")
        number, line = sample.numbered_line
        if not number:
            raise self._error(f"{path} is empty; {self._kind} has at least one line")
        described = "\n".join(f"  {known.name}: {known.description}" for known in formats)
        raise self._error(
            f"{path}:{number}: this is in no known format of {self._kind}: '{quoted(line, 60)}'. "
            f"If it is one of these, name it with format=...\n{described}"
        )
