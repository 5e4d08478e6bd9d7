"""Text files: reading them with line numbers, writing them whole, and the registry of formats."""

from __future__ import annotations

import codecs
import importlib
import json
import os
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from pytest_rankcheck.errors import RankcheckError, quoted, suggestion

__all__ = [
    "Format",
    "Formats",
    "check_encodable",
    "columns_of",
    "failures_named",
    "line_of",
    "lines_of",
    "readable_json",
    "text_of",
    "write_whole",
]

T = TypeVar("T")

_ASCII_SPACE = " \t\n\r\f\v"
_SPACES = re.compile(f"[{_ASCII_SPACE}]+")
_HIDDEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def lines_of(path: Path, error: type[RankcheckError]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 text file with their 1-based numbers, blank lines left out.

    Only the line feed ends a line (a form feed or U+2028 may be part of an id). A byte order
    mark and carriage returns at line ends are dropped.

    Raises:
        error: the file is absent, a folder, unreadable or not UTF-8; the line is named.
    """
    number = 0
    with failures_named(path, error), path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
            if line.strip():
                yield number, _decoded(line, f"{path}:{number}", error).rstrip("\r\n")


def text_of(path: Path, error: type[RankcheckError]) -> str:
    """Return a whole UTF-8 text file, without a byte order mark.

    Raises:
        error: as in `lines_of`.
    """
    with failures_named(path, error):
        return _decoded(path.read_bytes().removeprefix(codecs.BOM_UTF8), str(path), error)


def columns_of(line: str) -> list[str]:
    """Split a line at ASCII white space, as C does: a no-break space may be part of an id."""
    return _SPACES.split(line.strip(_ASCII_SPACE))


def line_of(columns: Sequence[str], error: type[RankcheckError]) -> str:
    """Return a line of a TREC file, which `columns_of` reads back.

    Raises:
        error: a column has ASCII white space, the line would read as a comment, or a character
            (a lone surrogate) cannot be written as UTF-8.
    """
    line = f"{' '.join(columns)}\n"
    if columns_of(line) != list(columns) or line.startswith("#"):
        named = next((word for word in columns if columns_of(word) != [word]), columns[0])
        raise error(
            f"'{quoted(named)}' cannot be an id in TREC files (white space, or # at the start); "
            "save as jsonl"
        )
    check_encodable(line, error)
    return line


def check_encodable(text: str, error: type[RankcheckError]) -> None:
    """Refuse text that cannot be a UTF-8 file.

    Raises:
        error: naming the character.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as failure:
        hidden = quoted(text[failure.start : failure.end])
        raise error(f"'{hidden}' cannot be written as UTF-8; save as jsonl") from None


def readable_json(value: object) -> str:
    """Return ``value`` as JSON that a person can read and review.

    Letters of all languages stand as they are; what hides, reorders or cannot be encoded
    (controls, bidirectional marks, lone surrogates) is escaped.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_python_scalar)
    return _HIDDEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _python_scalar(value: object) -> object:
    """Give numpy's scalars (from a DataFrame) back as Python's, and anything else as text."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


def _decoded(raw: bytes, where: str, error: type[RankcheckError]) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as failure:
        raise error(
            f"{where}: byte {failure.start + 1} is not UTF-8; save the file as UTF-8"
        ) from None


@contextmanager
def failures_named(path: Path, error: type[RankcheckError]) -> Iterator[None]:
    """Raise ``error``, which names the file, where it cannot be opened or read."""
    try:
        yield
    except FileNotFoundError:
        raise error(f"{path}: no such file") from None
    except IsADirectoryError:
        raise error(f"{path} is a folder; name a file in it") from None
    except OSError as failure:
        raise error(f"{path}: cannot be read: {failure.strerror or failure}") from None


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` so that a reader, or a crash, finds the old file or the new one.

    The text goes to a temporary file in the same folder, to the disk, and then into place.

    Raises:
        OSError: the folder or the file cannot be written; what was there is unchanged.
    """
    import tempfile  # takes a few milliseconds, and most sessions write nothing

    handle, temporary = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name[:80]}-", suffix=".tmp"
    )
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_permissions(path))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _permissions(path: Path) -> int:
    """Return the mode of the file that is replaced, or what a new file would have had."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def _first_bytes(path: Path, count: int, error: type[RankcheckError]) -> bytes:
    with failures_named(path, error), path.open("rb") as file:
        return file.read(count)


@dataclass(frozen=True, slots=True)
class Format(Generic[T]):
    """A file format: how to recognise, read and write it."""

    name: str
    description: str
    recognises: Callable[[str], bool]
    """Whether a file whose first line that is no comment is this one has the format."""
    read: Callable[[Path], T]
    write: Callable[[T, Path], None] | None = None
    scan: Callable[..., Any] | None = None
    """Reads what an evaluation needs and no more, where the format can be read that way."""
    magic: bytes | None = None
    """The first bytes of every file of a binary format."""


class Formats(Generic[T]):
    """The formats of one kind of file: every module of a package that has a ``FORMAT``."""

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
                self._found[loaded.FORMAT.name] = loaded.FORMAT
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

    def detected(self, path: Path) -> Format[T]:
        """Return the format that the file's content has.

        Raises:
            RankcheckError: the file is absent, empty or in no known format.
        """
        formats = self.by_name.values()
        for known in formats:
            if known.magic and _first_bytes(path, len(known.magic), self._error) == known.magic:
                return known
        for number, line in lines_of(path, self._error):
            if line.startswith("#"):
                continue
            for known in formats:
                if known.recognises(line):
                    return known
            described = "; ".join(f"{known.name}: {known.description}" for known in formats)
            raise self._error(
                f"{path}:{number}: this is in no known format of {self._kind}: "
                f"'{quoted(line, 60)}'. Known are {described}. "
                "Name one with format=... if the file is one of them"
            )
        raise self._error(f"{path} is empty; {self._kind} has at least one line")
