"""Writing files atomically, one process at a time, and JSON that people can review."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.packed_files import packed_as_named

_HIDDEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)

_SUFFIX = ".rankcheck-tmp"
_TEMPORARY = re.compile(rf"\..+-[a-z0-9_]{{8}}{re.escape(_SUFFIX)}", re.DOTALL)
"""The names that `write_whole` makes: `tempfile.mkstemp` puts eight characters into them."""


def check_encodable(text: str, error: type[RankcheckError]) -> None:
    """Check that text can be written as UTF-8.

    Raises:
        error: it cannot; the message names the character.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as failure:
        hidden = quoted(text[failure.start : failure.end])
        raise error(f"'{hidden}' cannot be written as UTF-8; save as jsonl") from None


def readable_json(value: object) -> str:
    """Return ``value`` as JSON that people can read and review.

    Letters of all languages are kept; characters that hide or reorder text or cannot be encoded
    (controls, bidirectional marks, lone surrogates) are escaped.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    text = _ENCODER.encode(value)
    if text.isprintable():  # quick to check
        return text
    return _HIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _python_scalar(value: object) -> object:
    """Convert numpy scalars (from a DataFrame) to Python's, and anything else to text."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_python_scalar)


def write_whole(path: Path, text: str | bytes) -> None:
    """Write ``text`` to ``path`` atomically: even a crash leaves the old file or the new one.

    The text (as UTF-8) is written to a temporary file in the same folder, synced to disk and moved
    into place. It is packed if the file name ends in ``.gz`` or ``.zst``.

    Raises:
        ModuleNotFoundError: the name ends in ``.zst``, and no Zstandard library is installed.
        OSError: the folder or the file cannot be written; an existing file is unchanged.
    """
    if isinstance(text, str):
        text = text.encode("utf-8")
    data = packed_as_named(path, text)
    import tempfile  # slow to import, and most test sessions write nothing

    handle, temporary = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name[:80]}-", suffix=_SUFFIX
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_permissions(path))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _permissions(path: Path) -> int:
    """Return the mode of the file being replaced, or the default mode of a new file."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


@contextmanager
def locked_folder(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a folder, so that only one process on this machine writes there.

    Temporary files of earlier processes are removed first, because none of them holds the lock.

    Args:
        folder: the folder.
        wait: whether to wait while another process holds the lock.

    Raises:
        OSError: the lock cannot be made.
        filelock.Timeout: another process holds it, and ``wait`` is false.
    """
    import tempfile  # slow to import, and most test sessions write nothing

    from filelock import FileLock

    # A lock file next to the files would be committed with them.
    digest = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogatepass")).hexdigest()
    locks = Path(tempfile.gettempdir()) / "pytest-rankcheck-locks"
    locks.mkdir(exist_ok=True)
    with suppress(OSError):  # it belongs to another user, who has done this
        locks.chmod(0o1777)
    with FileLock(locks / f"{digest[:24]}.lock", timeout=-1 if wait else 0, mode=0o666):
        # Left by a killed writer; files of others are not touched.
        for path in folder.glob(f".*{_SUFFIX}"):
            if _TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                with suppress(OSError):
                    path.unlink()
        yield
