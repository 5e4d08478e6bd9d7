"""The path of a test's baseline: ``baselines/<test module>/<test>.json`` beside the test module."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

__all__ = ["FOLDER", "baseline_path", "safe_name"]

FOLDER = "baselines"

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_NAME = 150
"""Characters of a file name; file systems allow 255 bytes, a temporary file beside it too."""


def baseline_path(test_file: Path, nodeid: str) -> Path:
    """Return the baseline file of the test ``nodeid`` in ``test_file``.

    Tests with different ids have different files, even if the file system ignores case or does not
    allow the characters of a parameter: such names end with ``~`` and a digest.
    """
    name = nodeid.partition("::")[2] or nodeid
    return test_file.parent / FOLDER / test_file.stem / f"{_file_name(name)}.json"


def _file_name(name: str) -> str:
    """Return ``TestClass::test_name[parameter]`` as ``TestClass.test_name-parameter``."""
    function, bracket, rest = name.partition("[")
    parameter = rest.removesuffix("]")
    readable = function.replace("::", ".") + ("-" if bracket else "") + parameter
    return safe_name(readable, name, is_plain=parameter == parameter.lower())


def safe_name(readable: str, identity: str | None = None, *, is_plain: bool = True) -> str:
    """Return a name that every file system allows, and a different one for each identity.

    Args:
        readable: the name as people would write it; it is kept if possible.
        identity: what the name stands for, if that is more than ``readable``.
        is_plain: False if another identity could have the same name in another case.
    """
    safe = _UNSAFE.sub("_", readable)[:_LONGEST_NAME]
    if safe == readable and is_plain:
        return safe
    identity_bytes = (identity or readable).encode("utf-8", "surrogatepass")
    return f"{safe}~{hashlib.sha256(identity_bytes).hexdigest()[:10]}"
