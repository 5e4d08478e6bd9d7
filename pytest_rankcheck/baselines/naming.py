"""Where a test's baseline is: ``baselines/<test module>/<test>.json`` beside the test module."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

__all__ = ["FOLDER", "baseline_path"]

FOLDER = "baselines"

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_NAME = 150
"""Characters of a file name; file systems allow 255 bytes, a temporary file beside it too."""


def baseline_path(test_file: Path, nodeid: str) -> Path:
    """Return the baseline file of the test ``nodeid`` in ``test_file``.

    Tests with different ids have different files, also where the file system ignores case or
    does not take the characters of a parameter: such names end with ``~`` and a digest.
    """
    name = nodeid.partition("::")[2] or nodeid
    return test_file.parent / FOLDER / test_file.stem / f"{_file_name(name)}.json"


def _file_name(name: str) -> str:
    """Return ``TestClass::test_name[parameter]`` as ``TestClass.test_name-parameter``."""
    function, bracket, rest = name.partition("[")
    parameter = rest.removesuffix("]")
    readable = function.replace("::", ".") + ("-" if bracket else "") + parameter
    safe = _UNSAFE.sub("_", readable)[:_LONGEST_NAME]
    if safe == readable and parameter == parameter.lower():
        return safe
    return f"{safe}~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"
