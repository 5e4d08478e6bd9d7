"""Writing text files: whole or not at all, and JSON that a person can review."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.packed_files import packed_as_named

__all__ = ["check_encodable", "readable_json", "write_whole"]

_HIDDEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


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


def write_whole(path: Path, text: str | bytes) -> None:
    """Write ``text`` to ``path`` so that a reader, or a crash, finds the old file or the new one.

    The text (as UTF-8) goes to a temporary file in the same folder, to the disk, and then into
    place. It is packed if the name of the file ends as that of a packed one does (``.gz``).

    Raises:
        ModuleNotFoundError: it ends with ``.zst``, for which nothing is installed.
        OSError: the folder or the file cannot be written; what was there is unchanged.
    """
    data = packed_as_named(path, text.encode("utf-8") if isinstance(text, str) else text)
    import tempfile  # takes a few milliseconds, and most sessions write nothing

    handle, temporary = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name[:80]}-", suffix=".tmp"
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
    """Return the mode of the file that is replaced, or what a new file would have had."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
