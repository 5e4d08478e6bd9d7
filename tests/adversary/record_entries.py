"""What a baseline says, read and written with plain Python: one file, or a header and its lines.

Nothing here uses the code of the plugin that does it, except for the digest of a header.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_rankcheck.baselines.record_contents import digest_of

Entry = dict[str, Any]

__all__ = ["Entry", "data_name", "entry_of", "read_entry", "write_entry"]


def read_entry(path: Path) -> Entry:
    """Return what a baseline says, with its lines under ``queries`` in both forms."""
    return entry_of(path.read_text("utf-8"), lambda name: (path.parent / name).read_bytes(), path)


def entry_of(text: str, data_of: Callable[[str], bytes], path: Path) -> Entry:
    """Return what a header says, with the lines of the data file that it names.

    Args:
        text: the header.
        data_of: returns the content of a data file of some name.
        path: the header's path, which the names of its data files begin with.
    """
    entry: Entry = json.loads(text)
    if "data" in entry:
        data = data_of(data_name(path, entry["data"]["sha256"]))
        assert hashlib.sha256(data).hexdigest() == entry["data"]["sha256"]
        entry["queries"] = [
            _line(line.split("\t"), entry["data"]["columns"])
            for line in data.decode("utf-8").splitlines()
        ]
    return entry


def data_name(path: Path, sha256: str) -> str:
    """Return the name of a data file."""
    return f"{path.stem}.{sha256[:16]}.tsv"


def write_entry(path: Path, entry: Entry) -> None:
    """Write a baseline by hand, in the form that it was read in; all digests agree."""
    entry = dict(entry)
    if "data" in entry:
        columns, lines = entry["data"]["columns"], entry.pop("queries")
        columns = [c for c in columns if c in entry["metrics"] or c in ("id", "fingerprint", "top")]
        data = "".join(_text(line, columns) for line in lines).encode("utf-8")
        sha256 = hashlib.sha256(data).hexdigest()
        entry["data"] = {"sha256": sha256, "lines": len(lines), "columns": columns}
        for old in path.parent.glob(f"{path.stem}.*.tsv"):
            old.unlink()
        (path.parent / data_name(path, sha256)).write_bytes(data)
    entry["digest"] = digest_of(entry)
    path.write_text(json.dumps(entry), "utf-8")


def _line(cells: list[str], columns: list[str]) -> Entry:
    query_id, fingerprint, *values = cells[: len(columns) - 1]
    return {
        "id": query_id,
        "fingerprint": fingerprint,
        "values": dict(zip(columns[2:-1], map(json.loads, values), strict=True)),
        "top": cells[len(columns) - 1 :],
    }


def _text(line: Entry, columns: list[str]) -> str:
    values = [json.dumps(line["values"][name]) for name in columns[2:-1]]
    return "\t".join([line["id"], line["fingerprint"], *values, *line["top"]]) + "\n"
