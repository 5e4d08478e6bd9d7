"""Paths that never end: pipes and devices, and packed files that unpack to far too much."""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bounds import peak_memory
from readers import command
from samples import golden_set, record

from pytest_rankcheck import GoldenSet, RankcheckError, Record, Run, SessionLog
from pytest_rankcheck.files import regular_files

READ: dict[str, Callable[[Path], Any]] = {
    "golden set": GoldenSet.load,
    "golden set as qrels": lambda path: GoldenSet.load(path, "trec"),
    "golden set as csv": lambda path: GoldenSet.load(path, "csv"),
    "golden set as parquet": lambda path: GoldenSet.load(path, "parquet"),
    "run": Run.load,
    "run as jsonl": lambda path: Run.load(path, "jsonl"),
    "run as trec": lambda path: Run.load(path, "trec"),
    "run as parquet": lambda path: Run.load(path, "parquet"),
    "log": SessionLog.load,
    "log as csv": lambda path: SessionLog.load(path, "csv"),
    "baseline": Record.load,
}
all_readers = pytest.mark.parametrize("read", READ.values(), ids=READ)

IRREGULAR = ["pipe", "/dev/zero", "/dev/urandom"]


def irregular(name: str, folder: Path) -> Path:
    if sys.platform == "win32":
        pytest.skip("Windows has no such files")
    path = Path(name)
    if name == "pipe":
        path = folder / "pipe"
        os.mkfifo(path)
    return path


@pytest.mark.parametrize("name", IRREGULAR)
@all_readers
def test_a_pipe_or_a_device_is_refused(
    read: Callable[[Path], Any], name: str, tmp_path: Path
) -> None:
    path = irregular(name, tmp_path)
    kind = "a pipe" if name == "pipe" else "a device"
    with pytest.raises(RankcheckError, match=rf"{re.escape(str(path))}.*: it is {kind}; save"):
        read(path)


@pytest.mark.parametrize("name", IRREGULAR)
def test_commands_refuse_pipes_and_devices(name: str, tmp_path: Path) -> None:
    path = irregular(name, tmp_path)
    golden_set().save(tmp_path / "web.jsonl")
    given = ("--golden", str(tmp_path / "web.jsonl"))
    assert command("show", str(path), *given) == 2
    assert command("compare", str(path), str(path), *given) == 2
    assert command("resolve", str(path), "--target", "ours") == 2
    assert command("unrun", str(path), "--root", str(tmp_path)) == 2


@all_readers
@pytest.mark.parametrize("name", ["q" * 5000, "a\0b", "\ud800"], ids=["long", "null", "surrogate"])
def test_a_path_that_cannot_be_is_refused(
    read: Callable[[Path], Any], name: str, tmp_path: Path
) -> None:
    with pytest.raises(RankcheckError):
        read(tmp_path / name)


@pytest.mark.parametrize("name", ["q" * 5000, "\ud800"], ids=["long", "surrogate"])
def test_commands_refuse_a_path_that_cannot_be(name: str) -> None:
    for arguments in (("show",), ("lint",), ("resolve", "--target", "ours"), ("unrun",)):
        assert command(*arguments, name) == 2
    assert command("compare", name, name, "--golden", name) == 2
    assert command("retire", name, "--reason", "why") == 2


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


@pytest.fixture(params=BOMBS)
def packed_bomb(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A file of 8 KiB with 8 MiB in it, where one is allowed."""
    monkeypatch.setattr(regular_files, "_ALWAYS", 1 << 20)
    return bomb(BOMBS[request.param], tmp_path / "bomb.gz", 8 << 20)


@all_readers
def test_a_packed_file_that_unpacks_to_far_too_much_is_refused(
    read: Callable[[Path], Any], packed_bomb: Path
) -> None:
    with pytest.raises(RankcheckError):
        read(packed_bomb)


def test_a_gigabyte_of_a_record_is_refused_in_little_memory(tmp_path: Path) -> None:
    path, before = bomb(record().encode(), tmp_path / "bomb.json", 1 << 30), peak_memory()
    with pytest.raises(RankcheckError, match=r"bomb.json: cannot be read: it unpacks to .* times"):
        Record.load(path)
    assert peak_memory() - before < 1 << 29


def test_what_is_packed_well_is_still_read(tmp_path: Path) -> None:
    """Twelve megabytes of the same line, in a file a thousandth of that size."""
    path = tmp_path / "run.jsonl.gz"
    lines = b'{"query_id": "q1", "ranking": ["d1"]}\n' + b"# a comment\n" * 1_000_000
    path.write_bytes(gzip.compress(lines))
    assert len(lines) > 200 * path.stat().st_size
    assert list(Run.load(path).query_ids) == ["q1"]
