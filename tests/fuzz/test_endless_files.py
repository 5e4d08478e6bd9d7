"""Paths that never end: pipes and devices, and packed files that unpack to far too much."""

import gzip
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bounds import peak_memory
from samples import record

from pytest_rankcheck import GoldenSet, RankcheckError, Record, Run, SessionLog
from pytest_rankcheck.files import packed_files

READ: dict[str, Callable[[Path], Any]] = {
    "golden set": GoldenSet.load,
    "golden set as csv": lambda path: GoldenSet.load(path, "csv"),
    "run": Run.load,
    "run as parquet": lambda path: Run.load(path, "parquet"),
    "log": SessionLog.load,
    "baseline": Record.load,
}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_pipe_or_a_device_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        for read in READ.values():
            with pytest.raises(
                RankcheckError, match=rf"{re.escape(str(path))}.*: it is a pipe or a dev"
            ):
                read(path)


BOMBS = {
    "zeros": b"",
    "blank lines": b"\n",
    "a record": record().encode(),
    "a golden set": b'{"query_id": "q1", "relevance": {"d1": 1}}\n',
    "qrels": b"q1 0 d1 1\n",
}


def bomb(start: bytes, path: Path, size: int) -> Path:
    """Write a small packed file that unpacks to some bytes."""
    filler = start if start == b"\n" else b" " if start else b"\0"
    block = gzip.compress(filler * (1 << 20))
    path.write_bytes(gzip.compress(start) + block * (size >> 20))
    return path


def test_a_packed_file_that_unpacks_to_far_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of 8 KiB with 8 MiB in it, where one is allowed."""
    monkeypatch.setattr(packed_files, "max_unpacked", 1 << 20)
    for start in BOMBS.values():
        path = bomb(start, tmp_path / "bomb.gz", 8 << 20)
        for read in READ.values():
            with pytest.raises(RankcheckError):
                read(path)


def test_a_gigabyte_of_a_record_is_refused_in_little_memory(tmp_path: Path) -> None:
    path, before = bomb(record().encode(), tmp_path / "bomb.json", 1 << 30), peak_memory()
    with pytest.raises(
        RankcheckError, match=r"bomb.json: cannot be read: it unpacks to .* over 50 times"
    ):
        Record.load(path)
    assert peak_memory() - before < 1 << 29


def test_what_is_packed_well_is_still_read(tmp_path: Path) -> None:
    """Twelve megabytes of the same line, in a file a thousandth of that size."""
    path = tmp_path / "run.jsonl.gz"
    lines = b'{"query_id": "q1", "ranking": ["d1"]}\n' + b"# a comment\n" * 1_000_000
    path.write_bytes(gzip.compress(lines))
    assert len(lines) > 200 * path.stat().st_size
    assert list(Run.load(path).query_ids) == ["q1"]
