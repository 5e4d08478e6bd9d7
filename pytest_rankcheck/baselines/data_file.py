"""The data file of a large record: its name, its place, and what can have happened to it.

A large record is two files: a header to review, and a data file with a line per query, whose name
has the digest of its content. So the header names exactly one content, and a data file is never
changed: an update writes a new one, replaces the header, and then removes the old one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_rankcheck.errors import BaselineError, plural, quoted
from pytest_rankcheck.files.regular_files import opened_regular
from pytest_rankcheck.files.whole_files import write_whole

__all__ = [
    "COMPACT_FROM",
    "DataFiles",
    "DataSummary",
    "MissingDataError",
    "checked_sha256",
    "data_path",
    "leftover_data",
    "named_data",
    "remove_superseded",
    "sha256_of",
    "write_data",
]

COMPACT_FROM = 5_000
"""How many queries a record of two files has at least. One file of 5,000 queries has about 1 MB;
larger changes are not shown in the review of a pull request on GitHub."""

_IN_NAME = 16
"""How many digits of the digest are in the name of a data file."""
_ENDING = re.compile(rf"\.([0-9a-f]{{{_IN_NAME}}})\.tsv")
_SHA256 = re.compile("[0-9a-f]{64}")
_LFS_POINTER = b"version https://git-lfs.github.com/"
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
_BOM = b"\xef\xbb\xbf"
_CONFLICT = re.compile(rb"^(?:<{7,8}|>{7,8}) ", re.MULTILINE)

Search = Callable[[Path], Iterable[bytes]]
"""Yields what a data file has somewhere else, such as in commits."""


class MissingDataError(BaselineError):
    """The header of a record names a data file that is missing."""


@dataclass(frozen=True, slots=True)
class DataSummary:
    """What the header of a record says of its data file."""

    sha256: str
    lines: int
    columns: Sequence[str]


def sha256_of(data: bytes) -> str:
    """Return the digest of the content of a data file."""
    import hashlib  # loads OpenSSL, for those who have baselines

    return hashlib.sha256(data).hexdigest()


def checked_sha256(digest: object) -> str:
    """Return a digest that a header says.

    Raises:
        ValueError: it is not one.
    """
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise ValueError(f"the digest of its data file is {quoted(digest)}")
    return digest


def data_path(header: Path, sha256: str) -> Path:
    """Return the data file of a record, beside its header."""
    return header.with_name(f"{header.stem}.{sha256[:_IN_NAME]}.tsv")


@dataclass(frozen=True, slots=True)
class DataFiles:
    """Where the data file of a record may be: beside its header, or somewhere else.

    Its name says what it contains, so a file with the right content is the right one, wherever
    it was found.
    """

    header: Path
    elsewhere: Search | None = None
    """Where to look if the file beside the header is missing or has another content."""

    def text(self, summary: DataSummary, shown_path: str) -> str:
        """Return the text of a data file.

        Args:
            summary: what the header says of it.
            shown_path: the header as messages show it.

        Raises:
            MissingDataError: the file is missing.
            BaselineError: its content is another one; the message says what has happened to it.
        """
        path = data_path(self.header, summary.sha256)
        found = None
        for content in self._contents(path):
            text = _verified(content, summary.sha256)
            if text is not None:
                return text
            found = content if found is None else found
        if found is None:
            raise MissingDataError(
                f"{shown_path}: its data file {quoted(path.name, 300)} is missing, which has the "
                "lines of its queries. Commit both files together (git commit -a leaves new files "
                "out; git check-ignore -v shows whether git ignores it), or restore it"
            )
        raise _altered(found, path, summary, shown_path)

    def _contents(self, path: Path) -> Iterator[bytes]:
        """Yield what a data file has here and elsewhere."""
        here = _content(path)
        if here is not None:
            yield here
        if self.elsewhere is not None:
            yield from self.elsewhere(path)


def _content(path: Path) -> bytes | None:
    """Return the content of a file; None if it is missing."""
    if not path.is_file():
        if path.exists() and not path.is_file():  # else it was replaced at this moment
            raise BaselineError(f"{quoted(path, 300)}: this is not a file; restore it from git")
        return None
    try:
        with opened_regular(path) as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as failure:
        why = failure.strerror or failure
        raise BaselineError(f"{quoted(path, 300)}: cannot be read: {why}") from None


def _verified(data: bytes, sha256: str) -> str | None:
    """Return the text of a data file if it has this digest; git may have converted line ends."""
    if sha256_of(data) != sha256:
        data = data.replace(b"\r\n", b"\n")
        if sha256_of(data) != sha256:
            return None
    return data.decode("utf-8")


def _altered(data: bytes, path: Path, summary: DataSummary, shown_path: str) -> BaselineError:
    """Return the error for another content than the name says, with what has happened to it."""
    name = quoted(path.name, 300)
    restore = f"Restore it, such as with git checkout HEAD -- {quoted(path, 300)}"
    lines = data.count(b"\n")
    if data.startswith(_LFS_POINTER):
        why, restore = "it is a pointer of git-lfs", "Fetch the file with git lfs pull"
    elif _CONFLICT.search(data):
        why = "a merge has put it together from two branches"
        restore = f"Run python -m pytest_rankcheck resolve {shown_path}"
    elif data.startswith(_PACKED):
        why, restore = "it is packed", "Unpack it"
    elif data.startswith(_BOM):
        why = "an editor has put a byte order mark at its start"
    elif lines < summary.lines:
        why = f"it was cut short: {lines:,} of {plural(summary.lines, 'line')}"
    else:
        why = "it was edited by hand, or put together by a merge"
    return BaselineError(
        f"{shown_path}: its data file {name} has another content than its name says: {why}. "
        f"The file is left as it is. {restore}"
    )


# --- writing -------------------------------------------------------------------------------------


def write_data(header: Path, data: bytes) -> None:
    """Write the data file of a record; nothing if it is there. Hold the lock of its folder.

    Raises:
        OSError: the file cannot be written.
    """
    path = data_path(header, sha256_of(data))
    with suppress(OSError), opened_regular(path) as file:
        if _verified(file.read(), sha256_of(data)) is not None:
            return
    write_whole(path, data)


def remove_superseded(header: Path) -> None:
    """Remove the data files of a record that its header does not name. Hold the folder's lock.

    Nothing is removed if the header cannot be read.
    """
    for path in leftover_data(header):
        with suppress(OSError):  # somebody reads it, on Windows: the next update removes it
            path.unlink()


def leftover_data(header: Path) -> Sequence[Path]:
    """Return the data files of a record that its header does not name."""
    stem = header.stem
    found = [
        path
        for path in (header.parent.iterdir() if header.parent.is_dir() else ())
        if path.name.startswith(stem) and _ENDING.fullmatch(path.name[len(stem) :])
    ]
    try:
        named = named_data(header) if found else None
    except ValueError:
        return []
    return sorted(path for path in found if path != named)


def named_data(header: Path) -> Path | None:
    """Return the data file that a header names; None for a record in one file.

    Raises:
        ValueError: the header cannot be read.
    """
    try:
        with opened_regular(header) as file:
            data = json.loads(file.read()).get("data")
        return None if data is None else data_path(header, checked_sha256(data["sha256"]))
    except (OSError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(quoted(error)) from None
