"""What a baseline says, read and written with plain Python.

Nothing here uses the code of the plugin that does it, except for the digest.
"""

import json
from pathlib import Path
from typing import Any

from pytest_rankcheck.baselines.record_file import digest_of

Entry = dict[str, Any]


def read_entry(path: Path) -> Entry:
    """Return what a baseline says."""
    entry: Entry = json.loads(path.read_text("utf-8"))
    return entry


def write_entry(path: Path, entry: Entry) -> None:
    """Write a baseline by hand; its digest agrees."""
    path.write_text(json.dumps(entry | {"digest": digest_of(entry)}), "utf-8")
